"""Bandwidth of a job over time. It is stored in bounded rings of bins, at one or several resolutions."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from ..settings import DetectSettings
from .binning import Numbers, bin_range, spread
from .ring import Floats, Ring, Samples, sums_of

__all__ = ["FACTOR", "BandwidthSignal", "Samples"]

Times = npt.NDArray[np.int64]

FACTOR: Final = 4
"""Ratio of bin lengths between successive levels."""
_BINNED_AT_ONCE: Final = 8192  # bins; a batch that spans more is binned coarsely first
_FEW_BINS: Final = 1024  # maximum range of the fast path, bins
_HUGE: Final = 1 << 62
_AHEAD_NS: Final = 60 * 10**9  # maximum time past the present; clocks of nodes differ by less
_BINS: Final = 2048  # bins per level
_LEVELS: Final = 9  # number of levels
_MAX_PER_PERIOD: Final = 128  # bins; at a quarter of it the next level begins
_SLACK: Final = 1.25  # factor by which a period may exceed a level's range before the level changes


class BandwidthSignal:
    """Bytes in the newest ``capacity`` bins of ``bin_ns``, and the same at coarser levels.

    Level l has bins of ``bin_ns * 4**l`` and covers 4**l times the time. It is created when the level before can no
    longer cover all data, as the sum of its bins, so a short job has one level only. A batch is binned once, at the
    finest level that fits its time range; the levels above sum its bins.

    Bins start at multiples of their length, independent of any window. Requests may come in any order: each is placed
    by its time at every level that covers it. Memory grows with the number of bins with bytes, up to ``8 * capacity *
    levels`` bytes.

    Timestamps far in the future (a clock jump) must not push the real signal out of the rings. A request is *ahead* if
    it ends later than all known data by more than the coverage of the coarsest level. If the present is known, a minute
    after both is the limit. If only a part of a batch is ahead, that part is dropped and counted. If all of a batch is
    ahead, it is kept back: if the next batch is ahead, too, the job had paused and both count; otherwise it is dropped
    and counted.

    Attributes:
        bin_ns: length of a bin of level 0, the finest.
        capacity: maximum bins per level.
        most_levels: maximum levels.
        volume: placed bytes, including those that have left the rings since.
        late_bytes: bytes for times before the rings.
        ahead_bytes: bytes dropped because their timestamps are ahead.
    """

    def __init__(self, bin_ns: int, capacity: int, most_levels: int = 1) -> None:
        if bin_ns < 1 or capacity < 1 or most_levels < 1:
            raise ValueError("a ring needs bins of at least 1 ns and at least one bin, a signal at least one level")
        self.bin_ns = bin_ns
        self.capacity = capacity
        self.most_levels = most_levels
        self.volume = 0.0
        self.late_bytes = 0.0
        self.ahead_bytes = 0.0
        self._rings = [Ring(bin_ns, capacity)]
        self._oldest = 0  # index of the earliest level-0 bin that the coarsest level covers
        self._newest = -1  # index of the latest level-0 bin
        self._held: tuple[Times, Times, Numbers] | None = None

    def __len__(self) -> int:
        """Return the number of bins stored at level 0."""
        return len(self._rings[0])

    @property
    def levels(self) -> int:
        """Number of existing levels; each new one is coarser."""
        return len(self._rings)

    @property
    def first_ns(self) -> int | None:
        """Start of the earliest bin stored at level 0, ns; None for an empty signal."""
        return self._rings[0].oldest * self.bin_ns if len(self) else None

    @property
    def last_ns(self) -> int | None:
        """End of the latest bin of level 0, ns; None for an empty signal."""
        return (self._newest + 1) * self.bin_ns if self._newest >= 0 else None

    @property
    def _reach(self) -> int:
        """Number of level-0 bins that the coarsest possible level covers."""
        return self.capacity * int(FACTOR ** (self.most_levels - 1))

    def add(self, start: Times, end: Times, volume: Numbers, now_ns: int | None = None) -> None:
        """Add requests.

        Args:
            start: start times, int64 ns, at least 0.
            end: end times, int64 ns; a request that does not end after its start puts its bytes into one bin.
            volume: bytes moved.
            now_ns: current time on the clock of the requests, from an independent source, if known.
        """
        if not len(start):
            return
        end = np.maximum(start, end)
        first, last = bin_range(start, end, self.bin_ns)
        reach, known = self._reach, self._newest
        if now_ns is not None:
            reach = min(reach, max(_AHEAD_NS // self.bin_ns, 1))
            known = max(known, now_ns // self.bin_ns)
        # one subtraction detects the common case that nothing is ahead
        if int(last.max()) - (known if known >= 0 else int(last.min())) > reach:
            kept = self._not_ahead(start, end, volume, last, known, reach)
            if not kept.any():
                return
            if not kept.all():
                start, end, volume, first, last = start[kept], end[kept], volume[kept], first[kept], last[kept]
        elif self._held is not None:
            self._drop_held()
        self._place(start, end, volume, first, last)

    def read(self, from_ns: int, to_ns: int, level: int = 0) -> Samples:
        """Return a copy of the bins of a level that overlap [from_ns, to_ns). It ends where the level's coverage ends.

        Bins after the newest data are 0. At most ``capacity`` bins are returned, the newest of the range. A level
        coarser than all existing ones is computed from the coarsest.
        """
        if level < len(self._rings):
            return self._rings[level].window(from_ns, to_ns)
        ring = self._rings[-1].coarser(FACTOR ** (level - len(self._rings) + 1))
        return ring.window(from_ns, to_ns)

    def bins(self, level: int, low: int, high: int) -> Floats:
        """Return a copy of the bytes in the bins low .. high - 1 of a level. Bins that are not stored are 0."""
        if level < len(self._rings):
            return self._rings[level].read(low, high)
        return self._rings[-1].coarser(FACTOR ** (level - len(self._rings) + 1)).read(low, high)

    def add_few(self, start: list[int], end: list[int], volume: list[int], now_ns: int | None = None) -> None:
        """Add few requests, without the overhead of NumPy."""
        if not self._added_few(start, end, volume, now_ns):
            self.add(np.array(start, np.int64), np.array(end, np.int64), np.array(volume, np.int64), now_ns)

    def _added_few(self, starts: list[int], ends: list[int], volume: list[int], now_ns: int | None) -> bool:
        """Add requests; False if ``add`` is needed.

        That is the case if a request spans bins, is ahead or late, or if there are several levels before or after.
        """
        bin_ns, moved = self.bin_ns, sum(volume)
        bins = [start // bin_ns for start in starts]
        if bins != [max(end - 1, start) // bin_ns for start, end in zip(starts, ends, strict=True)]:
            return False
        low, high = min(bins), max(bins)
        reach, known = self._reach, self._newest
        if now_ns is not None:
            reach = min(reach, max(_AHEAD_NS // bin_ns, 1))
            known = max(known, now_ns // bin_ns)
        oldest, newest = (min(self._oldest, low), max(self._newest, high)) if self._newest >= 0 else (low, high)
        ring = self._rings[0]
        if (
            self.levels > 1
            or moved >= _HUGE
            or self._held is not None
            or high - (known if known >= 0 else low) > reach
            or high - low > _FEW_BINS
            or (self.most_levels > 1 and newest - oldest >= self.capacity)
            or low < (floor := ring.floor(newest))
        ):
            return False
        fresh = [0.0] * (high - low + 1)
        for place, one in zip(bins, volume, strict=True):
            fresh[place - low] += one
        self.volume += float(moved)
        self._newest, self._oldest = newest, max(oldest, floor)
        ring.add(low, np.array(fresh), newest)
        return True

    def _place(self, start: Times, end: Times, volume: Numbers, first: Times, last: Times) -> None:
        latest, earliest = int(last.max()), int(first.min())
        newest = max(self._newest, latest)
        oldest = min(self._oldest, earliest) if self._newest >= 0 else earliest
        self._extend(oldest, newest)
        top = self.levels - 1
        floor = self._rings[top].floor(newest // FACTOR**top) * FACTOR**top
        lowest = max(earliest, floor)
        level = 0
        while level < top and (latest - lowest) // FACTOR**level >= max(_BINNED_AT_ONCE, self.capacity):
            level += 1
        fresh = self._spread(start, end, volume, first, last, level, lowest)
        given = float(volume.sum())
        placed = float(fresh.sum()) if earliest < floor else given
        self.volume += placed
        self.late_bytes += max(given - placed, 0.0)
        self._newest, self._oldest = newest, max(oldest, floor)
        for finer in range(level):
            self._place_end(start, end, volume, first, last, finer)
        at = lowest // FACTOR**level
        for coarser in range(level, self.levels):
            self._rings[coarser].add(at, fresh, newest // FACTOR**coarser)
            if coarser < top:
                fresh, at = _merged(fresh, at)

    def _place_end(self, start: Times, end: Times, volume: Numbers, first: Times, last: Times, level: int) -> None:
        """Place the part within the range of one level."""
        ring, newest = self._rings[level], self._newest // FACTOR**level
        lowest = ring.floor(newest) * FACTOR**level
        rows = np.flatnonzero(last >= lowest)
        if not len(rows):
            ring.add(newest, np.zeros(1), newest)
            return
        start, end, volume, first, last = start[rows], end[rows], volume[rows], first[rows], last[rows]
        lowest = max(lowest, int(first.min()))
        fresh = self._spread(start, end, volume, first, last, level, lowest)
        ring.add(lowest // FACTOR**level, fresh, newest)

    def _spread(
        self, start: Times, end: Times, volume: Numbers, first: Times, last: Times, level: int, lowest: int
    ) -> Floats:
        """Return the bytes in each bin of a level. The first bin contains level-0 bin ``lowest``."""
        span = FACTOR**level
        if level:
            first, last = first // span, last // span
        low = lowest // span
        bins = max(int(last.max()) - low + 1, 0)
        return spread(start, end, volume, first, last, bin_ns=self.bin_ns * span, lowest=low, bins=bins)

    def _extend(self, oldest: int, newest: int) -> None:
        """Add levels until the coarsest covers all data, or the maximum is reached."""
        while (
            self.levels < self.most_levels
            and newest // FACTOR ** (self.levels - 1) - oldest // FACTOR ** (self.levels - 1) >= self.capacity
        ):
            self._rings.append(self._rings[-1].coarser(FACTOR))

    def _not_ahead(
        self, start: Times, end: Times, volume: Numbers, last: Times, known: int, reach: int
    ) -> npt.NDArray[np.bool_]:
        """Return which requests continue the signal; keep back, count or add the others."""
        order = np.sort(last)
        breaks = np.flatnonzero(np.diff(order) > reach)
        if known < 0:
            # nothing to continue yet: the largest group of requests without a break is the signal
            edges = np.concatenate([[0], breaks + 1, [len(order)]])
            limit = int(order[edges[1 + int(np.argmax(np.diff(edges)))] - 1])
        elif int(order[order > known][0]) - known > reach:
            limit = known
        else:
            after = breaks[order[breaks] > known]
            limit = int(order[after[0]]) if len(after) else int(order[-1])
        kept: npt.NDArray[np.bool_] = last <= limit
        if kept.any():
            self._drop_held()
            self.ahead_bytes += float(volume[~kept].sum())
        else:
            self._hold(start, end, volume, last)
        return kept

    def _hold(self, start: Times, end: Times, volume: Numbers, last: Times) -> None:
        held, reach = self._held, self._reach
        if held is not None and abs(int(held[1].max()) // self.bin_ns - int(last.max())) <= reach:
            self._held = None
            start, end = np.concatenate([held[0], start]), np.concatenate([held[1], end])
            self._place(start, end, np.concatenate([held[2], volume]), *bin_range(start, end, self.bin_ns))
            return
        self._drop_held()
        self._held = (start.copy(), end.copy(), volume.copy())

    def _drop_held(self) -> None:
        if self._held is not None:
            self.ahead_bytes += float(self._held[2].sum())
            self._held = None


def _merged(fresh: Floats, lowest: int) -> tuple[Floats, int]:
    """Return the bins of the next level, and the index of the first of them."""
    before = lowest % FACTOR
    after = -(before + len(fresh)) % FACTOR
    padded = np.concatenate([np.zeros(before), fresh, np.zeros(after)]) if before or after else fresh
    return sums_of(padded, FACTOR), lowest // FACTOR


class Resolutions(Struct, frozen=True):
    """Levels of one signal.

    Level l has bins of ``bin_ns * 4**l`` and as many of them as level 0, so each level covers four times the time of
    the one before. At 10 ms, 2048 bins and 9 levels these are 20 s to 15 days, for periods from 0.05 s to days.

    Attributes:
        bin_ns: length of a bin of level 0.
        bins: maximum bins of a level.
        levels: number of levels.
    """

    bin_ns: int
    bins: int
    levels: int

    @classmethod
    def of(cls, settings: DetectSettings) -> Resolutions:
        """Return the levels of an online job: one for a fixed sampling frequency, otherwise all."""
        if settings.fixed_hz is not None:
            return cls(settings.bin_ns, settings.ring_bins, 1)
        return cls(settings.bin_ns, _BINS, _LEVELS)

    def signal(self) -> BandwidthSignal:
        """Return an empty signal with these levels."""
        return BandwidthSignal(self.bin_ns, self.bins, self.levels)

    def length_ns(self, level: int) -> int:
        """Return the length of a bin, ns."""
        return self.bin_ns * int(FACTOR**level)

    def of_span(self, span_ns: int) -> int:
        """Return the finest level that covers the time span, or the coarsest."""
        level = 0
        while level < self.levels - 1 and span_ns > self.length_ns(level) * (self.bins - 1):
            level += 1
        return level

    def of_period(self, period_s: float, current: int | None = None) -> int:
        """Return the level at which a period has 32 to 128 bins. The current one while it is close to that."""
        if current is not None:
            per_period = period_s * 1e9 / self.length_ns(current)
            fewest = _MAX_PER_PERIOD / FACTOR / _SLACK if current else 0.0
            most = _MAX_PER_PERIOD * _SLACK if current < self.levels - 1 else float("inf")
            if fewest <= per_period < most:
                return current
        level = 0
        while level < self.levels - 1 and period_s * 1e9 >= self.length_ns(level) * _MAX_PER_PERIOD:
            level += 1
        return level
