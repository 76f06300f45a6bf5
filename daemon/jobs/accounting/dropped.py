"""Losses by the bounds of jobs, including removed jobs, for the sums in metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ....analyzers.registry import ANALYZERS
from ....events.losses import MISPLACED
from ..job_table import JobTable
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
