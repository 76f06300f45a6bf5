"""The sessions of all jobs; those of a state that was written down are made when they are first needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, ValuesView
from typing import TYPE_CHECKING, Any, TypeVar, overload

from msgspec import Struct

if TYPE_CHECKING:
    from .session import JobSession

_T = TypeVar("_T")


class Card(Struct, frozen=True, array_like=True):
    """What lists and sums have to know of a job without its session.

    Attributes:
        state: of its life.
        user: whose it is.
        heard_at_s: when a batch last came in, by the steady clock.
        summary: a JobSummary as JSON, of when it was written.
        sums: what the job adds to the sums over all jobs (``held_sums``).
    """

    state: str
    user: str
    heard_at_s: float
    summary: bytes
    sums: dict[str, float]


class JobTable(dict[str, "JobSession"]):
    """A dict of sessions, some of which sleep: they are part of it, and are made as soon as they are asked for.

    Attributes:
        asleep: the cards of the jobs that sleep.
        touched, untold: jobs whose sessions were handed out, and may have changed, since somebody cleared this: one
            for who writes them down, one for who adds them up.
        told: jobs that are in the sums of who adds them up.
    """

    def __init__(self) -> None:
        super().__init__()
        self.asleep: dict[str, Card] = {}
        self.touched: set[str] = set()
        self.untold: set[str] = set()
        self.told: set[str] = set()
        self._wake: Callable[[str], JobSession | None] = lambda _: None

    def lay(self, cards: Mapping[str, Card], wake: Callable[[str], JobSession | None]) -> None:
        """Takes in jobs that sleep; ``wake`` makes the session of one, and returns None where that fails."""
        self.asleep.update(cards)
        self.untold.update(cards)
        self._wake = wake

    @property
    def awake(self) -> ValuesView[JobSession]:
        """Returns the sessions that there are; nobody may change them."""
        return super().values()

    def awake_names(self) -> list[str]:
        """Returns whose sessions these are."""
        return list(super().__iter__())

    def peek(self, job: str) -> JobSession:
        """Returns a session that is awake, for one who changes nothing of it."""
        return super().__getitem__(job)

    def look(self, job: str) -> JobSession | None:
        """Returns a session likewise, and makes it if it sleeps."""
        return super().get(job) or self.get(job)

    def latest(self) -> list[str]:
        """Returns all jobs, the latest active first."""
        heard = {job: session.heard_at_s for job, session in super().items()}
        heard |= {job: card.heard_at_s for job, card in self.asleep.items()}
        return sorted(heard, key=heard.__getitem__, reverse=True)

    def __getitem__(self, job: str) -> JobSession:
        self.touched.add(job)
        self.untold.add(job)
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
        """Returns a job's session."""
        if job not in self:
            return default
        try:
            return self[job]
        except KeyError:  # it could not be made
            return default

    def __setitem__(self, job: str, session: JobSession) -> None:
        self.asleep.pop(job, None)
        self.touched.add(job)
        self.untold.add(job)
        super().__setitem__(job, session)

    def __delitem__(self, job: str) -> None:
        self.touched.discard(job)
        (self.untold.add if job in self.told else self.untold.discard)(job)
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
        """Returns all sessions, for which all are made."""
        for job in list(self.asleep):
            self.get(job)
        return super().values()
