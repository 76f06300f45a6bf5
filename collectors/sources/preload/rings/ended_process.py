"""Read the region of a short process that has ended before the collector accepts it, without mapping the region.

Mapping a region and watching a process take ten times as long as these copies. Regions with anything unusual are left
to ``Region``.
"""

from __future__ import annotations

import os
import select
import struct
from dataclasses import dataclass
from typing import Final

import numpy as np

from ..records.definition_log import end_of_entries
from ..records.lines import Lines
from ..records.ring_layout import (
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
from .region import counts_of
from .watching import GONE

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
_RANKS_AT, _LOG_AT, _BEFORE_AT = (field_at(HEADER, name) for name in ("rank", "log_head", "before_token"))


@dataclass(slots=True)
class EndedProcess:
    """All data of a process image that has ended, which used one thread.

    Attributes:
        pid: pid in our namespace.
        token: token of the process image.
        header: header of its region.
        tid: id of its thread.
        lines: lines of its ring.
        definitions: whole entries of its definitions log.
        counts: its counters that are not 0, by name.
    """

    pid: int
    token: int
    header: bytes
    tid: int
    lines: Lines
    definitions: bytes
    counts: dict[str, int]

    def pass_on(self, receiver: DrainReceiver) -> None:
        """Pass on everything, in the order in which a drain does."""
        receiver.image_started(self.token, self.pid, self.header, follows=False)
        if len(self.lines):
            receiver.lines(self.token, self.tid, self.lines)
        if self.definitions:
            receiver.definitions(self.token, self.definitions)
        if len(self.lines):
            receiver.settled(self.token)
        if self.counts:
            rank, ranks = _RANKS.unpack_from(self.header, _RANKS_AT)
            receiver.counters(self.token, max(rank, -1), max(ranks, 0), self.counts)
        receiver.ended(self.token)


def has_ended(watch: int) -> bool:
    """Return whether the process of a pidfd has ended; False if that is unknown."""
    if watch < 0:
        return watch == GONE
    asking = select.poll()  # select() does not support descriptors from 1,024 on
    asking.register(watch, select.POLLIN)
    return bool(asking.poll(0))


def read_ended(descriptor: int, pid: int, token: int) -> EndedProcess | None:
    """Read the region of a process that has ended.

    Args:
        descriptor: descriptor of the region, which cannot be truncated.
        pid: pid in our namespace.
        token: expected token of the process image.

    Returns:
        Its data; None if the region must be mapped: it is long, has several threads, has dropped calls, is damaged, or
        has been read.
    """
    size, start = os.fstat(descriptor).st_size, os.pread(descriptor, _SLOTS_END, 0)
    if len(start) < _SLOTS_END:
        return None
    limits = _LIMITS.unpack_from(start)
    slots, ring_lines, log_bytes, _, slots_offset, log_offset, rings_offset = limits[5:]
    _, tid, head, full, _, sampled, sampled_bytes, full_bytes, _, tail, taken = _SLOT.unpack_from(start, HEADER_BYTES)
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
    counts = counts_of(start, full, sampled, sampled_bytes, full_bytes)
    return EndedProcess(
        pid,
        token,
        start[: HEADER.itemsize],
        tid,
        np.frombuffer(lines, np.uint64).reshape(-1, LINE_WORDS),
        definitions,
        {name: count for name, count in counts.items() if count},
    )
