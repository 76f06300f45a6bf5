"""From the texts of a kernel trace's lines to columns: who acts, and the fields of each event."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from .calls import whole_number
from .machine import Machine
from .rows import UNKNOWN_TID, Rows

_RUNNABLE: Final = re.compile(rb"R|0$|256$|0x0$|\(.*TASK_RUNNING")  # 256: preempted
_LARGEST_TID: Final = 2**31 - 1
_IN_INTERRUPT: Final = re.compile(rb"[hHsZz]")
_CONTEXT: Final = re.compile(rb'(?:^|[ ,])(tid|pid|procname) = ("[^"]*"|\d+)')

Ints = npt.NDArray[np.int64]
Lists = Mapping[str, Sequence[bytes]]
"""Texts of each group of a line's pattern."""


def headers(
    machine: Machine,
    lists: Lists,
    numbers: Ints,
    times: Ints,
    chosen: npt.NDArray[np.intp],
) -> Rows:
    """Makes rows of what stands before the events' names.

    Args:
        machine: numbers the names of commands.
        lists: groups of all lines.
        numbers: numbers of the chosen lines within their block.
        times: their times.
        chosen: which of the lines.
    """
    rows = Rows.zeros(len(chosen))
    rows.line[:], rows.time[:] = numbers, times
    at = chosen.tolist()
    every = len(at) == len(lists["cpu"])

    def column(name: str) -> Sequence[bytes]:
        return lists[name] if every else [lists[name][row] for row in at]

    rows.cpu[:] = _whole(column("cpu"))
    if "tid" in lists:
        rows.tid[:] = _whole(column("tid"))
    if "pid" in lists and any(lists["pid"]):
        rows.pid[:] = _whole(column("pid"))
    if "comm" in lists:
        rows.comm[:] = np.where(rows.tid == UNKNOWN_TID, 0, machine.comms(column("comm")))
    if "flags" in lists and any(lists["flags"]):
        flags = column("flags")
        inside = {text: bool(_IN_INTERRUPT.search(text)) for text in set(flags)}
        rows.inside[:] = list(map(inside.__getitem__, flags))
    if "context" in lists and any(lists["context"]):
        _context(machine, column("context"), rows)
    return rows


def store(
    machine: Machine,
    rows: Rows,
    at: npt.NDArray[np.intp],
    texts: Mapping[str, Sequence[bytes]],
) -> None:
    """Puts the fields of some lines into the columns of their rows, ``at``."""
    for group, column in texts.items():
        if group == "name":
            rows.text[at] = machine.comms(column)
        elif group == "path":
            rows.text[at] = machine.comms([path.rpartition(b"/")[2][:15] for path in column])
        elif group == "state":
            waits = {text: not _RUNNABLE.match(text) for text in set(column)}
            rows.value[at] = list(map(waits.__getitem__, column))
        elif group == "value":
            rows.value[at] = [whole_number(text) or 0 for text in column]
        else:
            getattr(rows, group)[at] = _whole(column)


def _context(machine: Machine, texts: Sequence[bytes], rows: Rows) -> None:
    """Takes who acts from a block of context, which a tracer was asked to write with each event."""
    for at, text in enumerate(texts):
        told = dict(_CONTEXT.findall(text))
        if b"tid" in told:
            rows.tid[at] = _one(told[b"tid"])
            rows.pid[at] = _one(told.get(b"pid", b"0"))
            rows.comm[at] = machine.comms([told.get(b"procname", b'""')[1:-1]])[0]


def _whole(texts: Sequence[bytes]) -> npt.NDArray[np.int64]:
    """Returns numbers of threads and processors; those that cannot be any become the largest."""
    try:
        numbers = np.fromiter(map(int, texts), np.int64, len(texts))
    except (ValueError, OverflowError):
        numbers = np.array([_one(text) for text in texts], np.int64)
    return np.minimum(numbers, _LARGEST_TID)


def _one(text: bytes) -> int:
    return min(int(text), _LARGEST_TID) if text.isdigit() and len(text) < 19 else 0
