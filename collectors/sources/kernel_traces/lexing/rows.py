"""What lines of kernel traces say, as columns, before it is known who acted."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import IntEnum
from typing import Final

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
UNKNOWN_TID: Final = -1


class Step(IntEnum):
    """Lines that are no event of ``KernelEvent`` but tell what those mean; numbered beyond them."""

    INTERRUPT_IN = 32
    INTERRUPT_OUT = 33
    CALL_IN = 34
    CALL_OUT = 35
    DESCRIPTOR = 36
    """A descriptor that a process has had since before the trace."""


@dataclass(slots=True)
class Rows:
    """Lines that mean something, in the order of the file; int64[n] each, and texts by number.

    Attributes:
        line: number of the line within its block, from 0.
        time: ns.
        cpu: number of the processor.
        code: a KernelEvent or a Step.
        tid: the acting thread, UNKNOWN_TID where the line does not tell.
        pid: its process, 0 where that is not known.
        comm: number of its command, 0 where the line does not tell.
        other: the other thread; for interrupts, their kind.
        text: number of the text about the event.
        value: state, vector, address space, whichever the event has.
        other_pid: process of the other thread, 0 where that is not known.
        inside: 1 where the line itself says that it is written in an interrupt.
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
        """Returns some of the rows."""
        return Rows(*(getattr(self, field.name)[rows] for field in fields(self)))

    @classmethod
    def zeros(cls, length: int) -> Rows:
        """Makes rows that say nothing yet."""
        made = cls(*(np.zeros(length, np.int64) for _ in fields(cls)))
        made.tid[:] = UNKNOWN_TID
        return made
