"""The state of an aggregator as one document for its operator."""

from __future__ import annotations

import os
import shutil
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, Protocol

from ... import __version__
from ...analyzers.registry import ANALYZERS
from ...events.counted_text import counted
from ...events.losses import REASONS
from ...results.status import AggregatorStatus, ArchivesStatus, Disk, JournalStatus, ReachedBound, Trouble
from ..aggregator import Aggregator
from ..archiving.archive_settings import ArchiveSettings
from ..bounds import BOUNDS, value_of
from ..ingest.ingest_settings import IngestStats
from ..journal.durability import Durability
from ..journal.settings import JournalSettings
from ..loop_timing import LoopWatch, memory_bytes

_NOT_ARCHIVED: Final = "events_not_archived:"
_UNWRITTEN: Final = "journal_unwritten:"
_LATE_S: Final = 5.0
"""Delay of predictions that is a trouble, s: as in the alert IotidePredictionsLate."""


class ReportedSettings(Protocol):
    """Settings in the document. Those of bounds are read by the names of their options."""

    @property
    def state(self) -> Path | None:
        """Folder of the state."""
        ...

    @property
    def journal(self) -> JournalSettings:
        """Settings of the journal."""
        ...

    @property
    def archive(self) -> ArchiveSettings:
        """Settings of the archives."""
        ...


class StatusReport:
    """Creates the document from the current state of the aggregator.

    Args:
        aggregator: jobs and counters.
        stats: counts of received messages.
        settings: returns the settings in force.
        not_ready: returns the reason why no predictions are made, or "".
        durability: returns the journal's state; None without one.
        loop_watch: delays of the event loop.
    """

    def __init__(
        self,
        aggregator: Aggregator,
        stats: IngestStats,
        settings: Callable[[], ReportedSettings],
        not_ready: Callable[[], str],
        durability: Callable[[], Durability | None],
        loop_watch: LoopWatch,
    ) -> None:
        self._aggregator, self._stats, self._settings = aggregator, stats, settings
        self._not_ready, self._durability, self._loop_watch = not_ready, durability, loop_watch
        self._started_s = time.monotonic()

    def build(self) -> AggregatorStatus:
        """Return the state of now."""
        counters, stats, settings = self._aggregator.counters, self._stats, self._settings()
        jobs = self._aggregator.jobs
        states = Counter(session.state.value for session in jobs.awake)
        states.update(card.state for card in jobs.asleep.values())
        not_ready = self._not_ready()
        troubles = list(self._find_problems(not_ready))
        return AggregatorStatus(
            iotide=__version__,
            host=socket.gethostname(),
            pid=os.getpid(),
            made_at_s=self._aggregator.clock(),
            uptime_s=time.monotonic() - self._started_s,
            ready=not not_ready,
            not_ready=not_ready,
            healthy=not troubles,
            troubles=troubles,
            behind_s=self._aggregator.pressure.behind_s,
            loop_held_s=self._loop_watch.longest_s,
            memory_bytes=memory_bytes(),
            jobs=dict(states),
            streams=stats.streams,
            streams_silent=stats.streams_silent,
            collectors=stats.collectors,
            collectors_lost=counters["collectors_lost"],
            events=stats.events,
            refused_messages=stats.malformed,
            state=None if settings.state is None else _disk(settings.state),
            journal=self._journal(settings),
            archives=self._archives(settings),
            losses=self._losses(),
            bounds=self._bounds(settings),
        )

    def _find_problems(self, not_ready: str) -> Iterator[Trouble]:
        counters, durability = self._aggregator.counters, self._durability()
        if not_ready:
            yield Trouble(part="predictions", problem=not_ready, remedy="see the log")
        elif (behind_s := self._aggregator.pressure.behind_s) > _LATE_S:
            remedy = "give the aggregator more CPU time, or raise prediction_interval_s"
            yield Trouble(part="predictions", problem=f"predictions are {behind_s:.0f} s late", remedy=remedy)
        if durability is not None and durability.problem:
            yield Trouble(
                part="journal",
                problem=f"nothing is acknowledged: {durability.problem}",
                since_s=durability.problem_since_s,
                remedy="free or repair the disk of state, or raise journal.quota_bytes",
            )
        if durability is not None and durability.journal.delay:
            yield Trouble(
                part="journal",
                problem=f"nothing is acknowledged: the NATS servers store no messages: {durability.journal.delay}",
                remedy="see the log of the NATS servers; if their store is full, raise max_file_store and reload them",
            )
        if durability is not None and durability.snapshot_problem:
            yield Trouble(
                part="snapshots",
                problem=durability.snapshot_problem,
                since_s=durability.snapshot_problem_since_s,
                remedy="free or repair the disk of state",
            )
        if waiting := counters["archives_waiting"]:
            problem = f"{counted(waiting, 'archives')} cannot be written, with the calls in memory"
            yield Trouble(part="archives", problem=problem, remedy="free or repair the disk of archive.folder")
        if counters["alerts_unwritten"]:
            problem = "the alerts cannot be written"
            yield Trouble(part="alerts", problem=problem, remedy="free or repair the disk of state")

    def _journal(self, settings: ReportedSettings) -> JournalStatus | None:
        if settings.state is None:
            return None
        counters, durability = self._aggregator.counters, self._durability()
        return JournalStatus(
            on=durability is not None,
            servers=list(settings.journal.servers),
            bytes=counters["journal_bytes"],
            quota_bytes=settings.journal.quota_bytes,
            waiting_bytes=counters["journal_waiting_bytes"],
            failing=durability is not None and bool(durability.problem or durability.journal.delay),
            deferred_answers=counters["answers_deferred"],
            unwritten=_by_reason(counters, _UNWRITTEN),
            failures=counters["journal_failures"],
            damaged_records=counters["journal_damaged"],
            snapshots=counters["snapshots"],
            snapshots_failed=counters["snapshots_failed"],
        )

    def _archives(self, settings: ReportedSettings) -> ArchivesStatus | None:
        if settings.archive.folder is None:
            return None
        counters = self._aggregator.counters
        return ArchivesStatus(
            disk=_disk(settings.archive.folder),
            quota_bytes=settings.archive.quota_bytes,
            written_bytes=counters["archive_bytes"],
            waiting=counters["archives_waiting"],
            failed=counters["archives_failed"],
            removed=counters["archives_removed"],
            not_archived=_by_reason(counters, _NOT_ARCHIVED),
        )

    def _losses(self) -> dict[str, int]:
        """Sum the known reasons only. Collectors name others, and a broken one must not fill the document."""
        counts = self._aggregator.collector_counters() + self._aggregator.counters
        return {reason: counts[reason] for reason in REASONS if counts[reason] > 0}

    def _bounds(self, settings: ReportedSettings) -> list[ReachedBound]:
        sums = self._aggregator.sums()
        counts = Counter(self._aggregator.counters)
        counts.update({f"names_beyond:{kind}": count for kind, count in sums.names_beyond().items()})
        for part in ANALYZERS:
            counts.update({f"{part}:{reason}": count for reason, count in sums.dropped(part).items()})
        return [
            ReachedBound(
                option=option,
                value=float(value_of(settings, option)),
                count=counts[bound.counter],
                beyond=bound.excess.replace("`", ""),
                metric=bound.family,
            )
            for option, bound in BOUNDS.items()
            if bound.counter and counts[bound.counter] > 0
        ]


def _by_reason(counters: Counter[str], prefix: str) -> dict[str, int]:
    found = {name.removeprefix(prefix): count for name, count in counters.items() if name.startswith(prefix)}
    return {reason: count for reason, count in sorted(found.items()) if count > 0}


def _disk(folder: Path) -> Disk:
    try:
        free: int | None = shutil.disk_usage(folder).free
    except OSError:
        free = None
    return Disk(folder=str(folder), free_bytes=free)
