"""What the names of events mean in a dialect."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from .calls import is_io
from .dialect import Dialect
from .line import Lines
from .numbers import Ints, Numbers
from .payload import Payload

MOST_NAMES: Final = 16_384
_SHOWN: Final = 64
_UNKNOWN: Final = 0


class Events:
    """Numbers of the names of events, from 1, and what is behind them; past ``MOST_NAMES`` new ones mean nothing, 0."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._meanings: list[tuple[str, Payload | None, str]] = [("further names", None, "")]
        self._numbers = Numbers(self._number)
        self._others = np.zeros(MOST_NAMES + 1, np.int64)

    def of(self, data: bytes, lines: Lines) -> Ints:
        """Returns the number of the event that each line is of."""
        return self._numbers.of(data, lines["event"])

    def sort_out(self, events: Ints) -> npt.NDArray[np.bool_]:
        """Tells which events mean something, and counts the others."""
        means = np.array([payload is not None for _, payload, _ in self._meanings])[events]
        self._others += np.bincount(events[~means], minlength=len(self._others))
        return means

    def others(self) -> dict[str, int]:
        """Returns how many events of each name meant nothing."""
        return {self._meanings[at][0]: int(self._others[at]) for at in np.flatnonzero(self._others).tolist()}

    def payload(self, event: int) -> Payload | None:
        """Returns what is behind an event's name, None for one that means nothing."""
        return self._meanings[event][1]

    def call(self, event: int) -> str:
        """Returns the name of the system call that an event is of, "" where it is of none or does not tell."""
        return self._meanings[event][2]

    def _number(self, event: bytes) -> int:
        if len(self._meanings) > MOST_NAMES:
            return _UNKNOWN
        payload, call = self._dialect.payloads.get(event), ""
        if payload is None and (found := self._dialect.call_of(event)) is not None:
            step, name = found
            if is_io(name):
                payload, call = Payload(step), name
        self._meanings.append((event[:_SHOWN].decode(errors="replace"), payload, call))
        return len(self._meanings) - 1
