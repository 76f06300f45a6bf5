"""Columns sorted by one of them: few rows in memory, more in a temporary file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...analyzers.common.sorting import Columns, ordered
from .event_spool import ColumnSpool

MAX_HELD: Final = 524_288
_PIECE: Final = 8192
_AT_ONCE: Final = 65_536
_KEY, _SECOND, _PLACE = " key", " second", " place"  # names that no event column has
_OWN_COLUMNS: Final = frozenset((_KEY, _SECOND, _PLACE))

Keys = npt.NDArray[np.int64]


class OrderedColumns:
    """Rows sorted by a key, stable for equal keys; an ``Ordering`` of analyzers.

    Args:
        pieces: columns of equal length; iterated once.
        key: name of the int64 sort column.
        most_held: maximum number of rows sorted in memory.

    Raises:
        UnavailableError: the disk is full.
    """

    def __init__(self, pieces: Iterable[Columns], key: str, most_held: int = MAX_HELD) -> None:
        spool = SortedSpool()
        held: list[Columns] = []
        rows = 0
        for piece in pieces:
            held.append(piece)
            rows += len(piece[key])
            if rows > most_held:
                for each in held:
                    spool.put(len(each[key]), each, each[key])
                held = []
        self._spool = spool
        self._held = ordered(held, key)

    def __iter__(self) -> Iterator[Columns]:
        yield from self._spool.in_order() if len(self._spool) else self._held


class SortedSpool:
    """External sort: rows that arrive nearly sorted by a key, or as several such sequences.

    Memory: the pieces of 8,192 rows whose keys, or places among equal keys, are close to the position of the merge.
    """

    def __init__(self) -> None:
        self._spool = ColumnSpool()
        self._lowest: list[tuple[int, int, int]] = []  # key, second key and place of the first row of each piece
        self._begins: list[int] = []
        self._rows = 0

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._rows

    def put(self, length: int, columns: Columns, key: Keys, second: Keys | None = None) -> None:
        """Append rows. Those with equal keys are ordered by a second key, if given, and otherwise by arrival.

        Raises:
            UnavailableError: the disk is full.
        """
        for low in range(0, length, _PIECE):
            high = min(low + _PIECE, length)
            piece: dict[str, npt.NDArray[Any]] = {name: column[low:high] for name, column in columns.items()}
            then = np.broadcast_to(np.int64(0), (high - low,)) if second is None else second[low:high]
            self._spool.put(high - low, piece | {_KEY: key[low:high], _SECOND: then})
            lowest = np.flatnonzero(key[low:high] == key[low:high].min())
            first = int(lowest[then[lowest].argmin()])
            self._lowest.append((int(key[low + first]), int(then[first]), self._rows + first))
            self._begins.append(self._rows)
            self._rows += high - low

    def in_input_order(self) -> Iterator[dict[str, npt.NDArray[Any]]]:
        """Yield the rows in order of arrival."""
        for number in range(len(self._spool)):
            yield {name: column for name, column in self._spool.get(number).items() if name not in _OWN_COLUMNS}

    def in_order(self) -> Iterator[dict[str, npt.NDArray[Any]]]:
        """Yield the rows by key, stable for equal keys."""
        order = sorted(range(len(self._lowest)), key=self._lowest.__getitem__)
        held: dict[str, npt.NDArray[Any]] = {}
        at = 0
        while at < len(order) or held:
            parts = [held] if held else []
            rows = len(held[_KEY]) if held else 0
            wanted = max(_AT_ONCE, 2 * rows)
            while at < len(order) and rows < wanted:
                parts.append(self._piece(order[at]))
                rows += len(parts[-1][_KEY])
                at += 1
            joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
            rank = np.lexsort((joined[_PLACE], joined[_SECOND], joined[_KEY]))
            ready = len(rank)
            if at < len(order):  # rows of the same keys may be in the next piece, and before
                sorted_by = [joined[name][rank] for name in (_KEY, _SECOND, _PLACE)]
                ready = _rows_before(self._lowest[order[at]], sorted_by)
            first, rest = rank[:ready], rank[ready:]
            if ready:
                yield {name: column[first] for name, column in joined.items() if name not in _OWN_COLUMNS}
            held = {name: column[rest] for name, column in joined.items()} if len(rest) else {}

    def _piece(self, number: int) -> dict[str, npt.NDArray[Any]]:
        columns = self._spool.get(number)
        begin = self._begins[number]
        return columns | {_PLACE: np.arange(begin, begin + len(columns[_KEY]), dtype=np.int64)}


def _rows_before(row: tuple[int, int, int], columns: Sequence[Keys]) -> int:
    """Return how many of some rows are before a row. They are sorted by all columns."""
    low, high = 0, len(columns[0])
    for value, column in zip(row, columns, strict=True):
        part = column[low:high]
        low, high = low + int(part.searchsorted(value, "left")), low + int(part.searchsorted(value, "right"))
    return low
