"""Select the lines of a trace that belong to some threads. The context lines that they need are selected, too."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .....events.kernel import KernelEvent
from ..lexing.dialect import INTERRUPT_KINDS
from ..lexing.numbers import Ints
from ..lexing.rows import Rows, Step
from .calls import CallRows
from .machine import WAKES

Mask = npt.NDArray[np.bool_]


def rows_of(rows: Rows, calls: CallRows, threads: Ints, has_context: Mask) -> Mask:
    """Return which rows of a block remain when a trace is filtered. The filter selects some threads.

    Rows remain in which a selected thread acts, is woken, created or switched to, or has a descriptor. Context rows
    remain that identify the acting thread: the preceding switch on its processor if the line does not name it, and for
    a wake-up the preceding begin or end of an interrupt. The last context rows on each processor also remain, for the
    next block.

    Args:
        rows: rows of a block, with acting threads.
        calls: the system calls among them.
        threads: the selected threads.
        has_context: mask of rows whose lines name the acting thread.
    """
    pairs = rows.code < int(Step.INTERRUPT_IN)
    stays = np.isin(rows.tid, threads) | (pairs & np.isin(rows.other, threads))
    descriptors = rows.code[calls.at] == int(Step.DESCRIPTOR)
    stays[calls.at[descriptors & np.isin(calls.fields["pid"], threads)]] = True
    interrupts = (rows.code == int(Step.INTERRUPT_IN)) | (rows.code == int(Step.INTERRUPT_OUT))
    stays &= ~interrupts
    wakes = stays & np.isin(rows.code, WAKES)
    for kind in range(INTERRUPT_KINDS):
        stays |= _needed(rows, interrupts & (rows.other == kind), wakes)
    if not has_context.all():
        switches = rows.code == int(KernelEvent.SCHED_SWITCH)
        stays |= _needed(rows, switches, stays & ~has_context & ~switches)
    return stays


def _needed(rows: Rows, marks: Mask, users: Mask) -> Mask:
    """Return the last mark before each user on its processor. It also returns the last mark on each processor."""
    needed = np.zeros(len(rows), np.bool_)
    at = np.flatnonzero(marks | users)
    at = at[np.argsort(rows.cpu[at], kind="stable")]
    places = np.flatnonzero(marks[at])
    if not len(places):
        return needed
    cpu = rows.cpu[at[places]]
    needed[at[places[np.append(cpu[1:] != cpu[:-1], True)]]] = True
    before = np.searchsorted(places, np.flatnonzero(users[at])) - 1
    mine = (before >= 0) & (cpu[before] == rows.cpu[at[users[at]]])
    needed[at[places[before[mine]]]] = True
    return needed
