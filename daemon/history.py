"""The predictions that were made of a job, kept small."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

import msgspec

from ..events.models import Prediction


class History:
    """The newest ``most`` predictions, encoded: less than a kilobyte each instead of seven.

    The last one is also kept whole. Iterating decodes one after the other, oldest first.
    """

    def __init__(self, most: int) -> None:
        self._encoded: deque[bytes] = deque(maxlen=most)
        self.last: Prediction | None = None
        """The last prediction, None before the first."""

    def __len__(self) -> int:
        return len(self._encoded)

    def __iter__(self) -> Iterator[Prediction]:
        return map(_decode, tuple(self._encoded))

    def append(self, prediction: Prediction) -> None:
        """Adds a prediction; past the bound the oldest goes."""
        self._encoded.append(_encode(prediction))
        self.last = prediction


def _encode(prediction: Prediction) -> bytes:
    return msgspec.msgpack.encode(prediction.model_dump())


def _decode(encoded: bytes) -> Prediction:
    return Prediction.model_validate(msgspec.msgpack.decode(encoded))
