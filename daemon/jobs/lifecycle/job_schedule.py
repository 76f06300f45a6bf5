"""When jobs are due: work that is scheduled by job, and state changes of silent jobs."""

from __future__ import annotations

import heapq
import math
from typing import Final

from ..job_settings import JobSettings
from ..job_state import JobEvent, State
from ..session import JobSession

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


def due_event(session: JobSession, settings: JobSettings, now: float) -> JobEvent | None:
    """Return the event of a job for lack of input, by the steady clock; None before it is due."""
    quiet = now - session.heard_at_s
    alone = session.no_stream_since_s is not None and now - session.no_stream_since_s >= settings.linger_s
    if session.state is State.ENDED:
        return JobEvent.FORGOTTEN if now - session.ended_at_s >= settings.retain_s else None
    if alone or (quiet >= settings.end_after_s and not session.nodes.collectors):  # whose batch system has not ended it
        return JobEvent.DONE
    return JobEvent.QUIET if quiet >= settings.idle_after_s else None


def next_check_s(session: JobSession, settings: JobSettings) -> float:
    """Return the time of the next possible state change for lack of input."""
    if session.state is State.ENDED:
        return session.ended_at_s + settings.retain_s
    times = [math.inf if session.nodes.collectors else session.heard_at_s + settings.end_after_s]
    if session.state is not State.IDLE:
        times.append(session.heard_at_s + settings.idle_after_s)
    if session.no_stream_since_s is not None:
        times.append(session.no_stream_since_s + settings.linger_s)
    return min(times)
