"""Calls that start an asynchronous operation: its bytes come with the call that completes it."""

from __future__ import annotations

import re
from typing import Final

import numpy as np
import numpy.typing as npt

from ...events import EventBatch, Flag
from ...events.batch import representatives

_STARTS: Final = re.compile(
    r"io_submit|aio_(?:read|write)(?:64)?|lio_listio(?:64)?"
    r"|P?MPI_File_i(?:read|write)\w*|P?MPI_File_(?:read|write)\w*_begin"
    r"|ncmpi_(?:iput|iget|bput)_\w+"
)
"""Kernel AIO, POSIX AIO, MPI-IO (nonblocking and split collective calls) and PnetCDF."""


def starts_operation(call: str) -> bool:
    """Return whether calls of this name start an asynchronous operation.

    >>> starts_operation("io_submit"), starts_operation("MPI_File_iwrite_at"), starts_operation("pwrite")
    (True, True, False)
    """
    return _STARTS.fullmatch(call) is not None


def mark_started(batch: EventBatch, starts: npt.NDArray[np.bool_]) -> EventBatch:
    """Set ``Flag.BEGUN`` for calls that start an operation and have no bytes themselves.

    Formats without completions (Darshan, Recorder) have the bytes with the call that starts the operation. These calls
    are operations and stay as they are.

    Args:
        batch: events in the job's numbers.
        starts: whether calls start operations, bool by call number.
    """
    found = starts.take(representatives(batch.call))
    if not found.any():
        return batch
    begun = found & (batch.bytes == 0) & (batch.requested == 0) & ((batch.flags & int(Flag.FAILED)) == 0)
    return batch.replace(flags=np.where(begun, batch.flags | int(Flag.BEGUN), batch.flags)) if begun.any() else batch
