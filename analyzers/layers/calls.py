"""Calls as columns, with what is known of the calls around each."""

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
"""In the place of a layer: the program itself."""
UNTOLD: Final = 255
"""In the place of a layer: the enclosing call has not ended yet."""
FREE: Final = 0
"""Depth of a call that no other encloses."""

TOP_DOWN: Final = (
    Layer.OTHER, Layer.NETCDF, Layer.PNETCDF, Layer.HDF5, Layer.MPIIO, Layer.STDIO, Layer.POSIX, Layer.KERNEL,
)  # fmt: skip
"""Layers as they usually stand above one another."""

NO_FATE: Final = 0
ABSORBED: Final = 1
PASSED: Final = 2
CHANGED: Final = 3
SPLIT: Final = 4
FATES: Final = ("", "absorbed", "passed", "changed", "split")
"""What became of a request below: no request, none below, one of the same size, one of another, several."""

BOTTOM: Final = (1 << Layer.POSIX) | (1 << Layer.STDIO) | (1 << Layer.KERNEL)
"""Layers below which there is nothing to trace, as bits."""

Column = npt.NDArray[Any]


@dataclass(slots=True, eq=False)
class Calls:
    """Rows that are calls, or sums of calls that are alike; each column has shape (n,).

    ``depth``: calls around the row's outermost known enclosing call. ``around``: layers that enclose it, as bits.
    ``over``, ``over_kind``: layer and kind of the directly enclosing call. ``count``: calls in the row. ``ns``: their
    durations; ``below_ns``: what of these was spent in calls directly below. ``below``, ``below_bytes``: calls directly
    below that move data the same way. ``system_*``: what all calls below a collective did in the lowest layers.
    ``summed``: no call any more that can enclose others.
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

    def __len__(self) -> int:
        return len(self.start)

    def take(self, rows: npt.NDArray[Any]) -> Self:
        """Returns the rows that an index array or a mask names."""
        if rows.dtype == np.bool_:
            rows = np.flatnonzero(rows)
        return type(self)(*(getattr(self, name).take(rows) for name in NAMES))

    def columns(self) -> dict[str, Column]:
        """Maps names to columns."""
        return {name: getattr(self, name) for name in NAMES}


NAMES: Final = tuple(field.name for field in fields(Calls))
_BYTE_COLUMNS: Final = frozenset({"layer", "kind", "depth", "around", "over", "over_kind", "fate"})
_FLAG_COLUMNS: Final = frozenset({"collective", "summed"})
_SUMMED: Final = ("count", "ns", "requested", "bytes", "failed", "below_ns", "below", "below_bytes", "system_ns",
                  "system_bytes")  # fmt: skip
_ALIKE: Final = ("thread", "layer", "kind", "call", "file", "handle", "parent", "depth", "around", "over", "over_kind",
                 "collective", "fate")  # fmt: skip


def dtype_of(name: str) -> np.dtype[Any]:
    """Returns the dtype of a column."""
    if name in _BYTE_COLUMNS:
        return np.dtype(np.uint8)
    return np.dtype(np.bool_) if name in _FLAG_COLUMNS else np.dtype(np.int64)


def no_calls() -> Calls:
    """Returns no rows."""
    return Calls(*(np.zeros(0, dtype_of(name)) for name in NAMES))


def joined(parts: Iterable[Calls]) -> Calls:
    """Returns rows of several behind one another."""
    several = [part for part in parts if len(part)]
    if not several:
        return no_calls()
    if len(several) == 1:
        return several[0]
    return Calls(*(np.concatenate([getattr(part, name) for part in several]) for name in NAMES))


def moves(calls: Calls) -> npt.NDArray[np.bool_]:
    """Tells which rows read or write."""
    found: npt.NDArray[np.bool_] = (calls.kind == Kind.READ) | (calls.kind == Kind.WRITE)
    return found


def size_class(calls: Calls) -> Ints:
    """Returns the bits of each request's size: 0 for none, k for 2**(k-1) up to 2**k - 1 bytes."""
    size = calls.requested if not calls.summed.any() else calls.requested // np.maximum(calls.count, 1)
    # exact up to 2**46, below which float64 has every integer
    return np.frexp(size.astype(np.float64))[1].astype(np.int64)


def summed_up(calls: Calls) -> Calls:
    """Sums rows that are alike and of sizes alike; how long they took together stays."""
    alike = [getattr(calls, name).astype(np.int64) for name in _ALIKE]
    return summed_by(calls, [*alike, size_class(calls)])[0]


def summed_by(calls: Calls, alike: Sequence[Ints]) -> tuple[Calls, Rows]:
    """Sums rows that are the same in some columns int64[n], n >= 1.

    Returns:
        The sums; and of each the number of one of its rows, whose values it has in all columns that are not summed.
    """
    found = Grouping(alike)
    groups, some = len(found), found.first
    made: dict[str, Column] = {name: column.take(some) for name, column in calls.columns().items()}
    sums = found.sums([getattr(calls, name) for name in _SUMMED])
    made |= {name: np.ascontiguousarray(sums[:, at]) for at, name in enumerate(_SUMMED)}
    made["start"], made["end"] = found.least(calls.start), found.most(calls.end)
    made["summed"] = np.ones(groups, np.bool_)
    return Calls(**made), some
