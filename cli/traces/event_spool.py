"""Columns and events in a temporary file. Commands use it for more of them than fit into memory."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator, Mapping, Sequence
from tempfile import TemporaryFile
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ...events import EventBatch, Flag, UnavailableError, concatenate
from ...events.schema import COLUMNS

_JOINED: Final = 131_072  # events; streams that alternate in a file are written in fewer, longer pieces

_UNUSED_BY_SIGNAL: Final = ("call", "handle", "parent", "errno", "signature")
# summaries and mapped files need these for their bytes
_UNUSED_BY_SIGNAL_OF_CALLS: Final = (*_UNUSED_BY_SIGNAL, "offset", "requested")

Columns = Mapping[str, npt.NDArray[Any]]


class _Column(NamedTuple):
    """Encoding of integers: offsets from the minimum, in as few bytes as possible.

    ``narrow`` is None if all values are equal.
    """

    name: str
    dtype: np.dtype[Any]
    lowest: Any
    narrow: np.dtype[Any] | None


class _Place(NamedTuple):
    at: int
    length: int
    columns: list[_Column]


class ColumnSpool:
    """Pieces of columns in an anonymous file that disappears with the object."""

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115  (it lives as long as the object)
        weakref.finalize(self, self._file.close)
        self._end = 0
        self._places: list[_Place] = []

    def __len__(self) -> int:
        """Return the number of pieces."""
        return len(self._places)

    def put(self, length: int, columns: Columns) -> None:
        """Append a piece of at least one row of integers.

        Raises:
            UnavailableError: the disk is full.
        """
        known = []
        at = self._end
        for name, column in columns.items():
            low, high = column.min(), column.max()
            narrow = None if low == high else _narrow_column(int(high) - int(low))
            known.append(_Column(name, column.dtype, low, narrow))
            if narrow is not None:
                self._write((column - low).astype(narrow))
        self._places.append(_Place(at, length, known))

    def get(self, number: int) -> dict[str, npt.NDArray[Any]]:
        """Return the columns of a piece."""
        at, length, columns = self._places[number]
        size = sum(length * each.narrow.itemsize for each in columns if each.narrow is not None)
        data = os.pread(self._file.fileno(), size, at)
        made: dict[str, npt.NDArray[Any]] = {}
        low = 0
        for name, dtype, lowest, narrow in columns:
            if narrow is None:
                made[name] = np.broadcast_to(lowest, (length,))
                continue
            made[name] = np.frombuffer(data, narrow, length, low).astype(dtype)
            made[name] += lowest
            low += length * narrow.itemsize
        return made

    def _write(self, column: npt.NDArray[Any]) -> None:
        data = np.ascontiguousarray(column).view(np.uint8).data
        try:
            while len(data):
                written = os.pwrite(self._file.fileno(), data, self._end)
                self._end += written
                data = data[written:]
        except OSError as error:
            where = os.environ.get("TMPDIR", "/tmp")  # noqa: S108  (named, not opened)
            problem = f"a temporary file in {where} cannot be written: {error.strerror or error}"
            raise UnavailableError(f"{problem}; TMPDIR may name a folder with more room") from error


def _narrow_columns(batch: EventBatch) -> EventBatch:
    unused = _UNUSED_BY_SIGNAL if (batch.flags & int(Flag.AGGREGATE | Flag.MAPS)).any() else _UNUSED_BY_SIGNAL_OF_CALLS
    return batch.replace(**{name: COLUMNS[name][1] for name in unused})


def _narrow_column(most: int) -> np.dtype[Any]:
    return np.dtype(next(each for each in (np.uint8, np.uint16, np.uint32, np.uint64) if most <= np.iinfo(each).max))


class EventSpool:
    """Events of streams. Pieces of one stream keep their order; those of several are grouped by stream.

    Args:
        signal_only: store only columns for the signal: volume, time, file and member; the rest is then unknown.
    """

    def __init__(self, *, signal_only: bool = False) -> None:
        self._signal_only = signal_only
        self._columns = ColumnSpool()
        self._names: list[str] = []
        self._waiting: dict[str, list[EventBatch]] = {}
        self._waiting_events = 0

    def put(self, name: str, batch: EventBatch) -> None:
        """Append events of a stream.

        Raises:
            UnavailableError: the disk is full.
        """
        self._waiting.setdefault(name, []).append(batch)
        self._waiting_events += len(batch)
        if self._waiting_events >= _JOINED:
            self._flush()

    def __iter__(self) -> Iterator[tuple[str, EventBatch]]:
        self._flush()
        for number, name in enumerate(self._names):
            yield name, self._get(number)

    def of(self, stream: str) -> Iterator[EventBatch]:
        """Yield the events of one stream."""
        self._flush()
        for number in self._numbers().get(stream, ()):
            yield self._get(number)

    def _numbers(self) -> dict[str, Sequence[int]]:
        numbers: dict[str, Any] = {}
        for number, name in enumerate(self._names):
            numbers.setdefault(name, []).append(number)
        return numbers

    def _get(self, number: int) -> EventBatch:
        columns = self._columns.get(number)
        return EventBatch(*[columns[name] for name in COLUMNS])

    def _flush(self) -> None:
        waiting, self._waiting, self._waiting_events = self._waiting, {}, 0
        for name, batches in waiting.items():
            batch = _narrow_columns(concatenate(batches)) if self._signal_only else concatenate(batches)
            self._columns.put(len(batch), batch.columns())
            self._names.append(name)
