"""The log in a region's memory that says what the numbers in records mean."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import numpy.typing as npt

from .....events import ProtocolError
from .fences import STRONG, fence
from .ring_layout import ENTRY, ENTRY_PAD

_BYTES_A_LOOK: Final = 4 << 20
_ENOUGH: Final = 16


class Entry(NamedTuple):
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

    def __init__(self, memory: memoryview, header: npt.NDArray[Any], offset: int, size: int) -> None:
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

    def take(self, note: Callable[[bytes], None] = lambda entries: None) -> bytes:
        """Returns whole entries, a bounded number, up to the first that is still being written, and frees them.

        Args:
            note: is given them before.

        Raises:
            ProtocolError: an entry breaks the layout; the log is not read any further. What comes before it is
                returned by the call before.
        """
        head = self.head()
        if self._broken or head == self._tail:
            return b""
        if not 0 < head - self._tail <= self._size:
            self._broken = True
            raise ProtocolError(f"the log's head moved to {head}, from {self._tail}")
        begin = self._offset + self._tail % self._size
        room = min(head - self._tail, self._offset + self._size - begin, _BYTES_A_LOOK)
        taken = bytes(self._memory[begin : begin + room])
        end = end_of_entries(taken, self._offset + self._size - begin)
        if end < 0:
            self._broken = True
            raise ProtocolError("a definition breaks the layout")
        if end and not STRONG:  # what belongs to a size that was seen is read after it
            fence()
            taken = bytes(self._memory[begin : begin + end])
        note(taken[:end])
        self._memory[begin : begin + end] = bytes(end)
        fence()  # the room is empty before it is given back
        self._tail += end
        self._shown_tail[0] = self._tail
        return taken[:end]

    def close(self) -> None:
        """Lets go of the memory."""
        del self._head, self._shown_tail, self._memory
        self._broken = True


def entries_of(taken: bytes) -> Iterator[Entry]:
    """Yields the definitions in whole entries."""
    unpack, head, made = ENTRY.unpack_from, ENTRY.size, tuple.__new__  # a third of what Entry(...) takes
    at, end = 0, len(taken)
    while at < end:
        size, kind, length, number, aux = unpack(taken, at)
        if kind != ENTRY_PAD:
            text = at + head
            yield made(Entry, (kind, number, aux, taken[text : text + length]))
        at += size


def end_of_entries(taken: bytes, to_end: int) -> int:
    """Returns where the whole entries end that were committed; -1: the first breaks the layout."""
    at = 0
    while at + ENTRY.size <= len(taken):
        size, kind, length, _, _ = ENTRY.unpack_from(taken, at)
        if size == 0:
            break  # reserved, and not committed yet
        if size % ENTRY.size or size > to_end - at or (kind != ENTRY_PAD and length > size - ENTRY.size):
            return at or -1
        if at + size > len(taken):
            break  # more than we look at at once
        at += size
    return at
