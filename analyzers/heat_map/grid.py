"""Time in calls in a bounded table of rows and bins. Bins and rows become coarser instead of growing."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

_BITS: Final = 23
BIN_NS: Final = 1 << _BITS
"""Finest bin, 8.4 ms; each coarser one is twice as long. Powers of two, since shifts are faster than divisions."""
BINS: Final = 160
PLANES: Final = 3
"""Reads, writes, and calls that move no bytes."""
_AT_ONCE: Final = 4096  # events across several bins; each may have a part in every bin
_FEWER_EACH: Final = 4  # range per value up to which a dense sum is faster
_EXACT: Final = 2**53  # bound of exact integers in float64

Ints = npt.NDArray[np.int64]


class Grid:
    """Sums nanoseconds by row, plane and bin.

    Bin length and sums depend on the added data only, not on their order or split.

    Attributes:
        cells: int64[rows, PLANES, BINS], from bin ``low`` on; rows grow with the data.
        shift: a bin is ``BIN_NS << shift`` ns long.
    """

    def __init__(self) -> None:
        self.cells: Ints = np.zeros((0, PLANES, BINS), np.int64)
        self.shift = 0
        self.low = 0
        self._span: tuple[int, int] | None = None  # first and last bin at the finest length

    @property
    def bin_ns(self) -> int:
        """Length of a bin, ns."""
        return BIN_NS << self.shift

    @property
    def used(self) -> tuple[int, int]:
        """First bin with data, and one after the last."""
        if self._span is None:
            return 0, 0
        return self._span[0] >> self.shift, (self._span[1] >> self.shift) + 1

    def add(self, row: Ints, plane: Ints, start: Ints, end: Ints, busy: Ints) -> None:
        """Add the time of calls, each spread evenly from its start to its end.

        Args:
            row: row of each call.
            plane: plane of each call.
            start: start of each call, ns, at least 0.
            end: end of each call, ns, after the start.
            busy: time of each call, ns.
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
            # The parts of a call always add up to its time, since each edge is rounded independently.
            part = np.floor(busy[of] * right) - np.floor(busy[of] * left)
            self._sum(place[of] + bins, part.astype(np.int64))

    def fold_rows(self, first: int, count: int) -> None:
        """Sum pairs of neighbours among ``count`` rows from ``first`` on; the upper half becomes empty."""
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
        else:  # floats are exact up to 2**53 and three times as fast
            flat[low:high] += np.bincount(place - low, busy, high - low).astype(np.int64)

    def _grow(self, rows: int) -> None:
        if rows > len(self.cells):
            more = np.zeros((rows - len(self.cells), PLANES, BINS), np.int64)
            self.cells = np.concatenate([self.cells, more])

    def _reach(self, first: int, last: int) -> None:
        """Shift and coarsen the bins to include a range.

        The range is that from ``first`` to ``last`` at the finest length.
        """
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
    """Rebin cells: the content of bin i goes to bin ``target[i]`` of ``bins``."""
    summed = np.zeros((*cells.shape[:2], bins), np.int64)
    for at, to in enumerate(target.tolist()):
        summed[:, :, to] += cells[:, :, at]
    return summed
