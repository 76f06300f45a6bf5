"""Cells in the region of a process, in which its forked children begin (``preload/ring.h``).

A child claims a cell by its pid, and describes itself in it as in a region. The collector reads the cell of a process
that has ended, or treats that of a running process as its first region, and then clears and frees it. A child that
needs more room hands over an extent, and says so in the cell before.
"""

from __future__ import annotations

import threading
from typing import Final, NamedTuple

import numpy as np

from ..records.fences import fence
from ..records.ring_layout import (
    CELL_BYTES,
    CELL_LEFT,
    CELL_LOG_AT,
    CELL_LOG_BYTES,
    CELL_RING_AT,
    CELLS,
    CELLS_AT,
    HEADER,
    HEADER_BYTES,
    LINE_BYTES,
    MAX_CELLS,
    field_at,
)
from .watching import MAX_PID

_PID_MASK: Final = 0xFFFF_FFFF
_STAGE_SHIFT: Final = 32
_LOG_HEAD: Final = slice(at := field_at(HEADER, "log_head"), at + 8)
_PARENT: Final = slice(at := field_at(HEADER, "ppid"), at + 4)
_TOKEN: Final = slice(at := field_at(HEADER, "token"), at + 8)
_BEGUN: Final = slice(at := field_at(HEADER, "collector_seen_ns"), at + 8)


class Cell(NamedTuple):
    """A cell that a process has claimed."""

    order: int
    """Number among the children that began in these cells; 0: it is still beginning, or the cell is damaged."""
    place: int
    pid: int
    has_left: bool
    """Whether the process continues in an extent, which may not have arrived."""


class Cells:
    """The cells of one region.

    Args:
        memory: the region.
        offset: offset of the first cell.
        count: number of cells.
    """

    def __init__(self, memory: memoryview, offset: int, count: int) -> None:
        self._memory = memory
        self._offset = offset
        self._table = np.frombuffer(memory, CELLS, 1, CELLS_AT)
        self._words = np.frombuffer(memory, "<u8", count, CELLS_AT + CELLS.itemsize)
        self._taken: set[int] = set()
        self.first_seen_s: dict[tuple[int, int], float] = {}
        """Time at which a running process was first seen, by place and pid."""
        self.first_claimed_ns: dict[tuple[int, int], int] = {}
        """Time at which a claimed cell was first seen (CLOCK_MONOTONIC), by place and pid."""
        self.closed_s: float | None = None
        """Time since which no process begins in them."""

    @classmethod
    def of(cls, memory: memoryview) -> Cells | None:
        """Return the cells of a first region; None: it has none, or no valid ones."""
        table = np.frombuffer(memory, CELLS, 1, CELLS_AT)[0]
        offset, count = int(table["offset"]), int(table["count"])
        end = offset + count * CELL_BYTES
        if not 0 < count <= MAX_CELLS or int(table["cell_bytes"]) != CELL_BYTES or end > len(memory):
            return None
        return cls(memory, offset, count) if offset >= HEADER_BYTES and offset % LINE_BYTES == 0 else None

    def open(self) -> None:
        """Let children begin in the cells."""
        self._table["open"] = 1

    def close(self, now_s: float) -> None:
        """Let no further child begin in the cells. One that is beginning is seen by a later ``begun``."""
        if self.closed_s is None:
            self._table["open"] = 0
            self.closed_s = now_s
        with threading.Lock():  # a complete fence: stores of states by children precede their check of ``open``
            pass

    @property
    def are_used(self) -> bool:
        """Whether a cell is claimed."""
        return bool(self._words.any())

    def begun(self) -> list[Cell]:
        """Return the claimed cells that no image has, in the order in which their processes began."""
        if not self._words.any():
            return []
        words = self._words.copy()
        fence()  # the content of a cell is read after its state
        found = []
        for place in np.flatnonzero(words).tolist():
            if place not in self._taken:
                word = int(words[place])
                stage = word >> _STAGE_SHIFT
                pid = word & _PID_MASK
                is_pid = pid <= MAX_PID  # otherwise the table is damaged
                found.append(Cell(stage >> 1 if is_pid else 0, place, pid, bool(stage & CELL_LEFT)))
        return sorted(found)

    def is_unread(self, cell: Cell) -> bool:
        """Return whether a claimed cell has neither been taken nor freed since."""
        return cell.place not in self._taken and int(self._words[cell.place]) & _PID_MASK == cell.pid

    def take(self, place: int) -> memoryview:
        """Return the memory of a cell, which ``begun`` returns no longer."""
        self._taken.add(place)
        return self.memory(place)

    def has_begun(self, place: int) -> bool:
        """Return whether the process of a claimed cell has described itself; False if the cell is damaged."""
        word = int(self._words[place])
        return word >> _STAGE_SHIFT > CELL_LEFT and word & _PID_MASK <= MAX_PID

    def has_left(self, place: int) -> bool:
        """Return whether the process of a cell continues in an extent."""
        return bool(int(self._words[place]) >> _STAGE_SHIFT & CELL_LEFT)

    def memory(self, place: int) -> memoryview:
        """Return the memory of a cell."""
        begin = self._offset + place * CELL_BYTES
        return self._memory[begin : begin + CELL_BYTES]

    def parent(self, place: int) -> int:
        """Return the pid of the parent of a cell's process."""
        return int.from_bytes(self.memory(place)[_PARENT], "little", signed=True)

    def token(self, place: int) -> int:
        """Return the token of a cell's process image."""
        return int.from_bytes(self.memory(place)[_TOKEN], "little")

    def begun_ns(self, place: int) -> int:
        """Return when the process began there (CLOCK_MONOTONIC); only before its image is read."""
        return int.from_bytes(self.memory(place)[_BEGUN], "little", signed=True)

    def free(self, place: int) -> None:
        """Clear a cell and give it back; its process has ended."""
        memory = self.memory(place)
        used = int.from_bytes(memory[_LOG_HEAD], "little")
        log_bytes = used if used <= CELL_LOG_BYTES else CELL_LOG_BYTES
        memory[CELL_LOG_AT : CELL_LOG_AT + log_bytes] = bytes(log_bytes)
        memory[:CELL_RING_AT] = bytes(CELL_RING_AT)
        fence()  # clear it before another process may claim it
        self._taken.discard(place)
        self._words[place] = 0
