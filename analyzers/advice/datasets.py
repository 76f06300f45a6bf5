"""Requests of format libraries by handle. Each dataset (variable) of a file has its own chunks."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ...events import EventBatch, Flag, Kind, Layer
from ..common.grouping import Grouping
from ..common.state import Ints, Rows, State
from .call_sums import Rows as Sums
from .call_sums import Table

_COLUMNS: Final = ("calls", "ns", "bytes", "below_calls", "below_bytes", "passing")
_HANDLE_BITS: Final = 32  # bits of the handle in a key, above them is the stream
_REST: Final = -1  # key of all handles beyond the budget
_LIBRARIES: Final = np.zeros(256, np.bool_)
_LIBRARIES[[Layer.HDF5, Layer.NETCDF, Layer.PNETCDF]] = True
_BELOW: Final = np.zeros(256, np.bool_)
_BELOW[[Layer.MPIIO, Layer.POSIX, Layer.KERNEL]] = True
_MOVES: Final = np.zeros(256, np.bool_)
_MOVES[[Kind.READ, Kind.WRITE]] = True
_ENDS: Final = np.zeros(256, np.bool_)
_ENDS[[Kind.SYNC, Kind.DESTROY]] = True


class Datasets(NamedTuple):
    """Sums by handle of a library; each column has shape (n,)."""

    file: Ints
    calls: Ints
    """Reads and writes through the handle."""
    ns: Ints
    """Their duration, with that of flushes and closes, ns."""
    bytes: Ints
    below_calls: Ints
    """Reads and writes of lower layers that calls through the handle made."""
    below_bytes: Ints


class DatasetTable(State):
    """Sums by stream and handle; further ones beyond the budget are dropped."""

    def __init__(self, budget: int) -> None:
        self._table = Table(budget, len(_COLUMNS))

    @property
    def dropped(self) -> int:
        """Number of reads and writes without room for their handle."""
        return self._table.dropped

    def update(self, batch: EventBatch, stream: Ints, data: npt.NDArray[np.bool_]) -> None:
        """Add events.

        Args:
            batch: events.
            stream: stream number of each event.
            data: whether each event is on the program's data.
        """
        library, moves = _LIBRARIES.take(batch.layer), _MOVES.take(batch.kind)
        if not (library & data).any() and not (batch.parent != 0).any():
            return
        whole = data & ((batch.flags & int(Flag.FAILED | Flag.BEGUN)) == 0)
        own = whole & library & (moves | _ENDS.take(batch.kind)) & (batch.handle != 0)
        below = whole & moves & _BELOW.take(batch.layer) & (batch.parent != 0)
        passing = whole & (batch.layer == int(Layer.MPIIO)) & (batch.handle != 0)
        for rows, handle, columns in (
            (own, batch.handle, (moves, batch.duration, np.where(moves, batch.bytes, 0), None, None, None)),
            (below, batch.parent, (None, None, None, moves, batch.bytes, None)),
            (passing, batch.handle, (None, None, None, None, None, passing)),
        ):
            at = np.flatnonzero(rows)
            if len(at):
                self._add(batch, at, stream[at] << _HANDLE_BITS | handle[at].astype(np.int64), columns)

    def _add(self, batch: EventBatch, at: Rows, key: Ints, columns: tuple[npt.NDArray[np.generic] | None, ...]) -> None:
        alike = Grouping([key])
        none = np.zeros(len(at), np.int64)
        sums = alike.sums([none if each is None else each[at].astype(np.int64) for each in columns])
        file = batch.file[at][alike.first].astype(np.int64)
        self._table.add(key[alike.first], [*sums.T], file, file, np.full_like(file, _REST))

    def merge(self) -> None:
        """Merge buffered rows."""
        self._table.merge()

    def rows(self) -> Sums:
        """Return a copy of all rows; the minimum and maximum are file numbers."""
        return self._table.rows()


def datasets_of(rows: Sums) -> tuple[Datasets, Datasets]:
    """Return the handles with reads or writes of a library, and the others.

    Requests below the others belong to no dataset.

    Handles of MPI-IO are in neither, since their requests are those of the library's handle above.
    """
    columns = [rows.sums[:, at] for at in range(len(_COLUMNS))]
    passing = columns.pop()
    file, kept = rows.least, rows.key != _REST
    known = kept & (columns[0] > 0)
    rest = kept & ~known & (passing == 0)
    split = [Datasets(file[chosen], *(column[chosen] for column in columns)) for chosen in (known, rest)]
    return split[0], split[1]
