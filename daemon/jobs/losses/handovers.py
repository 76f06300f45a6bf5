"""What a collector that is gone had taken of a process and not sent: known once the process has found another."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Mapping
from typing import Final

from ....events import StreamInfo
from ....events.losses import EVENTS

LOST_WITH_COLLECTOR: Final = f"{EVENTS}lost_with_collector"
_MOST: Final = 10_000
_AFTER_TAKING: Final = ("shipper_full", "spool_damaged", "rejected", "malformed", "closed")
"""Losses that the collector has told of calls that it had taken."""


class Handovers:
    """Compares what arrived of a stream with what its collector had of it, by the stream that follows it."""

    def __init__(self) -> None:
        self._arrived: Counter[str] = Counter()  # by open stream
        self._awaited: OrderedDict[str, int] = OrderedDict()  # by the end of a stream's name
        self._ended: OrderedDict[str, int] = OrderedDict()  # likewise, of those cut off: what arrived or was told lost

    def open_stream(self, stream: str, info: StreamInfo) -> int:
        """Takes in a stream, or one that comes back; returns how many events of the one before are known to be lost."""
        if (before := self._ended.pop(stream.rpartition(":")[2], None)) is not None:
            self._arrived[stream] = before
        if not info.follows or info.taken_before <= 0:
            return 0
        if (had := self._ended.pop(info.follows, None)) is not None:
            return max(info.taken_before - had, 0)
        self._awaited[info.follows] = info.taken_before
        _bound(self._awaited)
        return 0

    def arrived(self, stream: str, events: int) -> None:
        """Takes in that events of an open stream came."""
        self._arrived[stream] += events

    def close_stream(self, stream: str, losses: Mapping[str, int]) -> int:
        """Takes in that a stream has ended; returns how many of its events are now known to be lost."""
        had = self._arrived.pop(stream, 0)
        if losses:
            had += sum(losses.get(EVENTS + reason, 0) for reason in _AFTER_TAKING)
        end = stream.rpartition(":")[2]
        if (taken := self._awaited.pop(end, None)) is not None:
            return max(taken - had, 0)
        if "streams_cut_off" in losses:
            self._ended[end] = had
            _bound(self._ended)
        return 0

    def at_end(self) -> int:
        """Returns how many events are lost of streams that have not ended with their job."""
        lost = 0
        for stream, had in self._arrived.items():
            if (taken := self._awaited.pop(stream.rpartition(":")[2], None)) is not None:
                lost += max(taken - had, 0)
        return lost


def _bound(table: OrderedDict[str, int]) -> None:
    while len(table) > _MOST:
        table.popitem(last=False)
