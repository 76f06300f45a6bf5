"""Meaning of event names in a dialect."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from ..lexing.dialect import Dialect
from ..lexing.line import Lines
from ..lexing.numbers import Ints, Numbers
from ..lexing.payload import Payload
from .calls import is_io

MAX_NAMES: Final = 16_384
_SHOWN: Final = 64
_UNKNOWN: Final = 0


class Events:
    """Numbers of event names, from 1, and their payloads. Beyond ``MAX_NAMES``, new names get 0 and are ignored."""

    def __init__(self, dialect: Dialect) -> None:
        self._dialect = dialect
        self._meanings: list[tuple[str, Payload | None, str]] = [("further names", None, "")]
        self._numbers = Numbers(self._number)
        self._others = np.zeros(MAX_NAMES + 1, np.int64)
        self.code, self.interrupt = np.zeros((2, MAX_NAMES + 1), np.int64)
        """Indexed by number: a ``KernelEvent`` or a ``Step`` (0 for ignored events), and the kind of an interrupt."""

    def of(self, data: bytes, lines: Lines) -> Ints:
        """Return the number of each line's event."""
        return self._numbers.of(data, lines["event"])

    def sort_out(self, events: Ints) -> npt.NDArray[np.bool_]:
        """Return a mask of the relevant events, and count the others."""
        means: npt.NDArray[np.bool_] = self.code[events] > 0
        others = np.bincount(events[~means])
        self._others[: len(others)] += others
        return means

    def others(self) -> Counter[str]:
        """Return the number of ignored events by name."""
        return Counter({self._meanings[at][0]: int(self._others[at]) for at in np.flatnonzero(self._others).tolist()})

    def with_fields(self, events: Ints) -> Iterator[tuple[Payload, npt.NDArray[np.intp]]]:
        """Yield each payload whose fields are needed, with the indices of its events."""
        # 16 bits are sorted by radix sort, which 64 bits are too wide for
        order = np.argsort(events.astype(np.uint16), kind="stable")
        ends = np.cumsum(np.bincount(events))
        for event in np.flatnonzero(np.diff(ends, prepend=0)).tolist():
            payload = self._meanings[event][1]
            if payload is not None and payload.wants_fields:
                yield payload, order[ends[event - 1] if event else 0 : ends[event]]

    def call(self, event: int) -> str:
        """Return the name of an event's system call. Returns "" if it has none or does not name it."""
        return self._meanings[event][2]

    def _number(self, event: bytes) -> int:
        if len(self._meanings) > MAX_NAMES:
            return _UNKNOWN
        payload, call = self._dialect.payloads.get(event), ""
        if payload is None and (found := self._dialect.call_of(event)) is not None:
            step, name = found
            if is_io(name):
                payload, call = Payload(step), name
        if payload is not None:
            at = len(self._meanings)
            self.code[at], self.interrupt[at] = int(payload.code), payload.interrupt
        self._meanings.append((event[:_SHOWN].decode(errors="replace"), payload, call))
        return len(self._meanings) - 1
