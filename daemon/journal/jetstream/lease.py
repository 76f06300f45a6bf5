"""Who of several aggregators has something, decided by what stands in a shared place: no clock and no I/O here.

Each holder renews its entry. One that is not renewed for ``lease_s``, by the clock of whoever looks, may be taken,
which the store grants to one alone: each write names the revision that it takes the place of. The revision of the
write that took it is the holder's epoch.

A holder that stood still does not know that it has lost the lease until it looks. So the lease decides who goes on;
that an earlier holder changes nothing more is up to the stream, which refuses what it appends.
"""

from __future__ import annotations

from enum import Enum
from typing import Final, NamedTuple

_LOOKS: Final = 8
"""Looks at the entry in the time of a lease, for whoever waits for it."""
_RENEWALS: Final = 4
"""Renewals in it."""


class Entry(NamedTuple):
    """What stands in the shared place."""

    revision: int
    """0: nothing was ever there."""
    owner: str
    """"": its last holder gave it back."""


NOTHING: Final = Entry(0, "")


class Do(Enum):
    """What is to be done."""

    LOOK = "look"
    """Read the entry, and tell ``saw``."""
    WRITE = "write"
    """Put oneself there in place of the revision ``Lease.known``, and tell ``wrote``, ``refused`` or ``unanswered``."""


class Lease:
    """One aggregator's part in it.

    Args:
        owner: its name, which no other has, nor had before.
        lease_s: time without renewal after which it may be taken.

    Attributes:
        is_held: whether it is the holder, as far as it knows.
        is_lost: whether it was, and another one is.
        epoch: revision with which it became that; 0 before.
        known: the last entry that is known.
    """

    def __init__(self, owner: str, lease_s: float) -> None:
        self.owner, self.lease_s = owner, lease_s
        self.is_held = self.is_lost = False
        self.epoch = 0
        self.known = NOTHING
        self._is_unsure = True  # what the entry is
        self._seen_at_s = 0.0
        self._next_s = 0.0
        self._may_take = False

    def due(self, now_s: float) -> Do | None:
        """Returns what is to be done now; None for nothing before ``next_s``."""
        if self.is_lost or now_s < self._next_s:
            return None
        if self.is_held:
            return Do.LOOK if self._is_unsure else Do.WRITE
        return Do.WRITE if self._may_take and not self._is_unsure else Do.LOOK

    @property
    def next_s(self) -> float:
        """When there is something to do."""
        return self._next_s

    def saw(self, entry: Entry, now_s: float) -> None:
        """Takes in what stands there."""
        if entry.revision < self.known.revision:  # a server that is behind
            self.unanswered(now_s)
            return
        self._is_unsure = False
        if entry.owner == self.owner:  # a write of ours whose answer was lost
            self.known = entry
            self._hold(now_s)
            return
        if self.is_held:
            self.is_held, self.is_lost = False, True
            self.known = entry
            return
        if entry.revision != self.known.revision:
            self.known, self._seen_at_s = entry, now_s
        self._may_take = not entry.owner or now_s - self._seen_at_s >= self.lease_s
        self._next_s = now_s if self._may_take else now_s + self.lease_s / _LOOKS

    def wrote(self, revision: int, now_s: float) -> None:
        """Takes in that the write was done."""
        self.known = Entry(revision, self.owner)
        self._hold(now_s)

    def refused(self, now_s: float) -> None:
        """Takes in that another revision stood there."""
        self._is_unsure, self._may_take = True, False
        self._next_s = now_s

    def unanswered(self, now_s: float) -> None:
        """Takes in that it is not known whether a look or a write was done."""
        self._is_unsure, self._may_take = True, False
        self._seen_at_s = now_s  # the holder could not renew it either, and has its time again
        self._next_s = now_s + self.lease_s / _LOOKS

    def _hold(self, now_s: float) -> None:
        if not self.is_held:
            self.is_held, self.epoch = True, self.known.revision
        self._next_s = now_s + self.lease_s / _RENEWALS
