"""Track parents of processes and threads from strace's lines."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from .line import Lines

MAX_THREADS: Final = 1 << 18
"""Maximum number of threads whose process is stored. Each further thread counts as its own process."""

MAX_PID: Final = 2**22
"""Maximum pid of Linux."""

_THREAD: Final = b"CLONE_THREAD"


class ProcessTree:
    """Maps threads to processes, because strace states only the thread id."""

    def __init__(self) -> None:
        self._process_of: dict[int, int] = {}

    def add_forks(self, data: bytes, calls: Lines) -> npt.NDArray[np.bool_]:
        """Process calls that created processes or threads, in their order.

        Args:
            data: data to which the extents in ``calls`` refer.
            calls: lines of clone, fork and similar calls, with their return values.

        Returns:
            Mask of the calls that created a process (not a thread) with a known parent.
        """
        processes = (calls["pid"] > 0) & (calls["result"] > 0) & (calls["result"] <= MAX_PID)
        for at, (parent, child, (begin, end)) in enumerate(
            zip(*(calls[name].tolist() for name in ("pid", "result", "arguments")), strict=True)
        ):
            if not processes[at]:
                continue
            if data.find(_THREAD, begin, end) < 0:
                self._process_of.pop(child, None)
                continue
            processes[at] = False
            if child in self._process_of or len(self._process_of) < MAX_THREADS:
                self._process_of[child] = self._process_of.get(parent, parent)
        return processes

    def processes(self, threads: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
        """Return the process of each thread, the thread itself if unknown."""
        if not self._process_of:
            return threads
        found, which = np.unique(threads, return_inverse=True)
        own = np.array([self._process_of.get(thread, thread) for thread in found.tolist()], np.uint32)
        processes: npt.NDArray[np.uint32] = own[which]
        return processes
