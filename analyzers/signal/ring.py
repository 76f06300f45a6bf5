"""Bounded ring of bins of equal length: one resolution of a signal."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

Floats = npt.NDArray[np.float64]

_FIRST_BINS: Final = 256  # initial number of bins


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


class Ring:
    """The newest ``capacity`` bins of ``bin_ns``; bin k is [k bin_ns, (k + 1) bin_ns). Memory grows as needed.

    Attributes:
        bin_ns: length of a bin.
        capacity: maximum number of bins.
        oldest: index of the earliest bin stored.
        newest: index of the latest one; below ``oldest`` for an empty ring.
    """

    def __init__(self, bin_ns: int, capacity: int) -> None:
        self.bin_ns = bin_ns
        self.capacity = capacity
        self.oldest = 0
        self.newest = -1
        self._bins: Floats = np.zeros(min(_FIRST_BINS, capacity))

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
        at = lowest % len(self._bins)
        straight = min(len(fresh), len(self._bins) - at)
        self._bins[at : at + straight] += fresh[:straight]
        if straight < len(fresh):
            self._bins[: len(fresh) - straight] += fresh[straight:]

    def read(self, low: int, high: int) -> Floats:
        """Return a copy of the bins low .. high - 1. Bins that are not stored are 0."""
        volume = np.zeros(high - low)
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
            self._bins[low % len(self._bins)] = 0.0
        elif low >= self.oldest and high <= self.newest:
            return
        oldest = max(min(self.oldest, low), high - self.capacity + 1)
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
        self.oldest, self.newest = oldest, high

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
