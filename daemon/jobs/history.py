"""Predictions of a job, stored compactly, and the expiry of the last one."""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Final

import msgspec

from ...results.prediction import Prediction

_LEVEL: Final = 1  # the fastest: the dictionary gives most of the compression
_WINDOW_BITS: Final = -12  # deflate without header; 4 KiB reach back over the dictionary
_MEMORY_LEVEL: Final = 5
_FIRST: Final = b""
"""Placeholder of the dictionary."""
_SKIPPED_SHARE: Final = 0.51  # share of a period after the predicted start at which a phase counts as skipped
_MAX_SILENCE: Final = 16  # periods; the prediction of a job that is silent for longer is not renewed


class History:
    """The newest ``most`` predictions, encoded: a quarter of a kilobyte each instead of seven.

    The first prediction is the compression dictionary of all, so that constant names and numbers are stored once. The
    last one is also stored unencoded. Iteration decodes one at a time, oldest first.
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
        """Return the newest ``most`` predictions, oldest first, decoded during iteration."""
        return map(self._decode, tuple(islice(reversed(self._encoded), most))[::-1])

    def append(self, prediction: Prediction) -> None:
        """Add a prediction; beyond the bound the oldest is removed."""
        plain = msgspec.msgpack.encode(prediction.model_dump())
        self.last = prediction
        if not self._dictionary:  # most jobs have only one: a packer takes longer to create than to use
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


def stale_at(prediction: Prediction, last_s: float) -> float | None:
    """Return when the predicted start has passed by more than half a period. A new prediction is then needed.

    Without a predicted start: 1, 2, 4, ... periods after the last data. None after the longest silence.
    """
    if prediction.period_s is None or prediction.period_s.value <= 0:
        return None
    period_s = prediction.period_s.value
    if prediction.next_phase is not None:
        stale_s = prediction.next_phase.start_s.value + _SKIPPED_SHARE * period_s
        return stale_s if stale_s - last_s <= _MAX_SILENCE * period_s else None
    silence_s = period_s
    while last_s + silence_s <= prediction.made_at_s:
        silence_s *= 2
    return last_s + silence_s if silence_s <= _MAX_SILENCE * period_s else None
