"""Completeness of a job's calls over time: calls that arrived, and gaps left by losses."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from typing import Any, Final

from msgspec import Struct

from .common.state import Packed

_MAX_MARKS: Final = 512  # maximum number of stored times
_MAX_HOLES: Final = 256  # maximum number of stored gaps
_MOST: Final = 2**63 - 1  # at which stored sums saturate


class _Hole(Struct):
    start_ns: int
    end_ns: int
    events: int
    moved: int

    def within(self, start_ns: int, end_ns: int) -> float:
        """Return the share of the gap that lies in [start, end], 0 to 1."""
        overlap = min(self.end_ns, end_ns) - max(self.start_ns, start_ns)
        if overlap < 0:
            return 0.0
        return overlap / (self.end_ns - self.start_ns) if self.end_ns > self.start_ns else 1.0


class Completeness(Packed):
    """Counts received and lost calls and bytes over time. Memory is bounded: old marks are thinned, old gaps merged."""

    def __init__(self) -> None:
        self._times = array("q")
        self._events, self._moved = array("q"), array("q")  # cumulative calls and bytes up to each time
        self._total = (0, 0)
        self._holes: list[_Hole] = []

    def __getstate__(self) -> dict[str, object]:
        """Return the state in lists, as saved states have it."""
        sums = list(zip(self._events, self._moved, strict=True))
        return {"_times": list(self._times), "_sums": sums, "_total": self._total, "_holes": self._holes}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._times, self._total, self._holes = array("q", state["_times"]), state["_total"], state["_holes"]
        self._events = array("q", [events for events, _ in state["_sums"]])
        self._moved = array("q", [min(moved, _MOST) for _, moved in state["_sums"]])

    def add_received(self, until_ns: int, events: int, moved: int) -> None:
        """Add received calls and the bytes that they moved."""
        self._total = (self._total[0] + events, self._total[1] + moved)
        if self._times and until_ns <= self._times[-1]:
            self._events[-1], self._moved[-1] = self._total[0], min(self._total[1], _MOST)
            return
        self._times.append(until_ns)
        self._events.append(self._total[0])
        self._moved.append(min(self._total[1], _MOST))
        if len(self._times) > _MAX_MARKS:
            del self._times[1:-1:2], self._events[1:-1:2], self._moved[1:-1:2]

    def add_lost(self, start_ns: int, end_ns: int, events: int, moved: int) -> None:
        """Add a loss: calls, and a lower bound of bytes, lost somewhere in [start, end]."""
        if not events and not moved:
            return
        self._holes.append(_Hole(min(start_ns, end_ns), end_ns, events, moved))
        if len(self._holes) > _MAX_HOLES:
            self._holes.sort(key=lambda hole: hole.start_ns)
            rest = self._holes[_MAX_HOLES // 2 :]
            first = self._holes[: _MAX_HOLES // 2]
            self._holes = [_joined(*first[at : at + 2]) for at in range(0, len(first), 2)] + rest

    def share(self, start_ns: int, end_ns: int) -> float:
        """Return the share of received calls in [start, end], 0 to 1.

        The share of received bytes counts if it is lower.
        """
        if not self._holes:
            return 1.0
        events = sum(hole.events * hole.within(start_ns, end_ns) for hole in self._holes)
        moved = sum(hole.moved * hole.within(start_ns, end_ns) for hole in self._holes)
        before, until = self._until(start_ns), self._until(end_ns)
        return min(_received_share(until[0] - before[0], events), _received_share(until[1] - before[1], moved))

    def _until(self, at_ns: int) -> tuple[float, float]:
        """Return cumulative calls and bytes up to a time, interpolated linearly between two marks."""
        after = bisect_right(self._times, at_ns)
        if after == len(self._times):
            return self._total
        if after == 0:
            return 0.0, 0.0
        low, high = self._times[after - 1], self._times[after]
        part = (at_ns - low) / (high - low)
        (events, more_events), (moved, more_moved) = (
            column[after - 1 : after + 1] for column in (self._events, self._moved)
        )
        return events + part * (more_events - events), moved + part * (more_moved - moved)


def _joined(first: _Hole, second: _Hole | None = None) -> _Hole:
    if second is None:
        return first
    end_ns = max(first.end_ns, second.end_ns)
    return _Hole(first.start_ns, end_ns, first.events + second.events, first.moved + second.moved)


def _received_share(seen: float, lost: float) -> float:
    return seen / (seen + lost) if lost > 0 else 1.0
