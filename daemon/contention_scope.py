"""Choice of the contention detection: between the jobs of one aggregator, or of a cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .contention import ContentionWatch

if TYPE_CHECKING:
    from .aggregator import Aggregator
    from .cluster.partitions import Partition
    from .journal.jetstream.stream_journal import StreamJournal
    from .settings import AggregatorSettings


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
