"""Convert the parts of a kernel trace's lines to columns. These are acting threads, and the fields of each event."""

from __future__ import annotations

import re
from typing import Final

import numpy as np
import numpy.typing as npt

from ..lexing.line import Lines
from ..lexing.numbers import Ints, Numbers
from ..lexing.payload import Found
from ..lexing.rows import Rows
from .machine import Machine

_RUNNABLE: Final = re.compile(rb"R|0$|256$|0x0$|\(.*TASK_RUNNING")  # 256: preempted
_RUNS, _WAITS = 1, 2


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
