"""A job's bandwidth over time, in a bounded ring of bins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from .binning import Numbers, bin_range, spread

Times = npt.NDArray[np.int64]

_FIRST_BINS: Final = 256


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """A stretch of signal in bins of equal length.

    Attributes:
        first_ns: start of the first bin.
        bin_ns: length of a bin.
        volume: bytes moved in each bin, float64.
    """

    first_ns: int
    bin_ns: int
    volume: npt.NDArray[np.float64]

    @property
    def bandwidth(self) -> npt.NDArray[np.float64]:
        """Mean bandwidth of each bin, bytes/s."""
        return self.volume * (1e9 / self.bin_ns)

    @property
    def end_ns(self) -> int:
        """End of the last bin."""
        return self.first_ns + self.bin_ns * len(self.volume)


class BandwidthSignal:
    """Bytes in bins of ``bin_ns``, the newest ``capacity`` bins of them.

    Bins start at multiples of ``bin_ns``, wherever a window on them starts. Requests may come in any order: each is
    placed by its time. Memory grows with the length of the signal up to ``8 * capacity`` bytes.

    Stamps far in the future (a clock that jumped) must not push the real signal out of the ring. A request that ends
    more than ``capacity`` bins after all that is known is *ahead*. Requests ahead within a batch that also continues
    the signal are left out and counted. A batch that lies ahead as a whole is held back: if the next one lies there
    too, the job had paused and both count; else it is left out and counted.

    Attributes:
        bin_ns: length of a bin.
        capacity: most bins held.
        volume: bytes that were placed, including those that have left the ring since.
        late_bytes: bytes that came for times before the ring.
        ahead_bytes: bytes left out because their stamps are ahead.
    """

    def __init__(self, bin_ns: int, capacity: int) -> None:
        if bin_ns < 1 or capacity < 1:
            raise ValueError("a ring needs bins of at least 1 ns and at least one bin")
        self.bin_ns = bin_ns
        self.capacity = capacity
        self.volume = 0.0
        self.late_bytes = 0.0
        self.ahead_bytes = 0.0
        self._ring: npt.NDArray[np.float64] = np.zeros(min(_FIRST_BINS, capacity))
        self._oldest = 0  # number of the earliest bin held
        self._newest = -1  # number of the latest one
        self._held: tuple[Times, Times, Numbers] | None = None

    def __len__(self) -> int:
        return self._newest - self._oldest + 1

    @property
    def first_ns(self) -> int | None:
        """Start of the earliest bin held, None for an empty signal."""
        return self._oldest * self.bin_ns if len(self) else None

    @property
    def last_ns(self) -> int | None:
        """End of the latest bin held, None for an empty signal."""
        return (self._newest + 1) * self.bin_ns if len(self) else None

    def add(self, start: Times, end: Times, volume: Numbers) -> None:
        """Adds requests.

        Args:
            start: start times, int64 ns, at least 0.
            end: end times, int64 ns; a request that does not end after its start puts its bytes into one bin.
            volume: bytes moved.
        """
        if not len(start):
            return
        end = np.maximum(start, end)
        first, last = bin_range(start, end, self.bin_ns)
        # one subtraction tells the common case: nothing is ahead
        reach = self._newest if len(self) else int(last.min())
        if int(last.max()) - reach > self.capacity:
            kept = self._not_ahead(start, end, volume, last)
            if not kept.any():
                return
            if not kept.all():
                start, end, volume, first, last = start[kept], end[kept], volume[kept], first[kept], last[kept]
        elif self._held is not None:
            self._give_up_held()
        self._place(start, end, volume, first, last)

    def read(self, from_ns: int, to_ns: int) -> Samples:
        """Returns the bins that overlap [from_ns, to_ns), as far as the ring reaches back; a copy.

        Bins after the newest data hold 0. At most ``capacity`` bins are returned, the newest of those asked for.
        """
        low = from_ns // self.bin_ns
        high = max(low, -(-to_ns // self.bin_ns))
        low = max(low, high - self.capacity)
        if len(self):
            low = min(max(low, self._newest - self.capacity + 1), high)
        volume = np.zeros(high - low)
        begin, stop = max(low, self._oldest), min(high, self._newest + 1)
        if begin < stop:
            at, length = begin % len(self._ring), stop - begin
            straight = min(length, len(self._ring) - at)
            volume[begin - low : begin - low + straight] = self._ring[at : at + straight]
            volume[begin - low + straight : stop - low] = self._ring[: length - straight]
        return Samples(low * self.bin_ns, self.bin_ns, volume)

    def _place(self, start: Times, end: Times, volume: Numbers, first: Times, last: Times) -> None:
        latest = int(last.max())
        newest = max(self._newest, latest)
        floor = max(newest - self.capacity + 1, 0)
        earliest = int(first.min())
        lowest = max(earliest, floor)
        bins = max(latest - lowest + 1, 0)
        fresh = spread(start, end, volume, first, last, bin_ns=self.bin_ns, lowest=lowest, bins=bins)
        given = float(volume.sum())
        placed = float(fresh.sum()) if earliest < floor else given
        self.volume += placed
        self.late_bytes += max(given - placed, 0.0)
        if bins:
            self._cover(lowest, newest)
            self._ring[np.arange(lowest, lowest + bins) % len(self._ring)] += fresh

    def _cover(self, low: int, high: int) -> None:
        """Makes the ring hold the bins low .. high as well, as far as its capacity goes; new bins are 0."""
        if not len(self):
            self._oldest, self._newest = low, low
        oldest = max(min(self._oldest, low), high - self.capacity + 1)
        if high - oldest + 1 > len(self._ring):
            size = min(self.capacity, max(2 * len(self._ring), high - oldest + 1))
            grown = np.zeros(size)
            kept = np.arange(max(self._oldest, oldest), self._newest + 1)
            grown[kept % size] = self._ring[kept % len(self._ring)]
            self._ring = grown
        elif high - self._newest >= len(self._ring):
            self._ring[:] = 0.0
        else:
            self._ring[np.arange(self._newest + 1, high + 1) % len(self._ring)] = 0.0
            self._ring[np.arange(oldest, self._oldest) % len(self._ring)] = 0.0
        self._oldest, self._newest = oldest, high

    def _not_ahead(self, start: Times, end: Times, volume: Numbers, last: Times) -> npt.NDArray[np.bool_]:
        """Tells which requests continue the signal; holds back, counts or takes in the others."""
        order = np.sort(last)
        breaks = np.flatnonzero(np.diff(order) > self.capacity)
        if not len(self):
            # nothing to continue yet: the most populous run of requests without a break is the signal
            edges = np.concatenate([[0], breaks + 1, [len(order)]])
            limit = int(order[edges[1 + int(np.argmax(np.diff(edges)))] - 1])
        elif int(order[order > self._newest][0]) - self._newest > self.capacity:
            limit = self._newest
        else:
            after = breaks[order[breaks] > self._newest]
            limit = int(order[after[0]]) if len(after) else int(order[-1])
        kept: npt.NDArray[np.bool_] = last <= limit
        if kept.any():
            self._give_up_held()
            self.ahead_bytes += float(volume[~kept].sum())
        else:
            self._hold(start, end, volume, last)
        return kept

    def _hold(self, start: Times, end: Times, volume: Numbers, last: Times) -> None:
        held = self._held
        if held is not None and abs(int(held[1].max()) // self.bin_ns - int(last.max())) <= self.capacity:
            self._held = None
            start, end = np.concatenate([held[0], start]), np.concatenate([held[1], end])
            self._place(start, end, np.concatenate([held[2], volume]), *bin_range(start, end, self.bin_ns))
            return
        self._give_up_held()
        self._held = (start.copy(), end.copy(), volume.copy())

    def _give_up_held(self) -> None:
        if self._held is not None:
            self.ahead_bytes += float(self._held[2].sum())
            self._held = None
