"""The part of the aggregator that accounts for what is lost, missing or refused, by job and in total."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from ....analyzers.registry import ANALYZERS
from ....events import EventBatch, StreamInfo
from ....events.losses import MISPLACED
from ..job_ids import clean_job
from ..job_table import JobTable
from ..losses.early_losses import EarlyLosses
from ..session import JobSession


class Dropped:
    """Sums over removed jobs."""

    def __init__(self) -> None:
        self._signal = {"late": 0.0, "ahead": 0.0}
        self._names: Counter[str] = Counter()
        self._of: dict[str, Counter[str]] = {name: Counter() for name in ANALYZERS}

    def add_session(self, session: JobSession) -> None:
        """Add the losses of a job that is being removed."""
        _add(self._signal, session)
        self._names.update(session.names.beyond)
        for name in ANALYZERS:
            self._of.setdefault(name, Counter()).update(session.analyzers.losses(name))

    def signal_bytes(self) -> Mapping[str, float]:
        """Return the bytes missing in all signals, by reason."""
        return self._signal

    def names_beyond(self) -> Counter[str]:
        """Return the number of uses of calls and files beyond the bounds of their jobs."""
        return self._names

    def of_analyzer(self, analyzer: str) -> Counter[str]:
        """Return the losses of an analyzer of these jobs, by reason."""
        return self._of.get(analyzer, Counter())


@dataclass(frozen=True)
class JobSums:
    """Sums over all jobs: removed and present ones."""

    removed: Dropped
    current: Mapping[str, float]
    """As in ``CurrentSums``."""

    def signal_bytes(self) -> dict[str, float]:
        """Return the bytes missing in all signals, by reason."""
        return {
            reason: volume + self.current.get(f"signal:{reason}", 0.0)
            for reason, volume in self.removed.signal_bytes().items()
        }

    def names_beyond(self) -> Counter[str]:
        """Return the number of uses of calls and files beyond the bounds of their jobs."""
        return self.removed.names_beyond() + _part(self.current, "names")

    def dropped(self, analyzer: str) -> Counter[str]:
        """Return the losses of an analyzer of all jobs, by reason, including zeros."""
        total = Counter(self.removed.of_analyzer(analyzer))
        total.update(_part(self.current, analyzer))
        return total


class CurrentSums:
    """Sums over present jobs; only jobs that were accessed since are examined again."""

    def __init__(self) -> None:
        self._of: dict[str, Mapping[str, float]] = {}
        self._total: Counter[str] = Counter()

    def of(self, jobs: JobTable) -> Mapping[str, float]:
        """Return the current sums."""
        for _ in self.renew(jobs):
            pass
        return self._total

    def renew(self, jobs: JobTable) -> Iterator[None]:
        """Examine the jobs that were accessed before this call; yield after each."""
        for job in list(jobs.unsummed):
            jobs.unsummed.discard(job)
            self._renew_job(job, jobs)
            yield

    def _renew_job(self, job: str, jobs: JobTable) -> None:
        sums: Mapping[str, float] = {}
        if job in jobs:
            card = jobs.asleep.get(job)
            sums = card.sums if card is not None else session_sums(jobs.get_existing(job))
        before = self._of.get(job, {})
        if sums == before:
            return
        for name, count in before.items():
            self._total[name] -= count  # type: ignore[assignment]
        for name, count in sums.items():
            self._total[name] += count  # type: ignore[assignment]
        if sums:
            self._of[job] = sums
            jobs.summed.add(job)
        else:
            del self._of[job]
            jobs.summed.discard(job)


def session_sums(session: JobSession) -> dict[str, float]:
    """Return the contribution of a job to the sums over all jobs. It includes zeros, which are series, too."""
    reads, writes = session.predictor.reads, session.predictor.writes
    sums: dict[str, float] = {
        "signal:late": float(reads.late_bytes + writes.late_bytes),
        "signal:ahead": float(reads.ahead_bytes + writes.ahead_bytes),
        "unaccounted": float(session.ledger.unaccounted),
        MISPLACED: float(session.losses.total[MISPLACED]),
    }
    for kind, count in session.names.beyond.items():
        sums[f"names:{kind}"] = float(count)
    for analyzer, losses in session.analyzers.all_losses():
        for reason, count in losses.items():
            sums[f"{analyzer}:{reason}"] = float(count)
    return sums


def _part(held: Mapping[str, float], of: str) -> Counter[str]:
    return Counter({name.partition(":")[2]: int(count) for name, count in held.items() if name.startswith(f"{of}:")})


def _add(total: dict[str, float], session: JobSession) -> None:
    for signal in (session.predictor.reads, session.predictor.writes):
        total["late"] += signal.late_bytes
        total["ahead"] += signal.ahead_bytes


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
