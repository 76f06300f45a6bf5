"""Sums of the collectors' counters, including silent collectors."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Mapping
from typing import Final

_MAX_SILENT: Final = 100_000


class CollectorCounts:
    """Counters of all collectors so far, by name; a collector that returns continues its counts."""

    def __init__(self) -> None:
        self._known: dict[str, Mapping[str, int]] = {}
        self._past: Counter[str] = Counter()
        self._silent: OrderedDict[str, Mapping[str, int]] = OrderedDict()  # their counts are in _past

    def update(self, collector: str, counters: Mapping[str, int]) -> None:
        """Update the cumulative counters of a collector."""
        if (before := self._silent.pop(collector, None)) is not None:
            self._past.subtract(before)
        self._known[collector] = counters

    def mark_silent(self, collector: str) -> bool:
        """Mark a collector as silent; return whether it was known."""
        if (gone := self._known.pop(collector, None)) is None:
            return False
        self._past.update(gone)
        self._silent[collector] = gone
        while len(self._silent) > _MAX_SILENT:
            self._silent.popitem(last=False)
        return True

    def total(self) -> Counter[str]:
        """Return the sums."""
        total = Counter(self._past)
        for counters in self._known.values():
            total.update(counters)
        return total
