"""What a traced process says of its calls on a paced file system, and the words that have them wait."""

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
    """The words of one process; they stay valid as long as this object, also when the region is closed meanwhile.

    Everything may have been written by a hostile process: who reads it bounds it.

    Args:
        memory: of the process's first region.
        slots: records of its slots.
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
        """Takes in the slots of a further region of the process."""
        self._calls[extent] = slots["in_call_ns"]

    @property
    def extents(self) -> int:
        """How many regions it knows."""
        return len(self._calls)

    @property
    def takes_part(self) -> bool:
        """Whether the process looks at these words."""
        return self._paces and _FUTEX is not None

    @property
    def moved(self) -> int:
        """Bytes that its calls have moved on the file system."""
        return int(self._moved[0])

    @property
    def waited(self) -> tuple[int, int]:
        """How many calls waited, and how long together, ns."""
        return int(self._waits[0]), int(self._wait_ns[0])

    @property
    def in_call_ns(self) -> int:
        """When the latest call began that goes on or waits, CLOCK_MONOTONIC; 0: none does."""
        return max(int(calls.max()) for calls in self._calls.values())

    def pace(self, device: int) -> None:
        """Has its calls on a file system (``st_dev``) be told of, and wait; 0: none."""
        self._device[0] = device

    def wait_until(self, until_ns: int) -> None:
        """Has the calls wait until then, CLOCK_MONOTONIC; those that wait longer look again."""
        before = int(self._until[0])
        self._until[0] = until_ns
        if until_ns < before:
            self._word[0] = (int(self._word[0]) + 1) & 0xFFFFFFFF
            _libc.syscall(_FUTEX, ctypes.byref(self._word_at), _WAKE, _ALL, None, None, 0)

    @property
    def until_ns(self) -> int:
        """Until when the calls wait."""
        return int(self._until[0])
