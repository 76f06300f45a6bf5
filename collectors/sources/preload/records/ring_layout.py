"""NumPy layout of the memory shared with a traced process; mirrors ``preload/ring.h``."""

from __future__ import annotations

import struct
from typing import Final

import numpy as np

MAGIC: Final = 0x00454449544F4931
LAYOUT: Final = 3
HEADER_BYTES: Final = 4096
HELLO: Final = struct.Struct("<QIIQQ")
"""magic, layout, extent, region_bytes, token."""

WORD: Final = struct.Struct("<QIi128s128s")
"""magic, layout, errno, job, command."""

HEADER: Final = np.dtype(
    [
        ("magic", "<u8"), ("layout", "<u4"), ("extent", "<u4"), ("region_bytes", "<u8"), ("token", "<u8"),
        ("slot_count", "<u4"), ("ring_lines", "<u4"), ("log_bytes", "<u4"), ("pid", "<i4"),
        ("slots_offset", "<u8"), ("log_offset", "<u8"), ("rings_offset", "<u8"), ("mounts", "<u8"),
        ("ppid", "<i4"), ("rank", "<i4"), ("ranks", "<i4"), ("wakes", "<u4"), ("clock_offset_ns", "<i8"),
        ("collector_seen_ns", "<i8"), ("lost_before", "<u8"), ("dropped_no_slot", "<u8"), ("dropped_reentrant", "<u8"),
        ("definitions_dropped", "<u8"), ("left_out", "<u8"), ("log_head", "<u8"), ("log_tail", "<u8"),
        ("job", "S128"), ("command", "S512"),
        ("lost_before_bytes", "<u8"), ("dropped_no_slot_bytes", "<u8"), ("dropped_reentrant_bytes", "<u8"),
        ("before_token", "<u8"), ("taken_before", "<u8"), ("children_unheard", "<u8"),
        ("bounds_met", "<u8", (16,)), ("step", "S32"),
        ("paces", "<u4"), ("pace_word", "<u4"), ("pace_device", "<u8"), ("pace_until_ns", "<i8"),
        ("paced_bytes", "<u8"), ("pace_waits", "<u8"), ("pace_wait_ns", "<u8"), ("missed_before", "<u8"),
        ("unrecorded_streams", "<u8"), ("unrecorded_bytes", "<u8"),
    ]
)  # fmt: skip
BOUNDS: Final = (
    *("descriptors", "handles", "contended", "forked_files", "mappings", "path_buffers", "paths", "texts", "nested"),
    *("copies", "callers", "operations", "thread_memory", "mpi_files", "dimensions", "streams"),
)
"""``enum iotide_bound``: the counters of ``bounds_met``."""

SLOT: Final = np.dtype(
    [
        ("state", "<u4"), ("tid", "<i4"), ("head", "<u8"), ("dropped_full", "<u8"), ("made", "<u8"),
        ("sampled_out", "<u8"), ("sampled_out_bytes", "<u8"), ("dropped_bytes", "<u8"), ("in_call_ns", "<i8"),
        ("tail", "<u8"), ("taken", "<u8"), ("pad1", "V48"),
    ]
)  # fmt: skip
RECORD: Final = np.dtype(
    [
        ("start", "<i8"), ("duration", "<i8"), ("offset", "<i8"), ("requested", "<i8"), ("bytes", "<i8"),
        ("handle", "<u4"), ("parent", "<u4"), ("file", "<u4"), ("descriptor", "<i4"),
        ("call", "<u2"), ("flags", "<u2"), ("words", "u1"), ("kind", "u1"), ("errno", "u1"), ("depth", "u1"),
    ]
)  # fmt: skip
LINE_BYTES: Final = 64
LINE_WORDS: Final = LINE_BYTES // 8
WORDS_PER_LINE: Final = 7
MARK_WORDS: Final = 0xFF
"""Last byte of a line of words, where a record has its depth."""
MAX_WORDS: Final = 64
MAX_WORD_LINES: Final = -(-MAX_WORDS // WORDS_PER_LINE)

COLLECTOR_ASLEEP: Final = 2
"""Value of ``wakes``. The process must wake the collector when much data waits. 0: the process cannot do so."""

ENTRY: Final = struct.Struct("<IHHII")
"""size, type, length of the text that follows, number, aux."""
ENTRY_PAD: Final = 0
ENTRY_FILE: Final = 1
ENTRY_STRING: Final = 2
ENTRY_CALL: Final = 3
ENTRY_HANDLE: Final = 4
ENTRY_UNSEEN: Final = 5

CELLS_AT: Final = 2048
"""Offset of the table of cells in a first region."""
CELLS: Final = np.dtype(
    [("offset", "<u8"), ("count", "<u4"), ("cell_bytes", "<u4"), ("open", "<u4"), ("begun", "<u4")]
)  # fmt: skip
"""The beginning of that table; a ``CELL`` per cell follows."""
CELL: Final = np.dtype([("pid", "<i4"), ("stage", "<u4")])
MAX_CELLS: Final = 240
CELL_BYTES: Final = 40_960
CELL_LINES: Final = 64
CELL_LOG_BYTES: Final = 32_768
CELL_SLOT_AT: Final = 1280
CELL_RING_AT: Final = CELL_SLOT_AT + SLOT.itemsize
CELL_LOG_AT: Final = CELL_RING_AT + CELL_LINES * LINE_BYTES
CELL_LEFT: Final = 1
"""Bit of ``stage``: the process continues in an extent."""

MAX_HEADER_VALUES: Final = {"slot_count": 4096, "ring_lines": 1 << 23, "log_bytes": 1 << 26}

if RECORD.itemsize != LINE_BYTES or SLOT.itemsize != 128 or HEADER.itemsize > HEADER_BYTES:
    raise AssertionError("the layout does not mirror ring.h")


def field_at(record: np.dtype[np.void], name: str) -> int:
    """Return the byte offset of a field in a record."""
    assert record.fields is not None  # noqa: S101  (it has some)
    return int(record.fields[name][1])
