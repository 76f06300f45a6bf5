"""Parts of the server that its settings select: archives, and the contention of one aggregator or a cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .aggregator import Aggregator
from .archiving.archive_settings import ArchiveSettings
from .archiving.archives import Archives
from .contention import ContentionWatch
from .jobs.job_ids import clean_job

if TYPE_CHECKING:
    from .cluster.partitions import Partition
    from .journal.jetstream.stream_journal import StreamJournal
    from .settings import AggregatorSettings


def build_archives(aggregator: Aggregator, settings: ArchiveSettings, clock: Callable[[], float]) -> Archives | None:
    """Return the archives of an aggregator's jobs; None if archives are off."""
    if settings.folder is None:
        return None
    archives = Archives(
        aggregator,
        settings,
        lambda info: clean_job(info.job),
        aggregator.counters,
        clock=clock,
        on_missing=aggregator.not_archived,
        on_stored=aggregator.archived,
        has_job=lambda job: job in aggregator.jobs,  # a dict that is another one after a restart
    )
    aggregator.on_job(lambda job: archives.end_job(job.job) if job.state == "ended" else None, "archive")
    return archives


def contention_watch(
    aggregator: Aggregator,
    settings: AggregatorSettings,
    partition: Partition | None,
    journal: Callable[[], StreamJournal | None],
) -> ContentionWatch:
    """Create the detection of contention between the jobs of an aggregator, or of a cluster.

    Args:
        aggregator: aggregator of the jobs.
        settings: settings of the aggregator.
        partition: partition that this process serves; None outside a cluster.
        journal: returns the partition's journal; None until the process has opened it.
    """
    if partition is None:
        return ContentionWatch(aggregator, settings.contention)
    from .cluster.contention.watch import ClusterContention  # needs the packages of a cluster

    return ClusterContention(aggregator, settings, partition, journal)
