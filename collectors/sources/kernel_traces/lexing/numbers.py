"""Assign numbers to the texts of one kind in a piece of trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import numpy.typing as npt

from ...strace.texts import Texts

Ints = npt.NDArray[np.int64]

MAX_BYTES: Final = 4096
"""Maximum significant length of a text (PATH_MAX)."""


class Numbers:
    """Numbers of the texts seen so far. A new text gets its number on first use.

    Args:
        number: function that assigns a new text its number; 0 means that its table is full, and then it is asked again.
    """

    def __init__(self, number: Callable[[bytes], int]) -> None:
        self._texts = Texts(lambda text, _: number(text))

    def of(self, data: bytes, extents: npt.NDArray[np.uint32]) -> Ints:
        """Return the number of each text, 0 for an empty one. Texts are extents in the data, of shape (n, 2)."""
        pairs = np.zeros((len(extents), 2, 2), np.uint32)
        pairs[:, 0, 0] = extents[:, 0]
        pairs[:, 0, 1] = np.minimum(extents[:, 1], extents[:, 0] + MAX_BYTES)
        return self._texts.of(data, pairs).astype(np.int64)
