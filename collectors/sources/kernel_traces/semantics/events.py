"""Meaning of event names in a dialect, and the columns of the events: acting threads, and the fields of each event."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from ..lexing.dialect import Dialect, Found, Payload
from ..lexing.line import Lines
from ..lexing.numbers import Ints, Numbers
from ..lexing.rows import Rows
from .calls import is_io
from .machine import Machine

_RUNNABLE: Final = re.compile(rb"R|0$|256$|0x0$|\(.*TASK_RUNNING")  # 256: preempted
_RUNS, _WAITS = 1, 2
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


def states() -> Numbers:
    """Return the numbering of thread states that ``store`` needs."""
    return Numbers(lambda text: _RUNS if _RUNNABLE.match(text) else _WAITS)


def headers(machine: Machine, data: bytes, lines: Lines, numbers: Ints, times: Ints) -> Rows:
    """Return rows from the text before the payloads.

    Args:
        machine: numbering of command names.
        data: data to which the lines' extents refer.
        lines: the relevant lines of the machine.
        numbers: their numbers within their block.
        times: their times.
    """
    rows = Rows.zeros(len(lines))
    rows.line[:], rows.time[:] = numbers, times
    for name in ("cpu", "tid", "pid", "inside"):
        getattr(rows, name)[:] = lines[name]
    known = np.flatnonzero(lines["tid"] >= 0)
    rows.comm[known] = machine.comms.of(data, lines["comm"][known])
    return rows


def store(machine: Machine, waits: Numbers, data: bytes, rows: Rows, at: npt.NDArray[np.intp], part: Found) -> None:
    """Store the fields of some lines in the columns of their rows ``at``. ``waits`` is the numbering of ``states``."""
    fits = part.fields.fits
    at = at[part.rows[fits]]
    for name, values in part.fields.numbers.items():
        if name == "tid":  # command and process before the event's name belong to another thread
            differs = at[rows.tid[at] != values[fits]]
            rows.comm[differs], rows.pid[differs] = 0, 0
        getattr(rows, name)[at] = values[fits]
    for name, extents in part.fields.texts.items():
        if name == "state":
            rows.value[at] = waits.of(data, extents[fits]) == _WAITS
        else:
            rows.text[at] = (machine.programs if name == "path" else machine.comms).of(data, extents[fits])
