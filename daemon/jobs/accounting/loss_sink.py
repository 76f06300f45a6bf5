"""The part of the aggregator that accounts for what is lost, missing or refused, by job and in total."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from ....events import EventBatch, StreamInfo
from ..job_ids import clean_job
from ..job_table import JobTable
from ..losses.early_losses import EarlyLosses
from ..session import JobSession
from .dropped import CurrentSums, Dropped, JobSums

_MAX_SILENT: Final = 100_000


class CollectorCounts:
    """Counters of all collectors so far, by name; a collector that returns continues its counts."""

    def __init__(self) -> None:
        self._known: dict[str, Mapping[str, int]] = {}
        self._past: Counter[str] = Counter()
        self._silent: OrderedDict[str, Mapping[str, int]] = OrderedDict()  # their counts are in _past

    def update(self, collector: str, counters: Mapping[str, int]) -> None:
        """Update the cumulative counters of a collector."""
        if (before := self._silent.pop(collector, None)) is not None:
            self._past.subtract(before)
        self._known[collector] = counters

    def mark_silent(self, collector: str) -> bool:
        """Mark a collector as silent; return whether it was known."""
        if (gone := self._known.pop(collector, None)) is None:
            return False
        self._past.update(gone)
        self._silent[collector] = gone
        while len(self._silent) > _MAX_SILENT:
            self._silent.popitem(last=False)
        return True

    def total(self) -> Counter[str]:
        """Return the sums."""
        total = Counter(self._past)
        for counters in self._known.values():
            total.update(counters)
        return total


class LossSink:
    """Passes losses and counters from the ingest to the jobs that they belong to.

    Losses of a job without a session wait in ``early_losses`` until it has one.

    Attributes:
        jobs: the sessions by job id.
        clock: time of day.
        counters: event counts by name.
        early_losses: data on jobs without a session.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.jobs = JobTable()
        self.clock = clock
        self.counters: Counter[str] = Counter()
        self.early_losses = EarlyLosses()
        self._job_of: dict[str, str] = {}
        self._dropped, self._current_sums = Dropped(), CurrentSums()
        self._collectors = CollectorCounts()

    def events_taken(self, stream: str, events: int, *, ended: bool) -> None:
        """Update the number of events that a collector has got for an open stream."""
        if job := self._job_of.get(stream):
            self.jobs[job].ledger.set_taken(stream, events, ended=ended)

    def archived(self, job: str, events: int) -> None:
        """Add to the number of a job's archived events."""
        if (session := self.jobs.get(job)) is not None:
            session.ledger.archived += events

    def not_archived(self, job: str, reason: str, events: int) -> None:
        """Count events of a job that are missing in its archive."""
        if (session := self.jobs.get(job)) is not None:
            session.losses.add({f"events_not_archived:{reason}": events})

    def stream_losses(self, stream: str, losses: Mapping[str, int]) -> None:
        """Update the losses of an open stream so far."""
        if (job := self._job_of.get(stream)) is not None:
            self.jobs[job].update_stream_losses(stream, losses, self.clock())

    def silence_changed(self, stream: str, is_silent: bool) -> None:
        """Update whether an open stream's collector is silent."""
        if (job := self._job_of.get(stream)) is not None and stream in (session := self.jobs[job]).streams:
            session.losses.set_silent(stream, is_silent)

    def job_losses(self, collector: str, job: str, losses: Mapping[str, int]) -> None:
        """Update a collector's losses of a job that no stream reports. Cumulative, repeated by each heartbeat."""
        name = clean_job(job)
        if (session := self.jobs.get(name)) is not None:
            session.add_losses(session.losses.update_collector(collector, losses), self.clock())
        else:
            self.early_losses.update_losses(collector, name, losses)

    def move_losses_to(self, session: JobSession) -> None:
        """Move losses of a job before its session to a new session."""
        lost, since_ns = self.early_losses.pop_losses(session.job)
        for collector, losses in lost.items():
            grown = session.losses.update_collector(collector, losses)
            if since_ns is not None:
                session.add_losses(grown, self.clock(), since_ns)
        for host in self.early_losses.pop_hosts(session.job):
            session.nodes.add_node(host)

    def stream_refused(self, info: StreamInfo, reason: str) -> None:
        """Count a refused stream, also in its job if there is one."""
        self.counters[f"streams_refused:{reason}"] += 1
        if (session := self.jobs.get(clean_job(info.job))) is not None:
            session.losses.add({f"streams_refused:{reason}": 1})

    def heartbeat(self, collector: str, host: str, counters: Mapping[str, int], job: str = "") -> None:
        """Update a collector's counters, and note its job and node."""
        self._collectors.update(collector, counters)
        # a sleeping job has noted it while it was awake
        if job and host and (name := clean_job(job)) not in self.jobs.asleep:
            session = self.jobs.get(name)
            (session.nodes.add_node(host) if session is not None else self.early_losses.add_node(name, host))

    def collector_lost(self, collector: str) -> None:
        """Count a silent collector; its streams become idle with their jobs. Its counts stay in the sum."""
        self.counters["collectors_lost"] += self._collectors.mark_silent(collector)

    def collector_counters(self) -> Counter[str]:
        """Return the summed counters of all collectors so far."""
        return self._collectors.total()

    def sums(self) -> JobSums:
        """Return the losses of all jobs, including removed ones."""
        return JobSums(self._dropped, self._current_sums.of(self.jobs))

    def renew_sums(self) -> Iterator[None]:
        """Prepare ``sums`` in steps: after these, it only examines the jobs that changed meanwhile."""
        return self._current_sums.renew(self.jobs)

    def _count_dropped(self, stream: str, job: str | None, batch: EventBatch) -> None:
        """Count the events of a refused stream."""
        self.counters["events_dropped:no_job"] += len(batch)
        if job is not None and len(batch):
            self.early_losses.count_dropped(stream, batch)
