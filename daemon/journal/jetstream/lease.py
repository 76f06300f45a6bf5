"""A lease among several aggregators, based on an entry in a shared store. No clock and no I/O here.

The holder renews its entry. An entry that is not renewed for ``lease_s``, by the clock of the observer, may be taken.
The store grants this to one aggregator only: each write names the revision that it replaces. The revision of the taking
write is the holder's epoch.

Only a write extends the lease, from the time at which it was requested: its effect may be that old, and the entry may
have been taken since. A read says nothing about the present for the same reason. The holder's claim therefore ends by
its own clock before another aggregator may take the entry, also if it was stalled at any point. It does not end the
holder: after an outage of the store it may still renew its entry. The stream prevents changes by an earlier holder, by
refusing its messages.
"""

from __future__ import annotations

import math
from enum import Enum
from typing import Final, NamedTuple

_READS_PER_LEASE: Final = 8
"""Reads of the entry per lease time by a waiting aggregator."""
_RENEWALS: Final = 4
"""Renewals per lease time."""
_OUTAGE_SHARE: Final = 2 / 3
"""Share of the lease time that the holder has for a renewal once the store answers again. It needs a third of it: the
timeout of its last request, and the pause before the next one."""


class Entry(NamedTuple):
    """The entry in the shared store."""

    revision: int
    """0: there was never an entry."""
    owner: str
    """"": its last holder released it."""


NO_ENTRY: Final = Entry(0, "")


class Action(Enum):
    """Next action."""

    READ = "read"
    """Read the entry, and call ``on_read``."""
    WRITE = "write"
    """Write the own name over ``Lease.entry``, and call ``on_written``, ``on_refused`` or ``on_unanswered``.

    ``on_written`` needs the time before the write.
    """


class Lease:
    """One aggregator's view of the lease.

    Args:
        owner: its name, which no other aggregator has or had.
        lease_s: time without renewal after which it may be taken, s.

    Attributes:
        is_held: whether its last known write made it the holder, or kept it the holder.
        is_lost: whether it was the holder, and another one is now.
        epoch: revision with which it became the holder; 0 before.
        entry: the last known entry.
    """

    def __init__(self, owner: str, lease_s: float) -> None:
        self.owner, self.lease_s = owner, lease_s
        self.is_held = self.is_lost = False
        self.epoch = 0
        self.entry = NO_ENTRY
        self._is_entry_unknown = True  # whether the entry is unknown
        self._seen_at_s = 0.0
        self._next_s = 0.0
        self._valid_until_s = -math.inf
        self._may_take = False

    def due(self, now_s: float) -> Action | None:
        """Return the next action; None if there is nothing to do before ``next_s``."""
        if self.is_lost or now_s < self._next_s:
            return None
        if self.is_held:
            return Action.READ if self._is_entry_unknown else Action.WRITE
        return Action.WRITE if self._may_take and not self._is_entry_unknown else Action.READ

    @property
    def next_s(self) -> float:
        """Time of the next action."""
        return self._next_s

    def is_valid(self, now_s: float) -> bool:
        """Return whether it is the holder for sure: no other aggregator can have taken the entry yet."""
        return self.is_held and now_s < self._valid_until_s

    def on_read(self, entry: Entry, now_s: float) -> None:
        """Process a read entry."""
        if entry.revision < self.entry.revision:  # a server that lags behind
            self.on_unanswered(now_s)
            return
        self._is_entry_unknown = False
        if entry.owner == self.owner:  # an own write whose answer was lost, or came too late
            self.entry = entry
            self._may_take = True
            self._next_s = now_s  # others may have counted its age for as long as the answer was missing
            return
        if self.is_held:
            self.is_held, self.is_lost = False, True
            self.entry = entry
            return
        if entry.revision != self.entry.revision:
            self.entry, self._seen_at_s = entry, now_s
        self._may_take = not entry.owner or now_s - self._seen_at_s >= self.lease_s
        self._next_s = now_s if self._may_take else now_s + self.lease_s / _READS_PER_LEASE

    def on_written(self, revision: int, requested_s: float, now_s: float) -> None:
        """Process a successful write that was requested at ``requested_s``."""
        self.entry = Entry(revision, self.owner)
        if not self.is_held and now_s >= requested_s + self.lease_s:
            self.on_refused(now_s)  # the entry may have been taken meanwhile
            return
        if not self.is_held:
            self.is_held, self.epoch = True, revision
        self._valid_until_s = requested_s + self.lease_s
        self._next_s = requested_s + self.lease_s / _RENEWALS

    def on_refused(self, now_s: float) -> None:
        """Process a write refused because of another revision, or one that proves nothing."""
        self._is_entry_unknown, self._may_take = True, False
        self._next_s = now_s

    def on_unanswered(self, now_s: float) -> None:
        """Process a read or write with unknown result."""
        self._is_entry_unknown, self._may_take = True, False
        # The holder could not renew it either. It gets time for this, and the time before the outage counts.
        self._seen_at_s = max(self._seen_at_s, now_s - (1 - _OUTAGE_SHARE) * self.lease_s)
        self._next_s = now_s + self.lease_s / _READS_PER_LEASE
