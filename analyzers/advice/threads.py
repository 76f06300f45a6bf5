"""Numbering of threads, and their assignment to lanes."""

from __future__ import annotations

import heapq
from typing import Final, NamedTuple

import numpy as np

from ...events import StreamInfo
from ...events.batch import IntArray
from ...events.programs import program_name
from ..common.grouping import Grouping
from ..common.state import Ints

_SYSTEM_IDS: Final = frozenset({"preload", "strace"})
"""Sources whose thread ids are the system's. The main thread of a process then has its pid."""


class Thread(NamedTuple):
    """Identity of a thread; rank is -1 and pid 0 if unknown."""

    rank: int
    pid: int
    """Negative for a thread other than the main one of its process: saved states keep their layout."""
    host: str
    command: str

    @property
    def process(self) -> int:
        """Pid; 0 if unknown."""
        return abs(self.pid)

    @property
    def is_worker(self) -> bool:
        """Whether another thread is known to be the main one of its process."""
        return self.pid < 0


class Threads:
    """Numbers the threads of a job's streams from 1. 0 stands for threads beyond the bound."""

    def __init__(self, bound: int) -> None:
        self.known: list[Thread] = [Thread(-1, 0, "", "")]
        self.beyond = 0
        self._bound = bound
        self._streams: dict[str, int] = {}
        self._infos: dict[int, StreamInfo] = {}
        self._next = 1
        self._numbers: dict[int, dict[int, int]] = {}

    def stream(self, name: str, info: StreamInfo) -> int:
        """Return the number of a stream."""
        number = self._streams.get(name)
        if number is None:
            number = self._streams[name] = self._next
            self._next += 1
        self._infos[number] = info
        return number

    def number(self, name: str) -> int:
        """Return the number of an open stream; 0 for other streams."""
        return self._streams.get(name, 0)

    def close(self, name: str) -> None:
        """End a stream; a later stream of the same name has new threads."""
        number = self._streams.pop(name, None)
        if number is not None:
            self._infos.pop(number, None)
            self._numbers.pop(number, None)

    def of(self, stream: Ints, tid: IntArray, pid: IntArray, rank: IntArray) -> Ints:
        """Return the thread number of each event, int64[n], n >= 1."""
        alike = Grouping([stream, tid])
        some = alike.first
        made = [
            self._of(*each)
            for each in zip(*(column[some].tolist() for column in (stream, tid, pid, rank)), strict=True)
        ]
        return np.array(made, np.int64).take(alike.number)

    def _of(self, stream: int, tid: int, pid: int, rank: int) -> int:
        numbers = self._numbers.setdefault(stream, {})
        found = numbers.get(tid)
        if found is None:
            found = numbers[tid] = self._number(self._infos[stream], tid, pid, rank)
        elif found and rank >= 0 > self.known[found].rank:
            self.known[found] = self.known[found]._replace(rank=rank)
        return found

    def _number(self, info: StreamInfo, tid: int, pid: int, rank: int) -> int:
        if len(self.known) > self._bound:
            self.beyond += 1
            return 0
        process = pid or info.pid
        is_worker = info.source in _SYSTEM_IDS and 0 < tid != process > 0
        mark = -process if is_worker else process
        self.known.append(Thread(info.rank if rank < 0 else rank, mark, info.host, info.command[:200]))
        return len(self.known) - 1


def lanes_of(first: Ints, last: Ints) -> tuple[Ints, int]:
    """Assign threads to lanes; a thread that starts after another has ended reuses its lane.

    Args:
        first: start of each thread, ns.
        last: end of each thread, ns.

    Returns:
        The lane of each thread, and the number of lanes.
    """
    lane = np.zeros(len(first), np.int64)
    free: list[tuple[int, int]] = []  # (time at which the lane became free, lane)
    for at in np.argsort(first, kind="stable").tolist():
        if free and free[0][0] <= int(first[at]):
            _, number = heapq.heappop(free)
        else:
            number = len(free)
        lane[at] = number
        heapq.heappush(free, (int(last[at]), number))
    return lane, len(free)


def label_of(thread: Thread) -> str:
    """Return a readable name of a thread's process."""
    if thread.rank >= 0:
        return f"rank {thread.rank}"
    command = program_name(thread.command)
    if not thread.process:
        return command
    return f"{command} (pid {thread.process})" if command else f"pid {thread.process}"
