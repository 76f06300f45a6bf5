"""Columns in the order of one of them: few in memory, more of them in a temporary file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from ...analyzers.common.ordered import Columns, ordered
from .sorted_spool import SortedSpool

MOST_HELD: Final = 524_288


class OrderedColumns:
    """Rows by a key, those of one key in the order in which they came; an ``Ordering`` of analyzers.

    Args:
        pieces: columns of equal length; gone through once.
        key: name of the int64 column that says the order.
        most_held: rows that are sorted in memory.

    Raises:
        UnavailableError: there is no room on the disk.
    """

    def __init__(self, pieces: Iterable[Columns], key: str, most_held: int = MOST_HELD) -> None:
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
