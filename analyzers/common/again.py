"""What can be gone through any number of times, and is made anew each time, so that it need not be in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T", covariant=True)


class Again(Generic[T]):
    """An iterable of what a function yields, which is called once for each iteration.

    >>> squares = Again(lambda: (number * number for number in range(3)))
    >>> list(squares), list(squares)
    ([0, 1, 4], [0, 1, 4])
    """

    def __init__(self, make: Callable[[], Iterator[T]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[T]:
        return self._make()
