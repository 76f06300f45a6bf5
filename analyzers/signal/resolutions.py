"""Bin lengths at which a period is searched.

Level l has bins of ``bin_ns * 4**l`` and as many of them as level 0, so each level covers four times the time of the
one before. At 10 ms, 2048 bins and 9 levels these are 20 s to 15 days, for periods from 0.05 s to days.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from ..settings import DetectSettings
from .bandwidth import FACTOR, BandwidthSignal

_BINS: Final = 2048  # bins per level
_LEVELS: Final = 9  # number of levels
_MAX_PER_PERIOD: Final = 128  # bins; at a quarter of it the next level begins
_SLACK: Final = 1.25  # factor by which a period may exceed a level's range before the level changes


class Resolutions(Struct, frozen=True):
    """Levels of one signal.

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
