"""Assign numbers to the texts of a column, many at a time."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

Text = TypeVar("Text", bound=Hashable)


class TextNumbers(Generic[Text]):
    """Numbers of the texts seen so far. A new text gets its number on first use.

    Args:
        number: function that assigns a new text its number; 0 means that its table is full, and then this one stops
            growing, too.
    """

    def __init__(self, number: Callable[[Text], int]) -> None:
        self._number: Callable[[Text], int] = number
        self._known: dict[Text, int] = {}

    def of(self, texts: Sequence[Text]) -> npt.NDArray[np.uint32]:
        """Return the number of each text, uint32."""
        known = self._known
        numbers = list(map(known.get, texts))
        if None in numbers:
            for at in [at for at, number in enumerate(numbers) if number is None]:
                text = texts[at]
                number = known.get(text)
                if number is None:
                    number = self._number(text)
                    if number or not text:
                        known[text] = number
                numbers[at] = number
        return np.fromiter(numbers, np.uint32, len(numbers))
