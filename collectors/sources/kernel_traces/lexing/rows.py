"""Columns of kernel trace lines, before the acting threads are known."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import IntEnum
from typing import Final

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
UNKNOWN_TID: Final = -1


class Step(IntEnum):
    """Lines that are not an event of ``KernelEvent`` but are needed to interpret them. Numbered beyond them."""

    INTERRUPT_IN = 32
    INTERRUPT_OUT = 33
    CALL_IN = 34
    CALL_OUT = 35
    DESCRIPTOR = 36
    """A descriptor that a process had open before the trace."""


@dataclass(slots=True)
class Rows:
    """Relevant lines in the order of the file; int64[n] each, with texts by number.

    Attributes:
        line: number of the line within its block, from 0.
        time: ns.
        cpu: number of the processor.
        code: a KernelEvent or a Step.
        tid: the acting thread, UNKNOWN_TID if the line does not name it.
        pid: its process, 0 if unknown.
        comm: number of its command, 0 if the line does not name it.
        other: the other thread; for interrupts, their kind.
        text: number of the text about the event.
        value: state, vector or address space, depending on the event.
        other_pid: process of the other thread, 0 if unknown.
        inside: 1 if the line itself states that it was written in an interrupt.
    """

    line: Ints
    time: Ints
    cpu: Ints
    code: Ints
    tid: Ints
    pid: Ints
    comm: Ints
    other: Ints
    text: Ints
    value: Ints
    other_pid: Ints
    inside: Ints

    def __len__(self) -> int:
        return len(self.line)

    def select(self, rows: npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> Rows:
        """Return some of the rows."""
        return Rows(*(getattr(self, field.name)[rows] for field in fields(self)))

    @classmethod
    def zeros(cls, length: int) -> Rows:
        """Return rows with default values."""
        made = cls(*(np.zeros(length, np.int64) for _ in fields(cls)))
        made.tid[:] = UNKNOWN_TID
        return made
