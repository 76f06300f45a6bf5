"""Read the definitions log in a region's memory. It maps the numbers in records to their meaning."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import numpy.typing as npt

from .....events import ProtocolError
from .fences import STRONG, fence
from .ring_layout import ENTRY, ENTRY_PAD

_MAX_BYTES_PER_TAKE: Final = 4 << 20
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
        header: header of the region; the process advances ``log_head``, the collector advances ``log_tail``.
        offset: offset of the log in the region.
        size: size of the log, bytes.
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
        """Return the position before which all used definitions have been begun.

        They are those that records written so far use.
        """
        return int(self._head[0])

    @property
    def is_filling(self) -> bool:
        """True if a considerable part of the log waits to be read."""
        return self.head() - self._tail >= self._size // _ENOUGH

    def has_read(self, position: int) -> bool:
        """Return whether ``read`` has reached a position, or never will."""
        return self._broken or self._tail >= position

    def take(self, note: Callable[[bytes], None] = lambda entries: None) -> bytes:
        """Return and frees whole entries, a bounded number. It stops at the first that is still being written.

        Args:
            note: function called with the entries before they are freed.

        Raises:
            ProtocolError: an entry violates the layout; the log is not read any further. Entries before it were
                returned by the previous call.
        """
        head = self.head()
        if self._broken or head == self._tail:
            return b""
        if not 0 < head - self._tail <= self._size:
            self._broken = True
            raise ProtocolError(f"the log's head moved to {head}, from {self._tail}")
        begin = self._offset + self._tail % self._size
        room = min(head - self._tail, self._offset + self._size - begin, _MAX_BYTES_PER_TAKE)
        taken = bytes(self._memory[begin : begin + room])
        end = end_of_entries(taken, self._offset + self._size - begin)
        if end < 0:
            self._broken = True
            raise ProtocolError("a definition breaks the layout")
        # read the content again after the size, because weakly ordered processors may have loaded it earlier
        if end and not STRONG:
            fence()
            taken = bytes(self._memory[begin : begin + end])
        note(taken[:end])
        self._memory[begin : begin + end] = bytes(end)
        fence()  # clear the entries before their space is released
        self._tail += end
        self._shown_tail[0] = self._tail
        return taken[:end]

    def close(self) -> None:
        """Releases the memory."""
        del self._head, self._shown_tail, self._memory
        self._broken = True


def entries_of(taken: bytes) -> Iterator[Entry]:
    """Yield the definitions in whole entries."""
    unpack, head, made = ENTRY.unpack_from, ENTRY.size, tuple.__new__  # takes a third of the time of Entry(...)
    at, end = 0, len(taken)
    while at < end:
        size, kind, length, number, aux = unpack(taken, at)
        if kind != ENTRY_PAD:
            text = at + head
            yield made(Entry, (kind, number, aux, taken[text : text + length]))
        at += size


def end_of_entries(taken: bytes, to_end: int) -> int:
    """Return the end of the whole, committed entries; -1: the first violates the layout."""
    at = 0
    while at + ENTRY.size <= len(taken):
        size, kind, length, _, _ = ENTRY.unpack_from(taken, at)
        if size == 0:
            break  # reserved, and not committed yet
        if size % ENTRY.size or size > to_end - at or (kind != ENTRY_PAD and length > size - ENTRY.size):
            return at or -1
        if at + size > len(taken):
            break  # beyond the bytes that are examined at once
        at += size
    return at
