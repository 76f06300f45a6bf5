"""The columnar batch: many events as NumPy arrays of equal length."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from operator import attrgetter
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from .schema import COLUMNS

_MAX_BYTES: Final = 1 << 62
IntArray = npt.NDArray[np.integer[Any]]


class EventBatch(Struct, frozen=True, eq=False):
    """Events as columns, one array each; see ``schema.COLUMNS`` for dtypes and meanings.

    A constant column is stored with stride 0 (``numpy.broadcast_to``): it takes no memory, and the wire sends it as one
    number. Arrays may be read-only; analyzers never write to them.
    """

    start: IntArray
    duration: IntArray
    call: IntArray
    layer: IntArray
    kind: IntArray
    rank: IntArray
    pid: IntArray
    tid: IntArray
    file: IntArray
    handle: IntArray
    parent: IntArray
    depth: IntArray
    offset: IntArray
    requested: IntArray
    bytes: IntArray
    errno: IntArray
    flags: IntArray
    signature: IntArray

    def __len__(self) -> int:
        return len(self.start)

    @property
    def end(self) -> npt.NDArray[np.int64]:
        """Completion time of each event, int64 ns."""
        return self.start + self.duration

    @property
    def moved(self) -> int:
        """Bytes of all events that are not nested in another, at most 2**62."""
        if not is_constant(self.depth):
            return min(int(self.bytes[self.depth == 0].sum(dtype=np.float64)), _MAX_BYTES)
        if not len(self) or self.depth[0]:
            return 0
        if is_constant(self.bytes):
            return min(int(self.bytes[0]) * len(self), _MAX_BYTES)
        return min(int(self.bytes.sum(dtype=np.float64)), _MAX_BYTES)

    def columns(self) -> dict[str, IntArray]:
        """Return the arrays by column name, in schema order."""
        return {name: getattr(self, name) for name in COLUMNS}

    def select(self, rows: npt.NDArray[Any] | slice) -> EventBatch:
        """Return the rows selected by a boolean mask, an index array or a slice. Constant columns stay constant."""
        if isinstance(rows, slice):
            return EventBatch(*[column[rows] for column in _values(self)])
        start = self.start[rows]
        picked: dict[str, IntArray] = {"start": start}
        for name, column in self.columns().items():
            if name != "start":
                picked[name] = _constant(column[0], len(start)) if is_constant(column) else column[rows]
        return _batch(picked)

    def replace(self, **columns: npt.ArrayLike) -> EventBatch:
        """Return a batch with some columns replaced (scalars apply to all rows)."""
        made = self.columns()
        for name, value in columns.items():
            made[name] = _column(name, value, len(self))
        return _batch(made)


def is_constant(column: npt.NDArray[Any]) -> bool:
    """Return whether a column is stored as one repeated value."""
    return column.strides == (0,) and len(column) > 0


def representatives(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the values of a column, but only one for a constant column. This suffices to find the distinct values."""
    return column[:1] if is_constant(column) else column


def make_batch(length: int, columns: Mapping[str, npt.ArrayLike]) -> EventBatch:
    """Build a batch from arrays or scalars by column name. Missing columns get their "unknown" value.

    Raises:
        ValueError: a column is not in the schema, has the wrong length, or is not one-dimensional.
        OverflowError: a scalar does not fit its column.
    """
    made = {name: _column(name, value, length) for name, value in columns.items()}
    for name, (_, unknown) in COLUMNS.items():
        if name not in made:
            made[name] = _repeated(name, unknown, length)
    return _batch(made)


def empty_batch() -> EventBatch:
    """Return a batch without events."""
    return make_batch(0, {})


def concatenate(batches: Iterable[EventBatch]) -> EventBatch:
    """Concatenate batches. A column that is constant with one value in all of them stays constant."""
    parts = [batch for batch in batches if len(batch)]
    if not parts:
        return empty_batch()
    if len(parts) == 1:
        return parts[0]
    length = sum(len(part) for part in parts)
    joined: list[IntArray] = []
    for columns in zip(*map(_values, parts), strict=True):
        first = columns[0]
        if all(column.strides == (0,) and column[0] == first[0] for column in columns):
            joined.append(_constant(first[0], length))
        else:
            joined.append(np.concatenate(columns))
    return EventBatch(*joined)


_values: Final = attrgetter(*COLUMNS)
"""All columns of a batch, in schema order."""


def _batch(columns: Mapping[str, IntArray]) -> EventBatch:
    return EventBatch(*map(columns.__getitem__, COLUMNS))  # by position: names take twice as long


@lru_cache(maxsize=4096)
def _repeated(name: str, value: int, length: int) -> IntArray:
    return _constant(np.array(value, COLUMNS[name][0]), length)


def _column(name: str, value: npt.ArrayLike, length: int) -> IntArray:
    if name not in COLUMNS:
        raise ValueError(f"no column is called {name!r}")
    dtype = COLUMNS[name][0]
    if type(value) is np.ndarray and value.shape == (length,):
        return value if value.dtype == dtype else value.astype(dtype)
    if isinstance(value, int):
        return _repeated(name, value, length)
    if np.ndim(value) == 0:
        return _constant(np.array(value, dtype), length)
    array = np.asarray(value)
    if array.shape != (length,):
        raise ValueError(f"column {name!r} has shape {array.shape}, not ({length},)")
    return array if array.dtype == dtype else array.astype(dtype)


def _constant(value: Any, length: int) -> IntArray:
    one = np.asarray(value)
    spread: IntArray = np.ndarray((length,), one.dtype, one, strides=(0,))  # takes a tenth of the time of broadcast_to
    spread.flags.writeable = False
    return spread


# the list of columns exists twice, for the types
if EventBatch.__struct_fields__ != tuple(COLUMNS):
    raise AssertionError("EventBatch and COLUMNS name different columns")
