"""Access to a traced process's words for pacing. They describe its calls on a paced file system, and their waits."""

from __future__ import annotations

import ctypes
import platform
from typing import Final

import numpy as np

from ..records.ring_layout import HEADER, field_at

_FUTEX: Final = {"x86_64": 202, "aarch64": 98}.get(platform.machine())
_WAKE: Final = 1
_ALL: Final = 2**31 - 1
_libc = ctypes.CDLL(None, use_errno=True)
_WORD_AT: Final = field_at(HEADER, "pace_word")


class PaceWords:
    """The pacing words of one process. Valid as long as this object, even if the region is closed.

    A hostile process may have written any value, so readers must check bounds.

    Args:
        memory: memory of the process's first region.
        slots: slot records of that region.
    """

    def __init__(self, memory: memoryview, slots: np.ndarray[tuple[int], np.dtype[np.void]]) -> None:
        header = np.frombuffer(memory, HEADER, count=1)
        self.job = bytes(header["job"][0]).decode(errors="replace")
        self._paces = bool(header["paces"][0])
        self._word, self._device = header["pace_word"], header["pace_device"]
        self._until, self._moved = header["pace_until_ns"], header["paced_bytes"]
        self._waits, self._wait_ns = header["pace_waits"], header["pace_wait_ns"]
        self._calls = {0: slots["in_call_ns"]}
        self._word_at = ctypes.c_uint32.from_buffer(memory, _WORD_AT)

    def extend(self, extent: int, slots: np.ndarray[tuple[int], np.dtype[np.void]]) -> None:
        """Add the slots of a further region of the process."""
        self._calls[extent] = slots["in_call_ns"]

    @property
    def extents(self) -> int:
        """Number of known regions."""
        return len(self._calls)

    @property
    def takes_part(self) -> bool:
        """Whether the process supports pacing."""
        return self._paces and _FUTEX is not None

    @property
    def moved(self) -> int:
        """Bytes that its calls have moved on the file system."""
        return int(self._moved[0])

    @property
    def waited(self) -> tuple[int, int]:
        """Number of calls that waited, and their total waiting time, ns."""
        return int(self._waits[0]), int(self._wait_ns[0])

    @property
    def in_call_ns(self) -> int:
        """Start of the latest call that is running or waiting, CLOCK_MONOTONIC; 0: none."""
        return max(int(calls.max()) for calls in self._calls.values())

    def pace(self, device: int) -> None:
        """Enable reports and waits for calls on a file system (``st_dev``); 0: none."""
        self._device[0] = device

    def wait_until(self, until_ns: int) -> None:
        """Make calls wait until that time (CLOCK_MONOTONIC); calls that wait longer check again."""
        before = int(self._until[0])
        self._until[0] = until_ns
        if until_ns < before:
            self._word[0] = (int(self._word[0]) + 1) & 0xFFFFFFFF
            _libc.syscall(_FUTEX, ctypes.byref(self._word_at), _WAKE, _ALL, None, None, 0)

    @property
    def until_ns(self) -> int:
        """Time until which the calls wait."""
        return int(self._until[0])
