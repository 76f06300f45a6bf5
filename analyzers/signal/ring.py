"""Bounded ring of bins of equal length: one resolution of a signal."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from ..common.state import Packed

Floats = npt.NDArray[np.float64]

_FIRST_BINS: Final = 256  # initial number of bins
_MAX_SPARSE: Final = 1024  # maximum number of bins with bytes that are stored separately
_MAX_SPARSE_CAPACITY: Final = 1 << 16  # bins; longer rings belong to finished traces, of which few are in memory
_NO_BINS: Final = np.zeros(0, np.int64)
_NO_VOLUMES: Final = np.zeros(0)


class Samples(Struct, frozen=True, eq=False):
    """A range of signal in bins of equal length.

    Attributes:
        first_ns: start of the first bin.
        bin_ns: length of a bin.
        volume: bytes moved in each bin, float64.
    """

    first_ns: int
    bin_ns: int
    volume: Floats

    @property
    def bandwidth(self) -> Floats:
        """Mean bandwidth of each bin, bytes/s."""
        return self.volume * (1e9 / self.bin_ns)

    @property
    def end_ns(self) -> int:
        """End of the last bin, ns."""
        return self.first_ns + self.bin_ns * len(self.volume)


class Ring(Packed):
    """The newest ``capacity`` bins of ``bin_ns``; bin k is [k bin_ns, (k + 1) bin_ns). Memory grows as needed.

    Most bins of a job's finest levels are empty. While few have bytes, only these are stored, with their indices.

    Attributes:
        bin_ns: length of a bin.
        capacity: maximum number of bins.
        oldest: index of the earliest bin stored.
        newest: index of the latest one; below ``oldest`` for an empty ring.
    """

    __slots__ = ("_at", "_bins", "bin_ns", "capacity", "newest", "oldest")

    def __init__(self, bin_ns: int, capacity: int) -> None:
        self.bin_ns = bin_ns
        self.capacity = capacity
        self.oldest = 0
        self.newest = -1
        # indices of the bins with bytes, ascending; None: _bins has bin k at k % len(_bins)
        self._at: npt.NDArray[np.int64] | None = _NO_BINS if capacity <= _MAX_SPARSE_CAPACITY else None
        self._bins: Floats = _NO_VOLUMES if self._at is not None else np.zeros(_FIRST_BINS)

    def __getstate__(self) -> dict[str, object]:
        """Return the state with all bins, as saved states have it."""
        bins = self._bins if self._at is None else self._all_bins(self._at)
        return {
            "bin_ns": self.bin_ns, "capacity": self.capacity, "oldest": self.oldest, "newest": self.newest,
            "_bins": bins,
        }  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            setattr(self, name, value)
        self._at = None
        self._store_separately()

    def __len__(self) -> int:
        return self.newest - self.oldest + 1

    def floor(self, newest: int) -> int:
        """Return the earliest bin that fits together with ``newest`` and all stored bins."""
        return max(max(newest, self.newest) - self.capacity + 1, 0)

    def add(self, lowest: int, fresh: Floats, newest: int) -> None:
        """Add volume to the bins from ``lowest`` on and extend the ring to ``newest``. Drops bins below the floor."""
        skipped = self.floor(newest) - lowest
        if skipped > 0:
            lowest, fresh = lowest + skipped, fresh[skipped:]
        if not len(fresh):
            if len(self):
                self._cover(self.newest, max(newest, self.newest))
            return
        self._cover(lowest, max(newest, self.newest, lowest + len(fresh) - 1))
        if self._at is not None:
            self._add_separately(self._at, lowest, fresh)
            return
        at = lowest % len(self._bins)
        straight = min(len(fresh), len(self._bins) - at)
        self._bins[at : at + straight] += fresh[:straight]
        if straight < len(fresh):
            self._bins[: len(fresh) - straight] += fresh[straight:]

    def read(self, low: int, high: int) -> Floats:
        """Return a copy of the bins low .. high - 1. Bins that are not stored are 0."""
        volume = np.zeros(high - low)
        if self._at is not None:
            first, last = self._at.searchsorted((low, high))
            if first < last:
                volume[self._at[first:last] - low] = self._bins[first:last]
            return volume
        begin, stop = max(low, self.oldest), min(high, self.newest + 1)
        if begin < stop:
            at, length = begin % len(self._bins), stop - begin
            straight = min(length, len(self._bins) - at)
            volume[begin - low : begin - low + straight] = self._bins[at : at + straight]
            volume[begin - low + straight : stop - low] = self._bins[: length - straight]
        return volume

    def window(self, from_ns: int, to_ns: int) -> Samples:
        """Return the bins that overlap [from_ns, to_ns), as far as the ring covers them.

        Bins after the newest data are 0. At most ``capacity`` bins are returned, the newest of the range.
        """
        low = from_ns // self.bin_ns
        high = max(low, -(-to_ns // self.bin_ns))
        low = max(low, high - self.capacity)
        if len(self):
            low = min(max(low, self.newest - self.capacity + 1), high)
        return Samples(low * self.bin_ns, self.bin_ns, self.read(low, high))

    def coarser(self, factor: int) -> Ring:
        """Return a ring of bins that are ``factor`` times longer, with the same content."""
        ring = Ring(self.bin_ns * factor, self.capacity)
        if len(self):
            low, high = self.oldest // factor, self.newest // factor
            ring.add(low, sums_of(self.read(low * factor, (high + 1) * factor), factor), high)
        return ring

    def _cover(self, low: int, high: int) -> None:
        """Extend the ring to the bins low .. high, within its capacity. New bins are 0."""
        if not len(self):
            self.oldest, self.newest = low, low
            if self._at is None:
                self._bins[low % len(self._bins)] = 0.0
        elif low >= self.oldest and high <= self.newest:
            return
        oldest = max(min(self.oldest, low), high - self.capacity + 1)
        if self._at is None and high // self.capacity > self.newest // self.capacity:
            self._store_separately()
        if self._at is None:
            self._cover_all(oldest, high)
        elif oldest > self.oldest and len(self._at) and self._at[0] < oldest:
            kept = self._at.searchsorted(oldest)
            self._at, self._bins = self._at[kept:].copy(), self._bins[kept:].copy()
        self.oldest, self.newest = oldest, high

    def _cover_all(self, oldest: int, high: int) -> None:
        """Extend the array of all bins to the bins oldest .. high."""
        if high - oldest + 1 > len(self._bins):
            size = min(self.capacity, max(2 * len(self._bins), high - oldest + 1))
            grown = np.zeros(size)
            stored = np.arange(max(self.oldest, oldest), self.newest + 1)
            grown[stored % size] = self._bins[stored % len(self._bins)]
            self._bins = grown
        elif high - self.newest >= len(self._bins):
            self._bins[:] = 0.0
        else:
            self._clear(self.newest + 1, high + 1)
            self._clear(oldest, self.oldest)

    def _add_separately(self, at: npt.NDArray[np.int64], lowest: int, fresh: Floats) -> None:
        """Add volume to the bins with bytes, whose indices are ``at``. Store all bins once these are many."""
        before = len(at)
        if before and at[-1] >= lowest:
            if len(fresh) == 1 and at[-1] == lowest:
                self._bins[-1] += fresh[0]
                return
            before = int(at.searchsorted(lowest))
            joined = np.zeros(max(len(fresh), int(at[-1]) - lowest + 1))
            joined[: len(fresh)] = fresh
            joined[at[before:] - lowest] += self._bins[before:]
            fresh = joined
        places = fresh.nonzero()[0]
        self._bins = np.concatenate((self._bins[:before], fresh[places]))
        places += lowest
        self._at = np.concatenate((at[:before], places))
        count = len(self._at)
        if count > _MAX_SPARSE or (count > _FIRST_BINS and 2 * count > len(self)):
            self._bins, self._at = self._all_bins(self._at), None

    def _all_bins(self, at: npt.NDArray[np.int64]) -> Floats:
        """Return the array of all bins, of which those with the indices ``at`` have bytes."""
        bins = np.zeros(min(self.capacity, max(_FIRST_BINS, len(self))))
        bins[at % len(bins)] = self._bins
        return bins

    def _store_separately(self) -> None:
        """Store only the bins with bytes, if these have become few."""
        if self.capacity > _MAX_SPARSE_CAPACITY or 4 * np.count_nonzero(self._bins) > max(len(self._bins), _FIRST_BINS):
            return
        bins = self.read(self.oldest, self.newest + 1)
        places = bins.nonzero()[0]
        self._at, self._bins = places + self.oldest, bins[places]

    def _clear(self, low: int, stop: int) -> None:
        if low < stop:
            at, length = low % len(self._bins), stop - low
            self._bins[at : at + length] = 0.0
            self._bins[: max(at + length - len(self._bins), 0)] = 0.0


def sums_of(values: Floats, factor: int) -> Floats:
    """Sum groups of ``factor`` neighbours, float64[len(values) / factor]; the length is a multiple of ``factor``."""
    total = values[::factor].copy()
    for offset in range(1, factor):
        total += values[offset::factor]
    return total
