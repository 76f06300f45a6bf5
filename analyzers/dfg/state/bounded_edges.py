"""Edges with a fixed budget of entries: lossy counting with eviction when full.

A threshold on frequency loses half of the edges of a graph with many rare ones; a budget keeps nearly all of the mass.
Dropped occurrences are counted, so that the graph reports what it lacks.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from ...common.state import Floats, Ints, Rows, State, widened

_NONE: Final = -1  # pair without an edge
_KEPT: Final = 0.75  # share of the budget kept after an eviction


class Edges(State):
    """Counts and gaps of pairs of activities, at most ``budget`` of them.

    Attributes:
        dropped: dropped occurrences.
    """

    def __init__(self, budget: int, width: int) -> None:
        self.dropped = 0
        self._budget = budget
        self._width = width
        self._number = np.full(width * width, _NONE, np.int16)
        self._pair = np.zeros(0, np.int64)
        self._count = np.zeros(0, np.int64)
        self._gap = np.zeros(0, np.float64)

    def grow(self, width: int) -> None:
        """Extend the tables to activities below ``width``."""
        source, target = np.divmod(self._pair, self._width)
        self._pair = source * width + target
        self._width = width
        self._renumber()

    def add(self, source: Rows, target: Rows, gap: Ints) -> None:
        """Count occurrences, given the activity rows of both ends and the time between them, ns."""
        self._add(source * self._width + target, None, gap)

    def merge(self, other: Edges, rows: Rows) -> None:
        """Add the edges of another table; its activity ``a`` is ``rows[a]`` here."""
        source, target = np.divmod(other._pair, other._width)
        self._add(rows[source] * self._width + rows[target], other._count, other._gap)
        self.dropped += other.dropped

    def rows(self) -> tuple[Rows, Rows, Ints, Floats]:
        """Return source, target, count and summed gap in ns, the most frequent first."""
        order = np.lexsort((self._pair, -self._count))
        source, target = np.divmod(self._pair[order], self._width)
        return source, target, self._count[order], self._gap[order]

    def tables(self) -> tuple[npt.NDArray[np.int16], int, Ints, Floats]:
        """Return the tables of edges, which the caller may add to.

        Returns:
            The edge number of each pair of rows (below 0 if none); rows per side; counts by number; gaps, ns.
        """
        return self._number, self._width, self._count, self._gap

    def _add(self, pair: Rows, count: Ints | None, gap: Ints | Floats) -> None:
        number = self._numbers(pair)
        if len(number) and number.min() < 0:
            new = number < 0
            self._admit(pair[new], None if count is None else count[new])
            number = self._numbers(pair)
            if number.min() < 0:
                kept = number >= 0
                lost = ~kept
                self.dropped += int(np.count_nonzero(lost) if count is None else count[lost].sum())
                number, gap, count = number[kept], gap[kept], None if count is None else count[kept]
        used = len(self._pair)
        if count is None:
            self._count += np.bincount(number, minlength=used)
        else:
            np.add.at(self._count, number, count)
        self._gap += np.bincount(number, weights=gap, minlength=used)

    def _numbers(self, pair: Rows) -> Rows:
        return self._number.take(pair).astype(np.intp)  # intp is counted twice as fast as int16

    def _admit(self, pair: Rows, count: Ints | None) -> None:
        """Add new pairs. If the budget is exceeded, the rarest of old and new ones are dropped."""
        found, inverse = np.unique(pair, return_inverse=True)
        occurs = np.zeros(len(found), np.int64)
        np.add.at(occurs, inverse, 1 if count is None else count)
        used = len(self._pair)
        pairs = np.concatenate([self._pair, found])
        if len(pairs) > self._budget:
            often = np.argsort(-np.concatenate([self._count, occurs]), kind="stable")
            keep = np.sort(often[: max(1, int(_KEPT * self._budget))])
            old = keep[keep < used]
            self.dropped += int(self._count.sum() - self._count[old].sum())
            self._count, self._gap, pairs = self._count[old], self._gap[old], pairs[keep]
        self._pair = pairs
        self._count = widened(self._count, len(pairs))
        self._gap = widened(self._gap, len(pairs))
        self._renumber()

    def _renumber(self) -> None:
        self._number = np.full(self._width * self._width, _NONE, np.int16)
        self._number[self._pair] = np.arange(len(self._pair))
