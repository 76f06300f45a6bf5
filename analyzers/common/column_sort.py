"""Sorting of columns in memory, or by another ``Ordering`` of callers with a disk; iterables for several passes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

Columns: TypeAlias = Mapping[str, npt.NDArray[Any]]
"""Arrays of equal length by name."""
Ordering: TypeAlias = Callable[[Iterable[Columns], str], Iterable[Columns]]
"""Function from pieces of columns and a key name to sorted pieces. These can be iterated several times."""
T = TypeVar("T", covariant=True)


def ordered(pieces: Iterable[Columns], key: str) -> list[Columns]:
    """Return all rows sorted by a key, stable, as one piece. Returns an empty list without rows."""
    held = [piece for piece in pieces if len(piece[key])]
    if not held:
        return []
    joined = joined_columns(held)
    order = np.argsort(joined[key], kind="stable")
    return [{name: column[order] for name, column in joined.items()}]


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
