"""What the bounds of jobs cost, also of jobs that are gone: for the sums that metrics tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ...analyzers.pipeline.registry import ANALYZERS
from .session import JobSession


class Dropped:
    """Sums over the jobs that are gone; those that are held are added when somebody asks."""

    def __init__(self) -> None:
        self._signal = {"late": 0.0, "ahead": 0.0}
        self._names: Counter[str] = Counter()
        self._of: dict[str, Counter[str]] = {name: Counter() for name in ANALYZERS}

    def keep(self, session: JobSession) -> None:
        """Takes over what a job dropped that is removed."""
        _add(self._signal, session)
        self._names.update(session.names.beyond)
        for name in ANALYZERS:
            self._of.setdefault(name, Counter()).update(session.analyzers.losses(name))

    def signal_bytes(self, held: Iterable[JobSession]) -> dict[str, float]:
        """Returns the bytes that no job's signal has, by reason."""
        total = dict(self._signal)
        for session in held:
            _add(total, session)
        return total

    def names_beyond(self, held: Iterable[JobSession]) -> Counter[str]:
        """Returns how many uses of calls and files were beyond the bounds of their jobs."""
        return sum((session.names.beyond for session in held), Counter(self._names))

    def by(self, analyzer: str, held: Iterable[JobSession]) -> Counter[str]:
        """Returns what an analyzer of all jobs lacks, by reason."""
        total = Counter(self._of.get(analyzer, {}))
        for session in held:
            total.update(session.analyzers.losses(analyzer))
        return total


def _add(total: dict[str, float], session: JobSession) -> None:
    for signal in (session.predictor.reads, session.predictor.writes):
        total["late"] += signal.late_bytes
        total["ahead"] += signal.ahead_bytes
