"""Phases of a job by file system: a bounded table of time ranges with sums."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.int64]
LANE, START, END, LONGEST, READ, WRITTEN, CALLS, BUSY, METADATA, METADATA_BUSY = range(10)
"""Columns; times are ns. LANE: twice the place, plus one for metadata calls. LONGEST: longest metadata call. BUCKETS
and
following: number of metadata calls by duration.
"""
BUCKETS: Final = 10
BUCKET_COUNT: Final = 28
WIDTH: Final = BUCKETS + BUCKET_COUNT
SHORTEST_BITS: Final = 10  # bits of the first bucket's upper bound, ns
_LARGE: Final = 2**44  # a million such values fit in int64
_SATURATION: Final = 2**62  # value at which sums saturate
METADATA_WAY: Final = 3
PIECE_NS: Final = 60 * 10**9
"""Length of the time pieces in which a phase is stored. A phase without end is then bounded."""


class PhaseTable:
    """Phases: time ranges in which events follow one another with pauses of at most ``gap_ns``.

    The phases are independent of the order and split of events, until the oldest are dropped.

    Args:
        gap_ns: maximum pause within a phase.
        bound: maximum number of phases.

    Attributes:
        rows: phases, int64[n, columns], by lane and start; bucket columns up to the last used one.
        dropped: number of phases dropped for later ones.
    """

    def __init__(self, gap_ns: int, bound: int) -> None:
        self.rows: Rows = np.zeros((0, BUCKETS), np.int64)
        self.dropped = 0
        self._gap = gap_ns
        self._bound = bound

    def add(self, fresh: Rows) -> None:
        """Add rows, in any order."""
        fresh = fresh[:, : self._widened(fresh)]
        first, last = int(fresh[:, START].min()) - self._gap, int(fresh[:, END].max()) + self._gap
        near = (self.rows[:, END] >= first) & (self.rows[:, START] <= last)
        if len(fresh) == 1 and self._extends_one_phase(np.flatnonzero(near), fresh[0]):
            return
        joined = self._joined(np.concatenate([self.rows[near], fresh]))
        rows = np.concatenate([self.rows[~near], joined])
        self.rows = rows[np.lexsort((rows[:, START], rows[:, LANE]))]
        if len(self.rows) > self._bound:
            self._drop()

    def _widened(self, fresh: Rows) -> int:
        """Extend the table to the used buckets, which are few or none. It returns the number of columns."""
        used = np.flatnonzero(fresh[:, BUCKETS:].any(axis=0))
        width = BUCKETS + (int(used[-1]) + 1 if len(used) else 0)
        if width > self.rows.shape[1]:
            self.rows = np.pad(self.rows, ((0, 0), (0, width - self.rows.shape[1])))
        return int(self.rows.shape[1])

    def _extends_one_phase(self, near: npt.NDArray[np.intp], row: Rows) -> bool:
        """Add a row to the only phase near it (the common case).

        False if there is not exactly one, or it does not match.
        """
        if len(near) != 1:
            return False
        before = self.rows[near[0]]
        if before[LANE] != row[LANE] or before[START] // PIECE_NS != row[START] // PIECE_NS:
            return False
        if int(before[READ:].max()) >= _LARGE or int(row[READ:].max()) >= _LARGE:
            return False
        start, end, longest = (
            min(before[START], row[START]),
            max(before[END], row[END]),
            max(before[LONGEST], row[LONGEST]),
        )
        before[READ:] += row[READ:]
        before[START], before[END], before[LONGEST] = start, end, longest
        return True

    def _joined(self, rows: Rows) -> Rows:
        piece = rows[:, START] // PIECE_NS
        order = np.lexsort((rows[:, START], piece, rows[:, LANE]))
        rows, piece = rows[order], piece[order]
        apart = (rows[1:, LANE] != rows[:-1, LANE]) | (piece[1:] != piece[:-1])
        until = rows[:, END].copy()
        borders = [0, *(np.flatnonzero(apart) + 1).tolist(), len(rows)]
        for begin, stop in pairwise(borders):
            if stop - begin > 1:
                np.maximum.accumulate(until[begin:stop], out=until[begin:stop])
        starts = np.flatnonzero(np.r_[True, apart | (rows[1:, START] - until[:-1] > self._gap)])
        if int(rows[:, READ:].max()) < _LARGE:
            made = np.add.reduceat(rows, starts)
        else:
            made = np.minimum(np.add.reduceat(rows.astype(np.float64), starts), _SATURATION).astype(np.int64)
        made[:, LANE], made[:, START] = rows[starts, LANE], rows[starts, START]
        made[:, END] = np.maximum.reduceat(rows[:, END], starts)
        made[:, LONGEST] = np.maximum.reduceat(rows[:, LONGEST], starts)
        return made

    def _drop(self) -> None:
        """Drop the oldest phases of the lanes with the most phases."""
        lane = self.rows[:, LANE]
        counts = np.bincount(lane)
        keep = 1
        while int(np.minimum(counts, keep + 1).sum()) <= self._bound:  # never reaches all of them
            keep += max(1, (self._bound - int(np.minimum(counts, keep + 1).sum())) // len(counts))
        from_end = np.cumsum(counts)[lane] - np.arange(len(lane))  # 1 for the last phase of a lane
        kept = from_end <= keep
        self.dropped += len(lane) - int(kept.sum())
        self.rows = self.rows[kept]


def rows_of(place: Rows, way: npt.NDArray[np.int64], sums: Rows, start: Rows, end: Rows, longest: Rows) -> Rows:
    """Return table rows for sums of events.

    Args:
        place: place of each sum, int64[n].
        way: 0 read, 1 write, 2 flush; METADATA_WAY plus the bucket for metadata calls.
        sums: bytes, calls and time in calls, int64[n, 3].
        start: start of each sum's events, ns.
        end: end of each sum's events, ns.
        longest: longest call of each sum, ns.
    """
    made = np.zeros((len(place), WIDTH), np.int64)
    made[:, LANE], made[:, START], made[:, END] = 2 * place + (way >= METADATA_WAY), start, end
    moved, calls, busy = sums.T
    is_metadata = way >= METADATA_WAY
    made[:, READ] = np.where(way == 0, moved, 0)
    made[:, WRITTEN] = np.where(way == 1, moved, 0)
    made[:, CALLS] = np.where(is_metadata, 0, calls)
    made[:, BUSY] = np.where(is_metadata, 0, busy)
    made[:, METADATA] = np.where(is_metadata, calls, 0)
    made[:, METADATA_BUSY] = np.where(is_metadata, busy, 0)
    made[:, LONGEST] = np.where(is_metadata, longest, 0)
    at = np.flatnonzero(is_metadata)
    made[at, BUCKETS + way[at] - METADATA_WAY] = calls[at]
    return made


def bucket_of(duration_ns: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.int64]:
    """Return the bucket of each duration: its upper power of two, from 1 us on."""
    bits = np.frexp(duration_ns.astype(np.float64))[1]
    bucket: npt.NDArray[np.int64] = np.clip(bits - SHORTEST_BITS, 0, BUCKET_COUNT - 1).astype(np.int64)
    return bucket


def quantile_s(counts: Rows, share: float, longest_ns: int) -> float:
    """Return a quantile of the durations, s, accurate to a factor of 1.4. It is interpolated between powers of two.

    >>> round(quantile_s(np.bincount([3] * 99 + [20], minlength=28), 0.5, 10**9) * 1e6, 1)
    5.8
    """
    total = int(counts.sum())
    wanted = share * total
    before = np.cumsum(counts)
    bucket = int(np.searchsorted(before, wanted))
    bucket = min(bucket, len(counts) - 1)
    within = (wanted - (int(before[bucket]) - int(counts[bucket]))) / max(int(counts[bucket]), 1)
    return float(min(2.0 ** (SHORTEST_BITS + bucket - 1 + within), float(longest_ns))) / 1e9
