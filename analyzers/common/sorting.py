"""Sorting of columns in memory, or by another ``Ordering`` of callers with a disk, and of events by activity."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from .state import Ints, Rows

Columns: TypeAlias = Mapping[str, npt.NDArray[Any]]
"""Arrays of equal length by name."""
Ordering: TypeAlias = Callable[[Iterable[Columns], str], Iterable[Columns]]
"""Function from pieces of columns and a key name to sorted pieces. These can be iterated several times."""
T = TypeVar("T", covariant=True)
_BYTE: Final = 1 << 8
_SHORT: Final = 1 << 16


def ordered(pieces: Iterable[Columns], key: str) -> list[Columns]:
    """Return all rows sorted by a key, stable, as one piece. Returns an empty list without rows."""
    held = [piece for piece in pieces if len(piece[key])]
    if not held:
        return []
    joined = joined_columns(held)
    order = np.argsort(joined[key], kind="stable")
    return [{name: column[order] for name, column in joined.items()}]


def sorted_distinct(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the distinct integers of an array in ascending order.

    ``np.unique`` imports ``numpy.ma`` for this, which takes milliseconds at the end of each run.
    """
    made = np.sort(values, axis=None)
    differs = np.empty(len(made), np.bool_)
    differs[:1] = True
    np.not_equal(made[1:], made[:-1], out=differs[1:])
    return made[differs]


def is_among(values: npt.NDArray[Any], some: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return which integers are among some others, as ``np.isin`` does by ``np.unique``; bool, shape of the former."""
    if not len(some):
        return np.zeros(values.shape, np.bool_)
    made = np.sort(some)
    found: npt.NDArray[np.bool_] = made[np.minimum(np.searchsorted(made, values), len(made) - 1)] == values
    return found


def distinct_pairs(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the distinct pairs of two columns, shape (2, pairs), in ascending order of the first and then the second.

    It replaces ``np.unique`` of an axis, for the reason at ``sorted_distinct``.
    """
    made = np.stack([first, second])[:, np.lexsort((second, first))]
    differs = np.ones(made.shape[1], np.bool_)
    differs[1:] = (made[:, 1:] != made[:, :-1]).any(axis=0)
    return made[:, differs]


def joined_columns(pieces: Iterable[Columns]) -> dict[str, npt.NDArray[Any]]:
    """Concatenate at least one piece with the same columns."""
    held = list(pieces)
    return {name: np.concatenate([piece[name] for piece in held]) for name in held[0]}


class Reiterable(Generic[T]):
    """Iterable over the items of a generator function, which is called once per pass.

    >>> squares = Reiterable(lambda: (number * number for number in range(3)))
    >>> list(squares), list(squares)
    ([0, 1, 4], [0, 1, 4])
    """

    def __init__(self, make: Callable[[], Iterator[T]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[T]:
        return self._make()


class Groups(NamedTuple):
    """Columns sorted by activity; events of one activity keep their order.

    Attributes:
        rows: activities that occur, ascending, intp[k].
        heads: first event of each, intp[k].
        lengths: number of events of each, intp[k], none of them 0.
        start: ns, int64[n].
        duration: ns, int64[n].
        size: bytes, int64[n], -1 if unknown.
    """

    rows: Rows
    heads: Rows
    lengths: Rows
    start: Ints
    duration: Ints
    size: Ints

    def spread(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Repeat a value per activity [k] for each of its events."""
        return np.repeat(values, self.lengths)


def grouped(activity: Rows, start: Ints, duration: Ints, size: Ints) -> Groups:
    """Group events by activity; columns of shape (n,), n >= 1."""
    counts = np.bincount(activity)
    rows = np.flatnonzero(counts)
    lengths = counts[rows]
    if len(rows) > 1:
        order = order_of(activity, len(counts))
        start, duration, size = start.take(order), duration.take(order), size.take(order)
    return Groups(rows, np.cumsum(lengths) - lengths, lengths, start, duration, size)


def order_of(number: npt.NDArray[np.integer[Any]], width: int) -> Rows:
    """Return the stable order of numbers below ``width``; fewer bits sort faster."""
    if width <= _BYTE:
        number = number.astype(np.uint8)
    elif width <= _SHORT:
        number = number.astype(np.uint16)
    return np.argsort(number, kind="stable")
