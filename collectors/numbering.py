"""Numbers for the texts of a column, many at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import numpy as np
import numpy.typing as npt

Text = TypeVar("Text", str, bytes)


class Numbering(Generic[Text]):
    """Numbers of the texts met so far; a new text is numbered on first use.

    Args:
        number: gives a new text its number; 0 says that its table is full, and then this one stops growing too.
    """

    def __init__(self, number: Callable[[Text], int]) -> None:
        self._number: Callable[[Text], int] = number
        self._known: dict[Text, int] = {}

    def of(self, texts: Sequence[Text]) -> npt.NDArray[np.uint32]:
        """Returns the number of each text, uint32."""
        known = self._known
        try:
            return np.fromiter([known[text] for text in texts], np.uint32, len(texts))
        except KeyError:
            for text in dict.fromkeys(texts):
                if text not in known and ((number := self._number(text)) or not text):
                    known[text] = number
            return np.fromiter([known.get(text, 0) for text in texts], np.uint32, len(texts))
