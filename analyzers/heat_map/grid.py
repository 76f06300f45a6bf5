"""Time in calls in a table of rows and bins that never outgrows its bounds: bins, and rows, get coarser instead."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

_BITS: Final = 23
BIN_NS: Final = 1 << _BITS
"""The finest bin, 8.4 ms; each coarser one is twice as long. Powers of two, as shifts take less than divisions."""
BINS: Final = 160
PLANES: Final = 3
"""Reads, writes, calls that move nothing."""
_AT_ONCE: Final = 4096  # events over several bins; each may have a part in every bin
_FEWER_EACH: Final = 4
_EXACT: Final = 2**53

Ints = npt.NDArray[np.int64]


class Grid:
    """Sums nanoseconds by row, plane and bin.

    The length of a bin and the sums depend on what was added, and neither on its order nor on how it was cut.

    Attributes:
        cells: int64[rows, PLANES, BINS], from bin ``low`` on; the number of rows grows with what is added.
        shift: a bin is ``BIN_NS << shift`` long.
    """

    def __init__(self) -> None:
        self.cells: Ints = np.zeros((0, PLANES, BINS), np.int64)
        self.shift = 0
        self.low = 0
        self._span: tuple[int, int] | None = None  # first and last bin of the finest kind

    @property
    def bin_ns(self) -> int:
        """Length of a bin."""
        return BIN_NS << self.shift

    @property
    def used(self) -> tuple[int, int]:
        """First bin that has something, and the one past the last."""
        if self._span is None:
            return 0, 0
        return self._span[0] >> self.shift, (self._span[1] >> self.shift) + 1

    def add(self, row: Ints, plane: Ints, start: Ints, end: Ints, busy: Ints) -> None:
        """Adds the time of calls, each spread evenly from its start to its end.

        Args:
            row: row of each call.
            plane: its plane.
            start: its start, ns, at least 0.
            end: its end, ns, after the start.
            busy: time that it took, ns.
        """
        if not len(row):
            return
        self._grow(int(row.max()) + 1)
        self._reach(int(start.min()) >> _BITS, (int(end.max()) - 1) >> _BITS)
        width, bits = self.bin_ns, _BITS + self.shift
        first, last = start >> bits, (end - 1) >> bits
        place = (row * PLANES + plane) * BINS - self.low
        is_within = first == last
        if is_within.all():
            self._sum(place + first, busy)
            return
        within, across = np.flatnonzero(is_within), np.flatnonzero(~is_within)
        self._sum((place + first)[within], busy[within])
        for at in range(0, len(across), _AT_ONCE):
            some = across[at : at + _AT_ONCE]
            count = last[some] - first[some] + 1
            of = np.repeat(some, count)
            bins = first[of] + np.arange(len(of)) - np.repeat(np.cumsum(count) - count, count)
            length = (end - start)[of]
            left = np.clip(bins * width - start[of], 0, length) / length
            right = np.clip((bins + 1) * width - start[of], 0, length) / length
            # The parts of a call add up to it however long the bins are, as each edge is rounded by itself.
            part = np.floor(busy[of] * right) - np.floor(busy[of] * left)
            self._sum(place[of] + bins, part.astype(np.int64))

    def fold_rows(self, first: int, count: int) -> None:
        """Adds up each two neighbours of ``count`` rows from ``first`` on; the upper half of them gets empty."""
        rows = self.cells[first : first + count]
        half = (len(rows) + 1) // 2
        summed = rows[0::2].copy()
        summed[: len(rows) // 2] += rows[1::2]
        rows[:half], rows[half:] = summed, 0

    def _sum(self, place: Ints, busy: Ints) -> None:
        if not len(place):
            return
        flat = self.cells.reshape(-1)
        low, high = int(place.min()), int(place.max()) + 1
        if high - low > _FEWER_EACH * len(place) or int(busy.max()) * len(busy) >= _EXACT:
            np.add.at(flat, place, busy)
        else:  # floats, exact up to 2**53, take a third of the time
            flat[low:high] += np.bincount(place - low, busy, high - low).astype(np.int64)

    def _grow(self, rows: int) -> None:
        if rows > len(self.cells):
            more = np.zeros((rows - len(self.cells), PLANES, BINS), np.int64)
            self.cells = np.concatenate([self.cells, more])

    def _reach(self, first: int, last: int) -> None:
        """Moves and coarsens the bins, so that those from ``first`` to ``last`` of the finest kind have a place."""
        before = self._span
        if before is not None:
            first, last = min(first, before[0]), max(last, before[1])
        self._span = (first, last)
        shift = self.shift
        while (last >> shift) - (first >> shift) >= BINS:
            shift += 1
        if before is None:
            self.shift, self.low = shift, first >> shift
        elif shift != self.shift or first >> shift < self.low or last >> shift >= self.low + BINS:
            low = first >> shift
            begin, end = before[0] >> self.shift, (before[1] >> self.shift) + 1
            held = np.arange(begin, end)
            target = (held >> (shift - self.shift)) - low
            self.cells = summed_bins(self.cells[:, :, held - self.low], target, BINS)
            self.shift, self.low = shift, low


def summed_bins(cells: Ints, target: Ints, bins: int) -> Ints:
    """Returns cells of other bins: what was in bin i is in bin ``target[i]`` of ``bins``."""
    summed = np.zeros((*cells.shape[:2], bins), np.int64)
    for at, to in enumerate(target.tolist()):
        summed[:, :, to] += cells[:, :, at]
    return summed
