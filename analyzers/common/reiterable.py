"""Iterables that are generated anew for each pass. Their items need not be in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T", covariant=True)


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
