"""What is to be done for which job, and when."""

from __future__ import annotations

import heapq
from typing import Final

_SPARE: Final = 64  # entries of the heap without a name, beside as many as there are names


class JobSchedule:
    """One time for each name, the earliest first; costs nothing for names whose time has not come.

    Memory is bounded by the names: times that were replaced or dropped leave with those after them.
    """

    def __init__(self) -> None:
        self._times: dict[str, float] = {}
        self._heap: list[tuple[float, str]] = []

    def __len__(self) -> int:
        return len(self._times)

    def put(self, name: str, at_s: float) -> None:
        """Sets a name's time, unless an earlier one stands."""
        if at_s < self._times.get(name, float("inf")):
            self._times[name] = at_s
            heapq.heappush(self._heap, (at_s, name))
            if len(self._heap) > 2 * len(self._times) + _SPARE:
                self._heap = [(at_s, name) for name, at_s in self._times.items()]
                heapq.heapify(self._heap)

    def late_s(self, now_s: float) -> float:
        """Returns for how long the earliest time has passed; 0 where none has."""
        while self._heap and self._times.get(self._heap[0][1]) != self._heap[0][0]:
            heapq.heappop(self._heap)
        return max(now_s - self._heap[0][0], 0.0) if self._heap else 0.0

    def drop(self, name: str) -> None:
        """Forgets a name."""
        self._times.pop(name, None)

    def take(self, now_s: float) -> tuple[str, float] | None:
        """Removes the name whose time came first, and returns it with its time; None if none has come."""
        while self._heap and self._heap[0][0] <= now_s:
            at_s, name = heapq.heappop(self._heap)
            if self._times.get(name) == at_s:  # else it was dropped, or put earlier
                del self._times[name]
                return name, at_s
        return None
