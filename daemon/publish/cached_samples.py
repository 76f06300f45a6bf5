"""Samples of jobs that only change with new events, kept between scrapes.

They are sums by activity and bytes by group. For them a job's queued events must be analyzed, which is most of the
time of a scrape, so each scrape renews those of a limited number of jobs.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from ..jobs.session import JobSession

Sample: TypeAlias = tuple[str, float, tuple[str, ...]]
"""Family, value and labels."""

MAX_RENEWED: Final = 200
"""Maximum number of jobs with renewed samples per scrape; 0.3 to 0.4 ms each."""

_State: TypeAlias = tuple[float, int, int, int]


class _Kept(NamedTuple):
    state: _State
    samples: Sequence[Sample]
    scrape: int


class KeptRows:
    """Samples by job, with the state of the job that they are from.

    Args:
        samples_of: computes the samples of a job; they must depend on its events and its failures only.
    """

    def __init__(self, samples_of: Callable[[JobSession], Sequence[Sample]]) -> None:
        self._samples_of = samples_of
        self._kept: dict[str, _Kept] = {}
        self._scrapes = 0

    def renew(self, sessions: Sequence[JobSession]) -> Iterator[None]:
        """Renew the samples of jobs with new events or failures, those with the oldest samples first.

        Yields after each job. Jobs beyond ``MAX_RENEWED`` are renewed by later calls.
        """
        self._scrapes += 1
        changed = [session for session in sessions if not self._is_current(session)]
        changed.sort(key=self._scrape_of)
        for session in changed[:MAX_RENEWED]:
            samples = self._samples_of(session)  # may add a failure, which is part of the state
            self._kept[session.job] = _Kept(_state(session), samples, self._scrapes)
            yield

    def of(self, session: JobSession) -> Sequence[Sample]:
        """Return the samples of a job as of its last renewal; none before the first."""
        known = self._kept.get(session.job)
        return () if known is None or known.state[0] != session.created_at_s else known.samples

    def drop_except(self, jobs: Container[str]) -> None:
        """Drop the samples of removed jobs."""
        for job in [job for job in self._kept if job not in jobs]:
            del self._kept[job]

    def _is_current(self, session: JobSession) -> bool:
        known = self._kept.get(session.job)
        return known is not None and known.state == _state(session)

    def _scrape_of(self, session: JobSession) -> int:
        known = self._kept.get(session.job)
        return 0 if known is None else known.scrape


def _state(session: JobSession) -> _State:
    failures = sum(failure.times for failure in session.failures.summaries())
    return session.created_at_s, session.analyzers.events, len(session.streams), failures
