"""Events that a dead collector took from a process and never sent.

They are determined when the process has a new collector.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Mapping
from typing import Final

from ....events import StreamInfo
from ....events.losses import EVENTS

LOST_WITH_COLLECTOR: Final = f"{EVENTS}lost_with_collector"
_MAX_STREAMS: Final = 10_000
_LOST_AFTER_TAKING: Final = ("shipper_full", "spool_damaged", "rejected", "malformed", "closed")
"""Losses of taken calls that the collector has reported."""


class Handovers:
    """Compares the received events of a stream with those taken by its collector.

    The collector's successor reports the latter.
    """

    def __init__(self) -> None:
        self._arrived: Counter[str] = Counter()  # by open stream
        self._awaited: OrderedDict[str, int] = OrderedDict()  # by the end of a stream's name
        # by the end of a cut-off stream's name: received events and reported losses
        self._ended: OrderedDict[str, int] = OrderedDict()

    @property
    def are_pending(self) -> bool:
        """Whether a stream may continue, or be continued by, another one."""
        return bool(self._awaited or self._ended)

    def open_stream(self, stream: str, info: StreamInfo) -> int:
        """Open a stream, or resume one. Return the number of events of its predecessor that are known to be lost."""
        if (before := self._ended.pop(stream.rpartition(":")[2], None)) is not None:
            self._arrived[stream] = before
        if not info.follows or info.taken_before <= 0:
            return 0
        if (had := self._ended.pop(info.follows, None)) is not None:
            return max(info.taken_before - had, 0)
        self._awaited[info.follows] = info.taken_before
        _bound(self._awaited)
        return 0

    def add_received(self, stream: str, events: int) -> None:
        """Count received events of an open stream."""
        self._arrived[stream] += events

    def close_stream(self, stream: str, losses: Mapping[str, int]) -> int:
        """Close a stream; return the number of its events now known to be lost."""
        had = self._arrived.pop(stream, 0)
        if losses:
            had += sum(losses.get(EVENTS + reason, 0) for reason in _LOST_AFTER_TAKING)
        end = stream.rpartition(":")[2]
        if (taken := self._awaited.pop(end, None)) is not None:
            return max(taken - had, 0)
        if "streams_cut_off" in losses:
            self._ended[end] = had
            _bound(self._ended)
        return 0

    def lost_at_end(self) -> int:
        """Return the number of lost events of streams that did not end with their job."""
        lost = 0
        for stream, had in self._arrived.items():
            if (taken := self._awaited.pop(stream.rpartition(":")[2], None)) is not None:
                lost += max(taken - had, 0)
        return lost


def _bound(table: OrderedDict[str, int]) -> None:
    while len(table) > _MAX_STREAMS:
        table.popitem(last=False)
