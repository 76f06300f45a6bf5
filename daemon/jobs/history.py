"""The predictions that were made of a job, kept small."""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Final

import msgspec

from ...results.prediction import Prediction

_LEVEL: Final = 1  # the fastest: most is won by the dictionary
_WINDOW_BITS: Final = -12  # deflate without header; 4 KiB reach back over the dictionary
_MEMORY_LEVEL: Final = 5
_FIRST: Final = b""
"""Stands for the dictionary."""


class History:
    """The newest ``most`` predictions, encoded: a quarter of a kilobyte each instead of seven.

    Names, and numbers that stay as they are, are told once: the first prediction is the dictionary of all. The last one
    is also kept whole. Iterating decodes one after the other, oldest first.
    """

    def __init__(self, most: int) -> None:
        self._encoded: deque[bytes] = deque(maxlen=most)
        self._dictionary = b""
        self.last: Prediction | None = None
        """The last prediction, None before the first."""

    def __len__(self) -> int:
        return len(self._encoded)

    def __iter__(self) -> Iterator[Prediction]:
        return map(self._decode, tuple(self._encoded))

    def latest(self, most: int) -> Iterator[Prediction]:
        """Returns the newest ``most`` predictions, oldest first; they are decoded as they are asked for."""
        return map(self._decode, tuple(islice(reversed(self._encoded), most))[::-1])

    def append(self, prediction: Prediction) -> None:
        """Adds a prediction; past the bound the oldest goes."""
        plain = msgspec.msgpack.encode(prediction.model_dump())
        self.last = prediction
        if not self._dictionary:  # most jobs have no other: a packer takes longer to make than to use
            self._dictionary = plain
            self._encoded.append(_FIRST)
            return
        packer = zlib.compressobj(
            _LEVEL, zlib.DEFLATED, _WINDOW_BITS, _MEMORY_LEVEL, zlib.Z_DEFAULT_STRATEGY, self._dictionary
        )
        self._encoded.append(packer.compress(plain) + packer.flush())

    def _decode(self, encoded: bytes) -> Prediction:
        plain = self._dictionary
        if encoded != _FIRST:
            plain = zlib.decompressobj(_WINDOW_BITS, plain).decompress(encoded)
        return Prediction.model_validate(msgspec.msgpack.decode(plain))
