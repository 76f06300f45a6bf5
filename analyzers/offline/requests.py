"""Requests of a finished trace that count. Few are kept in memory; many are read again for each pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, TypeAlias

import numpy as np

from ...events import EventBatch
from ...results.prediction import ModeName
from ..signal.selection import LeftOut, Times, counted_columns

Batches: TypeAlias = Iterable[tuple[EventBatch, LeftOut]]
"""Events, each batch with the mask of its stream's files; can be iterated several times."""
Columns: TypeAlias = tuple[Times, Times, Times]
"""Start, end and bytes of requests."""

MAX_HELD: Final = 2**19  # maximum number of requests kept in memory
_PIECE: Final = 2**18  # number of requests per piece
_LONGEST_PAUSE_NS: Final = 4 * 86_400 * 10**9  # times beyond such a pause come from a wrong clock


class Requests:
    """Start, end and bytes of the requests that count, in pieces. In one piece if they are few.

    Attributes:
        count: number of requests.
        firsts: earliest start of each batch of events, counted or not.
        lasts: latest end of each batch of events, counted or not.
        first_ns: earliest start of a request; None without requests.
        last_ns: latest end of a request.
    """

    def __init__(self, batches: Batches, mode: ModeName, *, on_clock: bool, most_held: int = MAX_HELD) -> None:
        self._batches, self._mode = batches, mode
        self._limits: tuple[int, int] | None = None
        self._held: list[Columns] | None = []
        self.firsts: list[int] = []
        self.lasts: list[int] = []
        count, spells = 0, Spells(_LONGEST_PAUSE_NS)
        for batch, left_out in batches:
            if not len(batch):
                continue
            self.firsts.append(int(batch.start.min()))
            self.lasts.append(int(batch.end.max()))
            piece = counted_columns(batch, left_out, mode)[:3]
            count += len(piece[0])
            if on_clock:
                spells.add(piece[1])
            self._hold(piece, most_held - count)
        self._limits = spells.longest()
        if self._held is not None:
            self._held = [self._within_limits(_joined(self._held))]
        self.count = 0
        self.first_ns: int | None = None
        self.last_ns = 0
        for start, end, _ in self:
            if len(start):
                first, last = int(start.min()), int(end.max())
                self.first_ns = first if self.first_ns is None else min(first, self.first_ns)
                self.last_ns = max(last, self.last_ns) if self.count else last
                self.count += len(start)

    def __iter__(self) -> Iterator[Columns]:
        if self._held is not None:
            yield from self._held
            return
        pieces: list[Columns] = []
        waiting = 0
        for batch, left_out in self._batches:
            if len(batch):
                pieces.append(self._within_limits(counted_columns(batch, left_out, self._mode)[:3]))
                waiting += len(pieces[-1][0])
                if waiting >= _PIECE:
                    yield _joined(pieces)
                    pieces, waiting = [], 0
        yield _joined(pieces)

    @property
    def is_one_piece(self) -> bool:
        """Whether the requests are one piece."""
        return self._held is not None

    def _hold(self, piece: Columns, most: int) -> None:
        if self._held is not None:
            self._held.append(piece)
            if most < 0:
                self._held = None

    def _within_limits(self, piece: Columns) -> Columns:
        if self._limits is None:
            return piece
        start, end, volume = piece
        kept = (end >= self._limits[0]) & (end <= self._limits[1])
        return (start, end, volume) if kept.all() else (start[kept], end[kept], volume[kept])


class Spells:
    """Ranges of numbers without a gap beyond a limit, exact and in bounded memory.

    Numbers within one box of the limit's length have no such gap between them, so three numbers per box suffice.

    Args:
        longest_gap: the limit.
    """

    def __init__(self, longest_gap: int) -> None:
        self._longest_gap = longest_gap
        self._boxes: dict[int, tuple[int, int]] = {}
        self._counts: Counter[int] = Counter()

    def add(self, values: Times) -> None:
        """Add numbers in any order."""
        if not len(values):
            return
        low, high = int(values.min()), int(values.max())
        if low // self._longest_gap == high // self._longest_gap:
            self._put(low // self._longest_gap, low, high, len(values))
            return
        boxes, number = np.unique(values // self._longest_gap, return_inverse=True)
        for at, box in enumerate(boxes.tolist()):
            mine = values[number == at]
            self._put(box, int(mine.min()), int(mine.max()), len(mine))

    def longest(self) -> tuple[int, int] | None:
        """Return the ends of the range with the most numbers. Returns None if there is only one range."""
        spells: list[list[int]] = []
        for box in sorted(self._boxes):
            low, high = self._boxes[box]
            if spells and low - spells[-1][1] <= self._longest_gap:
                spells[-1][1] = high
                spells[-1][2] += self._counts[box]
            else:
                spells.append([low, high, self._counts[box]])
        if len(spells) < 2:
            return None
        low, high, _ = max(spells, key=lambda each: each[2])
        return low, high

    def _put(self, box: int, low: int, high: int, count: int) -> None:
        known = self._boxes.get(box, (low, high))
        self._boxes[box] = min(known[0], low), max(known[1], high)
        self._counts[box] += count


def _joined(pieces: list[Columns]) -> Columns:
    start, end, volume = (
        np.concatenate([np.zeros(0, np.int64), *(piece[which] for piece in pieces)]) for which in range(3)
    )
    return start, end, volume
