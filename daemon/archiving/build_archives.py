"""The archives of an aggregator's jobs, as its settings have them."""

from __future__ import annotations

from collections.abc import Callable

from ..aggregator import Aggregator
from ..jobs.job_ids import clean_job
from .archive_settings import ArchiveSettings
from .archives import Archives


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
