"""Calls as columns, with information on enclosing and nested calls."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

from ...events import Kind, Layer
from ..common.grouping import Grouping
from ..common.state import Ints, Rows

LAYERS: Final = len(Layer)
PROGRAM: Final = LAYERS
"""Pseudo layer of the program itself."""
UNTOLD: Final = 255
"""Pseudo layer for an enclosing call that has not ended yet."""
FREE: Final = 0
"""Depth of a call without an enclosing call."""

TOP_DOWN: Final = (
    Layer.OTHER, Layer.NETCDF, Layer.PNETCDF, Layer.HDF5, Layer.MPIIO, Layer.STDIO, Layer.POSIX, Layer.KERNEL,
)  # fmt: skip
"""Layers in their usual order from top to bottom."""

NO_FATE: Final = 0
ABSORBED: Final = 1
PASSED: Final = 2
CHANGED: Final = 3
SPLIT: Final = 4
FATES: Final = ("", "absorbed", "passed", "changed", "split")
"""Translation of a request by the layers below. The values are no request, no call below, one of equal size, one of
another size, or several."""

BOTTOM: Final = (1 << Layer.POSIX) | (1 << Layer.STDIO) | (1 << Layer.KERNEL)
"""Bit mask of layers below which nothing can be traced."""

Column = npt.NDArray[Any]


@dataclass(slots=True, eq=False)
class Calls:
    """Rows that are calls, or sums of equal calls; each column has shape (n,).

    ``depth``: number of calls around the outermost known enclosing call. ``around``: bit mask of enclosing layers.
    ``over``, ``over_kind``: layer and kind of the directly enclosing call. ``count``: number of calls in the row.
    ``ns``: their total duration; ``below_ns``: time of it in directly nested calls. ``below``, ``below_bytes``:
    directly nested calls that move data in the same direction. ``system_*``: work of all calls nested in a collective
    in the lowest layers. ``summed``: whether the row is a sum, which cannot enclose other calls.
    """

    serial: Column
    thread: Column
    process: Column
    layer: Column
    kind: Column
    call: Column
    file: Column
    handle: Column
    parent: Column
    depth: Column
    around: Column
    over: Column
    over_kind: Column
    start: Column
    end: Column
    count: Column
    ns: Column
    requested: Column
    bytes: Column
    failed: Column
    collective: Column
    below_ns: Column
    below: Column
    below_bytes: Column
    system_ns: Column
    system_bytes: Column
    fate: Column
    summed: Column
    begun: Column

    def __len__(self) -> int:
        return len(self.start)

    def take(self, rows: npt.NDArray[Any]) -> Self:
        """Return the rows selected by an index array or a mask."""
        if rows.dtype == np.bool_:
            rows = np.flatnonzero(rows)
        return type(self)(*(getattr(self, name).take(rows) for name in NAMES))

    def columns(self) -> dict[str, Column]:
        """Return a dict from names to columns."""
        return {name: getattr(self, name) for name in NAMES}


NAMES: Final = tuple(field.name for field in fields(Calls))
_BYTE_COLUMNS: Final = frozenset({"layer", "kind", "depth", "around", "over", "over_kind", "fate"})
_FLAG_COLUMNS: Final = frozenset({"collective", "summed", "begun"})
_SUMMED: Final = ("count", "ns", "requested", "bytes", "failed", "below_ns", "below", "below_bytes", "system_ns",
                  "system_bytes")  # fmt: skip
_ALIKE: Final = ("thread", "layer", "kind", "call", "file", "handle", "parent", "depth", "around", "over", "over_kind",
                 "collective", "fate", "begun")  # fmt: skip


def dtype_of(name: str) -> np.dtype[Any]:
    """Return the dtype of a column."""
    if name in _BYTE_COLUMNS:
        return np.dtype(np.uint8)
    return np.dtype(np.bool_) if name in _FLAG_COLUMNS else np.dtype(np.int64)


def no_calls() -> Calls:
    """Return an empty table."""
    return Calls(*(np.zeros(0, dtype_of(name)) for name in NAMES))


def joined(parts: Iterable[Calls]) -> Calls:
    """Concatenate the rows of several tables."""
    several = [part for part in parts if len(part)]
    if not several:
        return no_calls()
    if len(several) == 1:
        return several[0]
    return Calls(*(np.concatenate([getattr(part, name) for part in several]) for name in NAMES))


def moves(calls: Calls) -> npt.NDArray[np.bool_]:
    """Return which rows are reads or writes. Calls that start an asynchronous operation are neither."""
    found: npt.NDArray[np.bool_] = ((calls.kind == Kind.READ) | (calls.kind == Kind.WRITE)) & ~calls.begun
    return found


def size_class(calls: Calls) -> Ints:
    """Return the size class of each request. The class is 0 for 0 bytes, and k for 2**(k-1) to 2**k - 1 bytes."""
    size = calls.requested if not calls.summed.any() else calls.requested // np.maximum(calls.count, 1)
    # exact up to 2**46, since float64 represents every integer below that
    return np.frexp(size.astype(np.float64))[1].astype(np.int64)


def summed_up(calls: Calls) -> Calls:
    """Sum rows that are equal except for times, of the same size class. The total time is kept."""
    alike = [getattr(calls, name).astype(np.int64) for name in _ALIKE]
    return summed_by(calls, [*alike, size_class(calls)])[0]


def summed_by(calls: Calls, alike: Sequence[Ints]) -> tuple[Calls, Rows]:
    """Sum rows that are equal in the given columns int64[n], n >= 1.

    Returns:
        The sums, and for each the index of one of its rows, which provides the values of all columns that are not
        summed.
    """
    found = Grouping(alike)
    groups, some = len(found), found.first
    made: dict[str, Column] = {name: column.take(some) for name, column in calls.columns().items()}
    sums = found.sums([getattr(calls, name) for name in _SUMMED])
    made |= {name: np.ascontiguousarray(sums[:, at]) for at, name in enumerate(_SUMMED)}
    made["start"], made["end"] = found.least(calls.start), found.most(calls.end)
    made["summed"] = np.ones(groups, np.bool_)
    return Calls(**made), some
