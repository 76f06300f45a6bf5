"""Read the regions of short processes that have ended before the collector accepts them, without mapping the regions.

Mapping a region and watching a process take ten times as long as these copies. Regions with anything unusual are left
to ``Region``. The result is an entry of bytes per process, so that many pass from the compiled helper (``ended.c``)
through the spool to the analysis together.
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct
from collections.abc import Container, Iterator
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
from msgspec import Struct

from .....events.compiled import load
from ..records.definition_log import end_of_entries
from ..records.image_header import counts_of, unrecorded_in
from ..records.lines import Lines
from ..records.ring_layout import (
    CELL_LINES,
    CELL_LOG_AT,
    CELL_LOG_BYTES,
    CELL_RING_AT,
    CELL_SLOT_AT,
    ENTRY,
    HEADER,
    HEADER_BYTES,
    LAYOUT,
    LINE_BYTES,
    LINE_WORDS,
    MAGIC,
    MARK_WORDS,
    SLOT,
    field_at,
)
from .process_image import DrainReceiver

MAX_LINES: Final = 256
_MAX_LOG: Final = 32_768
_MAX_SLOTS: Final = 64
_SLOTS_END: Final = HEADER_BYTES + _MAX_SLOTS * SLOT.itemsize
_UNUSED_SLOTS: Final = bytes((_MAX_SLOTS - 1) * SLOT.itemsize)
_MARK_AT: Final = LINE_BYTES - 1
_LIMITS: Final = struct.Struct("<QIIQQIIIiQQQ")
"""magic to rings_offset."""
_RANKS: Final = struct.Struct("<ii")
_LOG: Final = struct.Struct("<QQ")
"""log_head, log_tail."""
_BEFORE: Final = struct.Struct("<QQ")
"""before_token, taken_before."""
_SLOT: Final = struct.Struct("<IiQQQQQQqQQ")
"""state to taken."""
_INT: Final = struct.Struct("<i")
_BOUNDS: Final = slice(field_at(HEADER, "bounds_met"), field_at(HEADER, "step"))
_RANKS_AT, _LOG_AT, _BEFORE_AT, _PARENT_AT = (
    field_at(HEADER, name) for name in ("rank", "log_head", "before_token", "ppid")
)

_HEAD: Final = struct.Struct("<IiQiIII")
"""Beginning of an entry: its size, pid in our namespace, token of the process image, id of its thread, number of lines,
size of the definitions, and whether any counter is not 0. The header of the region, the control block of the ring, the
lines and the definitions follow. An entry begins at a multiple of 8 bytes."""
_SLOT_AT: Final = _HEAD.size + HEADER.itemsize
_LINES_AT: Final = _SLOT_AT + SLOT.itemsize
_MAX_ENTRY: Final = _LINES_AT + MAX_LINES * LINE_BYTES + _MAX_LOG
_ROOM: Final = 8 * _MAX_ENTRY
"""Size of the memory for entries, which the compiled helper fills at once."""

_PATH: Final = os.path.normpath(__file__ + "/../../records/native/libiotide_records.so")
_POINTER, _U64, _U32, _I32 = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint32, ctypes.c_int32
_FUNCTIONS: Final[dict[str, tuple[Any, list[Any]]]] = {
    "ended_read": (_U64, [_I32, _I32, _U64, _POINTER]),
    "ended_accept": (_U64, [_I32, _I32, _U32, _POINTER, _U64, _POINTER]),
}
_MAX_BYTES: Final = 256
_MAX_DESCRIPTORS: Final = 4
_NONE_WAITS, _MORE_WAIT, _ACCEPT_FAILED, _PEER_UNREAD, _PEER_READ = range(5)


class EndedProcesses(NamedTuple):
    """Whole entries of processes that have ended."""

    data: bytes


class EndedProcess(Struct):
    """All data of a process image that has ended, which used one thread.

    Attributes:
        pid: pid in our namespace.
        token: token of the process image.
        header: header of its region.
        tid: id of its thread.
        lines: lines of its ring; they belong to the entry's memory.
        definitions: whole entries of its definitions log.
        is_counted: whether a counter of it is not 0.
        slot: control block of its ring.
    """

    pid: int
    token: int
    header: bytes
    tid: int
    lines: Lines
    definitions: bytes
    is_counted: bool
    slot: bytes

    def counts(self) -> dict[str, int]:
        """Return its counters that are not 0, by name."""
        if not self.is_counted:
            return {}
        _, _, _, full, _, sampled, sampled_bytes, full_bytes, *_ = _SLOT.unpack(self.slot[: _SLOT.size])
        counts = counts_of(self.header, full, sampled, sampled_bytes, full_bytes) | unrecorded_in(self.header)
        return {name: count for name, count in counts.items() if count}

    def pass_on(self, receiver: DrainReceiver) -> None:
        """Pass on everything, in the order in which a drain does."""
        receiver.image_started(self.token, self.pid, self.header, follows=False)
        if len(self.lines):
            receiver.lines(self.token, self.tid, self.lines)
        if self.definitions:
            receiver.definitions(self.token, self.definitions)
        if len(self.lines):
            receiver.settled(self.token)
        if counts := self.counts():
            rank, ranks = _RANKS.unpack_from(self.header, _RANKS_AT)
            receiver.counters(self.token, max(rank, -1), max(ranks, 0), counts)
        receiver.ended(self.token)


def ended_processes_in(data: bytes) -> Iterator[EndedProcess]:
    """Yield the processes of entries."""
    at = 0
    while at < len(data):
        size, pid, token, tid, count, log_bytes, counted = _HEAD.unpack_from(data, at)
        first = at + _LINES_AT
        lines = np.frombuffer(data, np.uint64, count * LINE_WORDS, first).reshape(-1, LINE_WORDS)
        log = first + count * LINE_BYTES
        yield EndedProcess(
            pid,
            token,
            data[at + _HEAD.size : at + _SLOT_AT],
            tid,
            lines,
            data[log : log + log_bytes],
            bool(counted),
            data[at + _SLOT_AT : first],
        )
        at += size


def identities_in(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield the position of each entry, and the pid and the token of its process."""
    at = 0
    while at < len(data):
        size, pid, token = _HEAD.unpack_from(data, at)[:3]
        yield at, pid, token
        at += size


def relatives_in(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the pid of each process in entries, and that of its parent as the process knows it."""
    for at, pid, _ in identities_in(data):
        yield pid, _INT.unpack_from(data, at + _HEAD.size + _PARENT_AT)[0]


def groups_in(data: bytes, pids: Container[int], tokens: Container[int]) -> Iterator[tuple[bytes, int, int]]:
    """Yield entries in order: one with a known pid or token alone and with these, others together and with 0, 0."""
    begin = 0
    for at, pid, token in identities_in(data):
        if pid not in pids and token not in tokens:
            continue
        if at > begin:
            yield data[begin:at], 0, 0
        begin = at + int(_HEAD.unpack_from(data, at)[0])
        yield data[at:begin], pid, token
    if begin < len(data):
        yield data[begin:], 0, 0


def lines_in(data: bytes) -> int:
    """Return the number of lines in entries."""
    at = lines = 0
    while at < len(data):
        size, _, _, _, count, _, _ = _HEAD.unpack_from(data, at)
        lines += count
        at += size
    return lines


def check_entries(data: bytes) -> None:
    """Validate entries of a file; raises ValueError."""
    at = 0
    while at < len(data):
        if len(data) - at < _LINES_AT:
            raise ValueError("a process that has ended is cut short")
        size, _, _, _, count, log_bytes, _ = _HEAD.unpack_from(data, at)
        log = at + _LINES_AT + count * LINE_BYTES
        if size != _LINES_AT + count * LINE_BYTES + log_bytes or size > _MAX_ENTRY or size > len(data) - at:
            raise ValueError(f"{size} bytes of a process with {count} lines and {log_bytes} bytes of definitions")
        if log_bytes and end_of_entries(data[log : log + log_bytes], log_bytes) != log_bytes:
            raise ValueError("a definition breaks the layout")
        at += size


def read_ended(descriptor: int, pid: int, token: int) -> bytes | None:
    """Read the region of a process that has ended; fallback of ``ended_read``.

    Args:
        descriptor: descriptor of the region, which cannot be truncated.
        pid: pid in our namespace.
        token: expected token of the process image.

    Returns:
        Its entry; None if the region must be mapped: it is long, has several threads, has dropped calls, is damaged, or
        has been read.
    """
    size, start = os.fstat(descriptor).st_size, os.pread(descriptor, _SLOTS_END, 0)
    if len(start) < _SLOTS_END:
        return None
    limits = _LIMITS.unpack_from(start)
    slots, ring_lines, log_bytes, _, slots_offset, log_offset, rings_offset = limits[5:]
    _, _, head, full, _, _, _, _, _, tail, taken = _SLOT.unpack_from(start, HEADER_BYTES)
    log_head, log_tail = _LOG.unpack_from(start, _LOG_AT)
    is_usual = (
        limits[:5] == (MAGIC, LAYOUT, 0, size, token)
        and (slots_offset, slots) == (HEADER_BYTES, _MAX_SLOTS)
        and (full, tail, taken, log_tail) == (0, 0, 0, 0)
        and head <= min(MAX_LINES, ring_lines)
        and log_head <= min(_MAX_LOG, log_bytes)
        and _BEFORE.unpack_from(start, _BEFORE_AT) == (0, 0)
        and start[HEADER_BYTES + SLOT.itemsize :] == _UNUSED_SLOTS
        and _SLOTS_END <= log_offset <= size - log_head
        and _SLOTS_END <= rings_offset <= size - head * LINE_BYTES
    )
    if not is_usual or ring_lines & (ring_lines - 1) or log_bytes % ENTRY.size:
        return None
    definitions = os.pread(descriptor, log_head, log_offset) if log_head else b""
    lines = os.pread(descriptor, head * LINE_BYTES, rings_offset) if head else b""
    if len(definitions) != log_head or len(lines) != head * LINE_BYTES or (head and lines[_MARK_AT] == MARK_WORDS):
        return None
    if log_head and end_of_entries(definitions, log_bytes) != log_head:  # a definition was being written
        return None
    return _entry(pid, start[: HEADER.itemsize], start[HEADER_BYTES : HEADER_BYTES + SLOT.itemsize], lines, definitions)


def read_cell(memory: memoryview, pid: int) -> bytes | None:
    """Read the cell of a process that has ended.

    Args:
        memory: memory of the cell.
        pid: pid in our namespace.

    Returns:
        Its entry; None if it must be read as a region, for the same reasons as in ``read_ended``.
    """
    start = bytes(memory[:CELL_RING_AT])
    limits = _LIMITS.unpack_from(start)
    _, _, head, full, _, _, _, _, _, tail, taken = _SLOT.unpack_from(start, CELL_SLOT_AT)
    log_head, log_tail = _LOG.unpack_from(start, _LOG_AT)
    is_usual = (
        limits[:4] == (MAGIC, LAYOUT, 0, len(memory))
        and limits[5:8] == (1, CELL_LINES, CELL_LOG_BYTES)
        and limits[9:] == (CELL_SLOT_AT, CELL_LOG_AT, CELL_RING_AT)
        and (full, tail, taken, log_tail) == (0, 0, 0, 0)
        and head <= CELL_LINES
        and log_head <= CELL_LOG_BYTES
        and _BEFORE.unpack_from(start, _BEFORE_AT) == (0, 0)
    )
    if not is_usual:
        return None
    definitions = bytes(memory[CELL_LOG_AT : CELL_LOG_AT + log_head])
    lines = bytes(memory[CELL_RING_AT : CELL_RING_AT + head * LINE_BYTES])
    if (head and lines[_MARK_AT] == MARK_WORDS) or (
        log_head and end_of_entries(definitions, CELL_LOG_BYTES) != log_head
    ):
        return None
    return _entry(pid, start[: HEADER.itemsize], start[CELL_SLOT_AT:], lines, definitions)


def _entry(pid: int, header: bytes, slot: bytes, lines: bytes, definitions: bytes) -> bytes:
    _, tid, head, full, _, sampled, sampled_bytes, full_bytes, *_ = _SLOT.unpack_from(slot)
    counts = counts_of(header, full, sampled, sampled_bytes, full_bytes)
    is_counted = any(counts.values()) or any(header[_BOUNDS]) or bool(unrecorded_in(header))
    size = _LINES_AT + len(lines) + len(definitions)
    token = _LIMITS.unpack_from(header)[4]
    head_of_entry = _HEAD.pack(size, pid, token, tid, head, len(definitions), is_counted)
    return b"".join((head_of_entry, header, slot, lines, definitions))


class _Left(ctypes.Structure):
    """Result of ``ended_accept``; ``ended.c`` has the same layout."""

    _fields_ = (
        ("status", _I32),
        ("accepted", _I32),
        ("peer", _I32),
        ("count", _I32),
        ("descriptors", _I32 * _MAX_DESCRIPTORS),
        ("bytes", _U32),
        ("message", ctypes.c_uint8 * _MAX_BYTES),
    )


class Accepted(Struct):
    """Result of accepting connections by the compiled helper.

    Attributes:
        data: entries of processes that have ended.
        count: number of accepted connections.
        none_waits: whether no further connection waits.
        failed: whether accepting failed; the caller must try and handle it.
        peer: the last of the connections, if the caller must handle it.
        received: the message of that connection and its descriptors; None: it was not read.
    """

    data: bytes
    count: int
    none_waits: bool
    failed: bool
    peer: socket.socket | None
    received: tuple[bytes, list[int]] | None


class EndedAcceptor:
    """Accepts connections by the compiled helper, and reads processes that have ended."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._accept = library.ended_accept
        self._left = _Left()
        self._entries = np.empty(_ROOM // 8, np.uint64)

    @classmethod
    def make(cls) -> EndedAcceptor | None:
        """Return an acceptor; None if the helper was not built."""
        library = native()
        return None if library is None else cls(library)

    def accept(self, listening: int, most: int) -> Accepted:
        """Accept connections until none waits, or one must be handled by the caller.

        Args:
            listening: descriptor of a listening socket that does not block.
            most: maximum number of connections.
        """
        left, entries = self._left, self._entries
        used = self._accept(listening, most, os.getuid(), entries.ctypes.data, entries.nbytes, ctypes.addressof(left))
        status, peer, received = left.status, None, None
        if status in (_PEER_UNREAD, _PEER_READ):
            peer = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET, 0, fileno=left.peer)
        if status == _PEER_READ:
            received = bytes(left.message[: left.bytes]), list(left.descriptors[: left.count])
        data = entries[: used // 8].tobytes()
        return Accepted(data, left.accepted, status == _NONE_WAITS, status == _ACCEPT_FAILED, peer, received)


@lru_cache(maxsize=1)
def native() -> ctypes.CDLL | None:
    """Return the compiled helper, or None if it was not built. Python then accepts and reads each process."""
    return load(_PATH, _FUNCTIONS)
