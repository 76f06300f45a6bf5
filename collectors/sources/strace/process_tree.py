"""Who made whom: the processes and threads that strace's lines show being made."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from .line import Lines

MOST_THREADS: Final = 1 << 18
"""Threads whose process is remembered; of further ones each is a process of its own."""

MOST_PID: Final = 2**22
"""The highest that Linux gives."""

_THREAD: Final = b"CLONE_THREAD"


class Births:
    """Follows which process each thread belongs to: strace tells the number of the thread alone."""

    def __init__(self) -> None:
        self._process_of: dict[int, int] = {}

    def learn(self, data: bytes, calls: Lines) -> npt.NDArray[np.bool_]:
        """Takes in calls that made something, in their order.

        Args:
            data: what the extents in ``calls`` are of.
            calls: lines of clone, fork and the like, with what they returned.

        Returns:
            Which of them made a process: one that is no thread, and whose maker is told.
        """
        processes = (calls["pid"] > 0) & (calls["result"] > 0) & (calls["result"] <= MOST_PID)
        for at, (maker, made, (begin, end)) in enumerate(
            zip(*(calls[name].tolist() for name in ("pid", "result", "arguments")), strict=True)
        ):
            if not processes[at]:
                continue
            if data.find(_THREAD, begin, end) < 0:
                self._process_of.pop(made, None)
                continue
            processes[at] = False
            if made in self._process_of or len(self._process_of) < MOST_THREADS:
                self._process_of[made] = self._process_of.get(maker, maker)
        return processes

    def processes(self, threads: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
        """Returns the process of each thread, itself where that is not known."""
        if not self._process_of:
            return threads
        found, which = np.unique(threads, return_inverse=True)
        own = np.array([self._process_of.get(thread, thread) for thread in found.tolist()], np.uint32)
        processes: npt.NDArray[np.uint32] = own[which]
        return processes
