"""Columns sorted by one of them: few rows in memory, more in a temporary file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from ...analyzers.common.column_sort import Columns, ordered
from .sorted_spool import SortedSpool

MAX_HELD: Final = 524_288


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
