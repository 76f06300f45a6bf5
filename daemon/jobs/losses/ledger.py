"""How many events of a job came by each place on their way, stream by stream: what does not add up is told."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping

from msgspec import Struct

from ....events.losses import EVENTS

AFTER_TAKING = ("shipper_full", "spool_damaged", "rejected")
"""Reasons for which a collector dropped events that it had counted."""
_MOST_CUT_OFF = 10_000
_MOST_NAMED = 100


class Account(Struct):
    """What is known of one stream, or of several together; events."""

    made: int = 0
    """That the collector had of it; 0 where it does not tell."""
    received: int = 0
    journalled: int = 0
    dropped: int = 0
    """That the collector had and dropped."""
    is_final: bool = False
    """Whether the collector has told of all."""

    @property
    def on_the_way(self) -> int:
        """That the collector had, and of which nothing has been heard."""
        return self.made - self.received - self.dropped if self.made else 0

    def add(self, other: Account, sign: int = 1) -> None:
        """Adds what is known of another stream."""
        self.made += sign * (other.made or other.received + other.dropped)
        self.received += sign * other.received
        self.journalled += sign * other.journalled
        self.dropped += sign * other.dropped


class Ledger:
    """The accounts of a job's streams.

    Attributes:
        streams: of those that are open, by name.
        ended: the sum of those that have ended.
        ended_streams: how many.
        cut_off: events of streams which no collector ended, that were on the way.
        missing: of streams that have ended, what did not come and nobody told of, by name; of a hundred at most.
        unaccounted: the sum of all such.
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
        self._come_back: OrderedDict[str, Account] = OrderedDict()

    def open(self, stream: str) -> None:
        """Takes in a stream, or one that comes back."""
        if (account := self._come_back.pop(stream, None)) is not None:
            self.ended.add(account, -1)
            self.ended_streams -= 1
            self.cut_off -= account.on_the_way
        self.streams[stream] = account or Account()

    def received(self, stream: str, events: int, *, journalled: bool) -> None:
        """Takes in that events of an open stream came."""
        if (account := self.streams.get(stream)) is not None:
            account.received += events
            account.journalled += events if journalled else 0

    def made(self, stream: str, events: int, *, ended: bool) -> None:
        """Takes in how many events the collector had."""
        if (account := self.streams.get(stream)) is not None:
            account.made = max(account.made, events)
            account.is_final = ended

    def lossy(self, stream: str, losses: Mapping[str, int]) -> None:
        """Takes in what was lost of an open stream so far."""
        if losses and (account := self.streams.get(stream)) is not None:
            account.dropped = sum(losses.get(EVENTS + reason, 0) for reason in AFTER_TAKING)

    def close(self, stream: str, losses: Mapping[str, int]) -> None:
        """Takes in that a stream has ended, and all that was lost of it."""
        self.lossy(stream, losses)
        if (account := self.streams.pop(stream, None)) is None:
            return
        self.ended.add(account)
        self.ended_streams += 1
        if not account.is_final:
            self.cut_off += account.on_the_way
            self._come_back[stream] = account
            if len(self._come_back) > _MOST_CUT_OFF:
                self._come_back.popitem(last=False)
        elif account.on_the_way:
            self.unaccounted += abs(account.on_the_way)
            if len(self.missing) < _MOST_NAMED:
                self.missing[stream] = account.on_the_way
