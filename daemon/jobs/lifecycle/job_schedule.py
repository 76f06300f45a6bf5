"""Schedule of due work by job."""

from __future__ import annotations

import heapq
import math
from typing import Final

_MAX_STALE_ENTRIES: Final = 64  # heap entries without a name, in addition to as many as there are names


class JobSchedule:
    """One time per name, earliest first; names that are not due cost nothing.

    Memory is bounded by the number of names: replaced or dropped times are removed with later ones.
    """

    def __init__(self) -> None:
        self._times: dict[str, float] = {}
        self._heap: list[tuple[float, str]] = []

    def __len__(self) -> int:
        return len(self._times)

    def schedule(self, name: str, at_s: float) -> None:
        """Set a name's time, unless an earlier one is set."""
        if at_s < self._times.get(name, float("inf")):
            self._times[name] = at_s
            heapq.heappush(self._heap, (at_s, name))
            if len(self._heap) > 2 * len(self._times) + _MAX_STALE_ENTRIES:
                self._heap = [(at_s, name) for name, at_s in self._times.items()]
                heapq.heapify(self._heap)

    @property
    def first_s(self) -> float:
        """Time of the earliest entry, s; infinite without entries."""
        while self._heap and self._times.get(self._heap[0][1]) != self._heap[0][0]:
            heapq.heappop(self._heap)
        return self._heap[0][0] if self._heap else math.inf

    def late_s(self, now_s: float) -> float:
        """Return the time since the earliest entry was due, s; 0 if none is."""
        return max(now_s - self.first_s, 0.0)

    def drop(self, name: str) -> None:
        """Remove a name."""
        self._times.pop(name, None)

    def pop_due(self, now_s: float) -> tuple[str, float] | None:
        """Remove the name that was due first, and return it with its time; None if none is due."""
        while self._heap and self._heap[0][0] <= now_s:
            at_s, name = heapq.heappop(self._heap)
            if self._times.get(name) == at_s:  # otherwise it was dropped, or set earlier
                del self._times[name]
                return name, at_s
        return None
