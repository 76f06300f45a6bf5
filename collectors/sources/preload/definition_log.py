"""The log in a region's memory that says what the numbers in records mean."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy.typing as npt

from ....events import ProtocolError
from .ring_layout import ENTRY, ENTRY_PAD

_ENTRIES_A_LOOK: Final = 65_536
_ENOUGH: Final = 16


@dataclass(frozen=True, slots=True)
class Entry:
    """One definition."""

    type: int
    number: int
    aux: int
    text: bytes


class DefinitionLog:
    """Reads entries in the order in which they were begun, and frees them.

    Args:
        memory: the region.
        header: its header; ``log_head`` moves while we read, ``log_tail`` is ours.
        offset: where the log begins in the region.
        size: bytes of the log.
    """

    def __init__(self, memory: mmap.mmap, header: npt.NDArray[Any], offset: int, size: int) -> None:
        self._memory = memory
        self._head = header["log_head"]
        self._shown_tail = header["log_tail"]
        self._offset = offset
        self._size = size
        self._tail = int(self._shown_tail[0])
        self._broken = False

    def head(self) -> int:
        """Returns the position up to which definitions have been begun; all that use them follow it in time."""
        return int(self._head[0])

    @property
    def is_filling(self) -> bool:
        """True when a good part of the log waits to be read."""
        return self.head() - self._tail >= self._size // _ENOUGH

    def has_read(self, position: int) -> bool:
        """Tells whether ``read`` has come to a position, or never will."""
        return self._broken or self._tail >= position

    def read(self) -> Iterator[Entry]:
        """Yields a bounded number of entries, up to the first that is still being written.

        Raises:
            ProtocolError: an entry breaks the layout; the log is not read any further.
        """
        head = self.head()
        if self._broken or head == self._tail:
            return
        if not 0 < head - self._tail <= self._size:
            self._broken = True
            raise ProtocolError(f"the log's head moved to {head}, from {self._tail}")
        for _ in range(_ENTRIES_A_LOOK):
            if self._tail >= head:
                return
            at = self._offset + self._tail % self._size
            size, kind, length, number, aux = ENTRY.unpack_from(self._memory, at)
            if size == 0:
                return  # reserved, and not committed yet
            if size % ENTRY.size or size > self._offset + self._size - at:
                self._broken = True
                raise ProtocolError(f"a definition of {size} bytes breaks the layout")
            if kind != ENTRY_PAD and length > size - ENTRY.size:
                self._broken = True
                raise ProtocolError(f"a definition's text of {length} bytes breaks the layout")
            text = self._memory[at + ENTRY.size : at + ENTRY.size + length] if kind != ENTRY_PAD else b""
            self._memory[at : at + size] = bytes(size)
            self._tail += size
            self._shown_tail[0] = self._tail
            if kind != ENTRY_PAD:
                yield Entry(kind, number, aux, text)

    def close(self) -> None:
        """Lets go of the memory."""
        del self._head, self._shown_tail
        self._broken = True
