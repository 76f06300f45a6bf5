"""Numbers of a job's events at each place on their way, by stream. Differences are reported."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping

from msgspec import Struct

from ....events.losses import EVENTS

LOST_AFTER_TAKING = ("shipper_full", "spool_damaged", "rejected")
"""Reasons for which a collector dropped events that it had counted."""
_MAX_CUT_OFF = 10_000
_MAX_NAMED = 100


class Account(Struct):
    """Account of one stream, or of several together; in events."""

    made: int = 0
    """Events that the collector got; 0 if it does not report them."""
    received: int = 0
    journalled: int = 0
    dropped: int = 0
    """Events that the collector got and dropped."""
    is_final: bool = False
    """Whether the collector's counts are final."""

    @property
    def in_transit(self) -> int:
        """Events that the collector got and that were neither received nor reported as dropped."""
        return self.made - self.received - self.dropped if self.made else 0

    def add(self, other: Account, sign: int = 1) -> None:
        """Add another account."""
        self.made += sign * (other.made or other.received + other.dropped)
        self.received += sign * other.received
        self.journalled += sign * other.journalled
        self.dropped += sign * other.dropped


class Ledger:
    """The accounts of a job's streams.

    Attributes:
        streams: accounts of the open streams, by name.
        ended: sum over the ended streams.
        ended_streams: number of ended streams.
        cut_off: events in transit of streams that no collector ended.
        missing: missing unreported events of ended streams, by name; at most 100 streams.
        unaccounted: sum of all such events.
        archived: events that can be read in the archive.
    """

    def __init__(self) -> None:
        self.streams: dict[str, Account] = {}
        self.ended = Account()
        self.ended_streams = 0
        self.cut_off = 0
        self.missing: dict[str, int] = {}
        self.unaccounted = 0
        self.archived = 0
        self._cut_off_accounts: OrderedDict[str, Account] = OrderedDict()

    def open(self, stream: str) -> None:
        """Open a stream, or resume one."""
        if (account := self._cut_off_accounts.pop(stream, None)) is not None:
            self.ended.add(account, -1)
            self.ended_streams -= 1
            self.cut_off -= account.in_transit
        self.streams[stream] = account or Account()

    def received(self, stream: str, events: int, *, journalled: bool) -> None:
        """Count received events of an open stream."""
        if (account := self.streams.get(stream)) is not None:
            account.received += events
            account.journalled += events if journalled else 0

    def add_ended(self, streams: int, events: int, *, journalled: bool) -> None:
        """Add streams that have ended, all of whose events were received."""
        self.ended.add(Account(received=events, journalled=events if journalled else 0))
        self.ended_streams += streams

    def set_taken(self, stream: str, events: int, *, ended: bool) -> None:
        """Update the number of events that the collector got."""
        if (account := self.streams.get(stream)) is not None:
            account.made = max(account.made, events)
            account.is_final = ended

    def set_losses(self, stream: str, losses: Mapping[str, int]) -> None:
        """Update the losses of an open stream."""
        if losses and (account := self.streams.get(stream)) is not None:
            account.dropped = sum(losses.get(EVENTS + reason, 0) for reason in LOST_AFTER_TAKING)

    def close(self, stream: str, losses: Mapping[str, int]) -> None:
        """Close a stream, with its final losses."""
        self.set_losses(stream, losses)
        if (account := self.streams.pop(stream, None)) is None:
            return
        self.ended.add(account)
        self.ended_streams += 1
        if not account.is_final:
            self.cut_off += account.in_transit
            self._cut_off_accounts[stream] = account
            if len(self._cut_off_accounts) > _MAX_CUT_OFF:
                self._cut_off_accounts.popitem(last=False)
        elif account.in_transit:
            self.unaccounted += abs(account.in_transit)
            if len(self.missing) < _MAX_NAMED:
                self.missing[stream] = account.in_transit
