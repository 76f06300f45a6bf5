"""Select the I/O calls among the events of a Chrome trace. Convert their fields to columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from ....events import COLUMNS, Kind, Layer
from ...call_classes import CALLS, classify

LATEST_US: Final = 4_600_000_000_000_000
_SINCE_2000_US: Final = 946_684_800_000_000


class Arguments(msgspec.Struct, gc=False):
    """Fields of an event's ``args`` about an I/O call. iotide's names come first, then those of other tools."""

    path: Any = None
    signature: Any = None
    offset: Any = None
    requested: Any = None
    bytes: Any = None
    errno: Any = None
    handle: Any = None
    parent: Any = None
    depth: Any = None
    flags: Any = None
    rank: Any = None
    pid: Any = None
    name: Any = None
    host: Any = None
    command: Any = None
    job: Any = None
    user: Any = None
    step: Any = None
    file_type: Any = None
    clock: Any = None
    begin_ns: Any = None
    fname: Any = None
    filename: Any = None
    file_name: Any = None
    file: Any = None
    file_path: Any = None
    pathname: Any = None
    size: Any = None
    nbytes: Any = None
    length: Any = None
    count: Any = None
    ret: Any = None
    bytesRead: Any = None  # noqa: N815  (as it is spelt there)
    bytesWritten: Any = None  # noqa: N815
    position: Any = None
    file_offset: Any = None


class Event(msgspec.Struct, gc=False):
    """An event of the trace-event format; missing fields are None."""

    name: Any = None
    cat: Any = None
    ph: Any = None
    ts: Any = None
    dur: Any = None
    pid: Any = None
    tid: Any = None
    args: Arguments | None = None


NO_ARGUMENTS: Final = Arguments()

_READERS: Final[dict[str, Callable[[list[Any]], list[Any]]]] = {
    "offset": lambda many: [each.offset for each in many],
    "requested": lambda many: [each.requested for each in many],
    "bytes": lambda many: [each.bytes for each in many],
    "errno": lambda many: [each.errno for each in many],
    "handle": lambda many: [each.handle for each in many],
    "parent": lambda many: [each.parent for each in many],
    "depth": lambda many: [each.depth for each in many],
    "flags": lambda many: [each.flags for each in many],
    "rank": lambda many: [each.rank for each in many],
    "pid": lambda many: [each.pid for each in many],
}
"""Columns from ``args``; one comprehension per column, which the interpreter runs fast."""
_OTHER_NAMES: Final[dict[str, tuple[str, ...]]] = {
    "path": ("fname", "filename", "file_name", "file_path", "pathname", "file"),
    "bytes": ("bytesWritten", "bytesRead", "ret", "size", "nbytes", "length", "count"),
    "offset": ("file_offset", "position"),
    "requested": ("count", "size", "length", "nbytes"),
}
_LAYERS: Final = {layer.name: layer for layer in Layer}
_KINDS: Final = {kind.name: kind for kind in Kind}
_PREFIXES: Final = ("fs.sync.", "fs.async.", "fs_dir.sync.", "fs_dir.async.", "fs.", "__x64_sys_", "sys_", "posix::")
_NAMED_LAYERS: Final = ("MPI_File_", "PMPI_File_", "H5", "ncmpi_", "nc_")


class Meaning(NamedTuple):
    """The call that an event represents."""

    call: str
    layer: Layer
    kind: Kind


@lru_cache(maxsize=65_536)
def meaning(name: str, category: str) -> Meaning | None:
    """Return the call that an event represents; None if it is not I/O.

    iotide's exporter writes layer and kind into the category. Other tools write a call name, such as ``read``,
    ``sys_read``, ``fs.sync.read`` (Node.js) or ``H5Dwrite``.

    >>> meaning("fs.sync.write", "node,node.fs,node.fs.sync")
    Meaning(call='write', layer=<Layer.POSIX: 1>, kind=<Kind.WRITE: 8>)
    """
    layer, _, kind = category.partition(",")
    if layer in _LAYERS and kind in _KINDS:
        return Meaning(name, _LAYERS[layer], _KINDS[kind])
    call = next((name.removeprefix(prefix) for prefix in _PREFIXES if name.startswith(prefix)), name)
    if call in CALLS or call.startswith(_NAMED_LAYERS):
        return Meaning(call, *classify(call))
    return None


def meanings(events: Sequence[Event]) -> list[Meaning | None]:
    """Return the meaning of each event."""
    try:
        named = [(event.name, event.cat) for event in events]
        known = {each: _meaning(*each) for each in set(named)}
        return [known[each] for each in named]
    except TypeError:  # a name that is a list or an object
        return [_meaning(event.name, event.cat) for event in events]


def _meaning(name: Any, category: Any) -> Meaning | None:
    return meaning(name, category if type(category) is str else "") if type(name) is str else None


def numbers(
    arguments: list[Arguments], kinds: npt.NDArray[Any], *, by_iotide: bool
) -> dict[str, npt.NDArray[np.int64]]:
    """Return the columns present in the arguments, int64. Returns -1 for an unknown offset, rank or pid.

    Args:
        arguments: arguments of each call.
        kinds: kind of each call; other tools' "ret" or "count" are bytes only for reads and writes.
        by_iotide: accept only iotide's names.
    """
    columns = {}
    moves = (kinds == Kind.READ) | (kinds == Kind.WRITE)
    for name, read in _READERS.items():
        unknown = COLUMNS[name][1] if name != "pid" else -1
        values = read(arguments)
        column = _whole(values, unknown) if values.count(None) < len(values) else None
        if not by_iotide and name in _OTHER_NAMES and moves.any():
            column = _from_others(name, column, arguments, moves, unknown)
        if column is not None:
            columns[name] = column
    return columns


def paths(arguments: Sequence[Arguments], *, by_iotide: bool) -> list[str]:
    """Return the path of each call's file, "" if unknown."""
    if by_iotide:
        return [each.path if type(each.path) is str else "" for each in arguments]
    names = ("path", *_OTHER_NAMES["path"])
    return [next((text for name in names if type(text := getattr(each, name)) is str), "") for each in arguments]


def times(values: list[Any]) -> npt.NDArray[np.int64]:
    """Convert microseconds to nanoseconds, as exactly as the file states them; -1 for unusable values."""
    try:
        made = np.array(values)
        if made.ndim == 1 and made.dtype.kind in "iu":
            usable = (made >= 0) & (made <= LATEST_US)
            return np.where(usable, made, 0).astype(np.int64) * 1000 - ~usable.astype(np.bool_)
        plain = made.ndim == 1 and made.dtype.kind == "f"
    except (ValueError, OverflowError):
        plain = False
    if not plain:
        made = np.array([_float(value) for value in values])
    usable = (made >= 0) & (made <= LATEST_US)  # false for NaN
    made = np.where(usable, made, 0.0)
    whole = np.floor(made)
    exact = whole.astype(np.int64) * 1000 + np.rint((made - whole) * 1000).astype(np.int64)
    return np.where(usable, exact, -1)


def is_unix(timestamp: Any) -> bool:
    """Return whether a stamp is so large that it can only count from 1970."""
    return _float(timestamp) >= _SINCE_2000_US


def joined(begin: Arguments | None, end: Arguments | None) -> Arguments | None:
    """Merge the arguments of the begin and end events of a call. The end event takes precedence."""
    if begin is None or end is None:
        return end or begin
    both = {name: getattr(end, name) for name in Arguments.__struct_fields__}
    return Arguments(**{name: getattr(begin, name) if value is None else value for name, value in both.items()})


def _from_others(
    name: str,
    column: npt.NDArray[np.int64] | None,
    arguments: list[Arguments],
    moves: npt.NDArray[np.bool_],
    unknown: int,
) -> npt.NDArray[np.int64] | None:
    missing = moves.copy() if column is None else moves & (column == unknown)
    for other in _OTHER_NAMES[name]:
        if not missing.any():
            break
        rows = [row for row in np.flatnonzero(missing).tolist() if getattr(arguments[row], other) is not None]
        if rows:
            column = np.full(len(arguments), unknown, np.int64) if column is None else column
            column[rows] = _whole([getattr(arguments[row], other) for row in rows], unknown)
            missing[rows] = False
    return column


def _whole(values: list[Any], unknown: int) -> npt.NDArray[np.int64]:
    try:
        made = np.array(values)
        if made.ndim == 1 and made.dtype.kind == "i":
            return made.astype(np.int64)
    except (ValueError, OverflowError):  # lists of different lengths, or integers with more digits than int64
        pass
    return np.fromiter(_integers(values, unknown), np.int64, len(values))


def _integers(values: list[Any], unknown: int) -> Iterator[int]:
    for value in values:
        if type(value) is int and -(2**63) <= value < 2**63:  # as in a column of integers alone
            yield value
        else:
            number = _float(value)
            yield int(number) if number.is_integer() and abs(number) < 2**62 else unknown


def _float(value: Any) -> float:
    """Return a number, also one written as text; NaN for anything else."""
    try:
        return float(value) if isinstance(value, int | float | str) else math.nan
    except (ValueError, OverflowError):
        return math.nan
