"""The sessions of all jobs; those from a stored state are created on first use."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, ValuesView
from typing import TYPE_CHECKING, Any, TypeVar, overload

from msgspec import Struct

if TYPE_CHECKING:
    from .session import JobSession

_T = TypeVar("_T")


class Card(Struct, frozen=True, array_like=True):
    """Data of a job for lists and sums without its session.

    Attributes:
        state: lifecycle state.
        user: its user.
        heard_at_s: time of the last batch, by the steady clock.
        summary: a JobSummary as JSON, at the time of storage.
        sums: contribution of the job to the sums over all jobs (``session_sums``).
    """

    state: str
    user: str
    heard_at_s: float
    summary: bytes
    sums: dict[str, float]


class JobTable(dict[str, "JobSession"]):
    """A dict of sessions, some of which are asleep. These are members, and are created on access.

    Attributes:
        asleep: the cards of the sleeping jobs.
        touched, unsummed: jobs whose sessions were accessed, and may have changed, since the set was cleared: one for
            snapshots, one for sums.
        summed: jobs included in the sums.
        projects: projects of jobs, as vouched for by their nodes.
    """

    def __init__(self) -> None:
        super().__init__()
        self.asleep: dict[str, Card] = {}
        self.touched: set[str] = set()
        self.unsummed: set[str] = set()
        self.summed: set[str] = set()
        self.projects: dict[str, str] = {}
        self._wake: Callable[[str], JobSession | None] = lambda _: None

    def add_sleeping(self, cards: Mapping[str, Card], wake: Callable[[str], JobSession | None]) -> None:
        """Add sleeping jobs; ``wake`` creates the session of one, or returns None on failure."""
        self.asleep.update(cards)
        self.unsummed.update(cards)
        self._wake = wake

    @property
    def awake(self) -> ValuesView[JobSession]:
        """Return the existing sessions; callers must not change them."""
        return super().values()

    def awake_names(self) -> list[str]:
        """Return the jobs of the existing sessions."""
        return list(super().__iter__())

    def get_existing(self, job: str) -> JobSession:
        """Return an existing session for a caller that does not change it."""
        return super().__getitem__(job)

    def get_or_wake(self, job: str) -> JobSession | None:
        """Return a session for a caller that does not change it. It is created if it is asleep."""
        return super().get(job) or self.get(job)

    def latest(self) -> list[str]:
        """Return all jobs, latest active first."""
        heard_at_s_of = {job: session.heard_at_s for job, session in super().items()}
        heard_at_s_of |= {job: card.heard_at_s for job, card in self.asleep.items()}
        return sorted(heard_at_s_of, key=heard_at_s_of.__getitem__, reverse=True)

    def __getitem__(self, job: str) -> JobSession:
        self.touched.add(job)
        self.unsummed.add(job)
        return super().__getitem__(job)

    def __missing__(self, job: str) -> JobSession:
        if self.asleep.pop(job, None) is not None and (session := self._wake(job)) is not None:
            super().__setitem__(job, session)
            return session
        self.touched.discard(job)
        raise KeyError(job)

    @overload
    def get(self, job: str, default: None = None, /) -> JobSession | None: ...
    @overload
    def get(self, job: str, default: _T, /) -> JobSession | _T: ...
    def get(self, job: str, default: Any = None, /) -> Any:
        """Return a job's session."""
        if job not in self:
            return default
        try:
            return self[job]
        except KeyError:  # it could not be created
            return default

    def __setitem__(self, job: str, session: JobSession) -> None:
        self.asleep.pop(job, None)
        self.projects.pop(job, None)  # a new job of this name may be another user's
        self.touched.add(job)
        self.unsummed.add(job)
        super().__setitem__(job, session)

    def __delitem__(self, job: str) -> None:
        self.touched.discard(job)
        self.projects.pop(job, None)
        (self.unsummed.add if job in self.summed else self.unsummed.discard)(job)
        if self.asleep.pop(job, None) is None:
            super().__delitem__(job)

    def __contains__(self, job: object) -> bool:
        return super().__contains__(job) or job in self.asleep

    def __len__(self) -> int:
        return super().__len__() + len(self.asleep)

    def __iter__(self) -> Iterator[str]:
        yield from super().__iter__()
        yield from self.asleep

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = None

    def values(self) -> ValuesView[JobSession]:  # type: ignore[override]
        """Return all sessions, which creates the sleeping ones."""
        for job in list(self.asleep):
            self.get(job)
        return super().values()
