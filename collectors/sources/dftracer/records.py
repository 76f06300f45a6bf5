"""Decode the lines of a dftracer trace, and convert the records of calls to columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Any, Final, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from ....events import Kind, Layer
from ....events.network.malformed import MALFORMED
from ...call_classes import CALLS, classify

LATEST_NS: Final = 2**62
LARGEST_ID: Final = 2**31 - 1

COMPLETE, COUNTER, AGGREGATED, METADATA = 1, 2, 3, 4
_PHASES: Final = {"X": COMPLETE, "C": COUNTER, "A": AGGREGATED, "M": METADATA}
_LAYERS: Final = {
    "POSIX": Layer.POSIX,
    "STDIO": Layer.STDIO,
    "MPIIO": Layer.MPIIO,
    "MPI-IO": Layer.MPIIO,
    "HDF5": Layer.HDF5,
}
_NO_IO: Final = re.compile(r"v?fork|wait(pid|id|3|4)?|exec\w+|f(try|un)?lockfile")
_VECTORS: Final = ("readv", "writev", "preadv", "pwritev")
_ITEMS: Final = frozenset(("fread", "fwrite", "fread_unlocked", "fwrite_unlocked"))


class Arguments(msgspec.Struct, gc=False):
    """Fields of ``args``; missing ones are None. Versions before hashes wrote ``fname`` and ``hostname``."""

    hhash: Any = None
    fhash: Any = None
    ret: Any = None
    count: Any = None
    offset: Any = None
    size: Any = None
    flags: Any = None
    mode: Any = None
    whence: Any = None
    name: Any = None
    value: Any = None
    fname: Any = None
    hostname: Any = None
    ppid: Any = None
    exec_hash: Any = None
    cmd_hash: Any = None
    dft_cnt: Any = None
    ret_sum: Any = None
    dur: Any = None
    dur_sum: Any = None


class Record(msgspec.Struct, gc=False):
    """One line."""

    name: str
    pid: Annotated[int, msgspec.Meta(ge=0, le=LARGEST_ID)]
    ph: int | str
    cat: str = ""
    tid: int = 0
    ts: int | float = -1
    dur: int | float = 0
    args: Arguments | None = None


NOTHING: Final = Arguments()
_decoder = msgspec.json.Decoder(Record)


def decode(text: bytes) -> list[Record] | None:
    """Decode whole lines; returns None if one of them is not a record."""
    try:
        return _decoder.decode_lines(text)
    except MALFORMED:
        return None


def decode_line(line: bytes) -> list[Record] | str:
    """Decode the records of one line; returns an error text if they are malformed."""
    try:
        return _decoder.decode_lines(line)
    except MALFORMED as error:
        return str(error)[:200]


class Meaning(NamedTuple):
    """Properties of a record, all as numbers, so that many records form a table."""

    phase: int
    """COMPLETE etc.; 0 for unknown phases. Versions before 4 wrote Chrome's letters."""
    call: bool
    """The record represents one or many I/O calls."""
    layer: int = Layer.OTHER
    kind: int = Kind.OTHER
    items: bool = False
    """Its return value counts items of some size."""
    vectors: bool = False
    """Its count is a number of buffers, not of bytes."""


def meanings(records: Sequence[Record]) -> npt.NDArray[np.int64]:
    """Return one row per record and one column per field of ``Meaning``."""
    names, categories = [record.name for record in records], [record.cat for record in records]
    keys = list(zip(names, categories, [record.ph for record in records], strict=True))
    places = {each: place for place, each in enumerate(set(keys))}
    codes = np.fromiter(map(places.__getitem__, keys), np.int64, len(keys))
    return np.array([meaning(*place) for place in places], np.int64).reshape(-1, len(Meaning._fields))[codes]


@lru_cache(maxsize=65_536)
def meaning(name: str, category: str, phase: int | str) -> Meaning:
    """Determine the properties of a record from its name, category and phase.

    >>> meaning("pwrite64", "POSIX", 1).kind == Kind.WRITE, meaning("waitpid", "POSIX", 1).call
    (True, False)
    """
    number = phase if isinstance(phase, int) else _PHASES.get(phase, 0)
    number = number if COMPLETE <= number <= METADATA else 0
    layer = _LAYERS.get(category.upper())
    in_mpi = category.upper() == "MPI" and name.startswith("MPI_File_")
    if number not in (COMPLETE, AGGREGATED) or (layer is None and not in_mpi):
        return Meaning(number, call=False)
    if _NO_IO.fullmatch(name) or (layer == Layer.HDF5 and not name.startswith("H5")):
        return Meaning(number, call=False)
    known, kind = classify(name)
    layer = known if name in CALLS or layer is None else layer
    return Meaning(number, True, layer, kind, name in _ITEMS, name.startswith(_VECTORS))


def integers(values: list[Any], unknown: int) -> npt.NDArray[np.int64]:
    """Return a column, int64. Values that are missing, not a number or out of range become ``unknown``."""
    if values.count(None) == len(values):
        return np.full(len(values), unknown, np.int64)
    try:
        made = np.array([unknown if value is None else value for value in values])
        if made.ndim == 1 and made.dtype.kind == "i":
            return made.astype(np.int64)
    except (ValueError, OverflowError):  # lists of different lengths, or integers with more digits than int64
        pass
    # as in a column of integers alone, which may have true and false, too
    usable = (int(value) if isinstance(value, int) and -(2**63) <= value < 2**63 else unknown for value in values)
    return np.fromiter(usable, np.int64, len(values))


def nanoseconds(values: list[int | float], unit_ns: int) -> npt.NDArray[np.int64]:
    """Convert times to int64 ns; -1 for impossible values."""
    made = np.array(values)
    if made.dtype.kind not in "iuf":  # integers with more digits than int64
        made = np.array([value if 0 <= value <= LATEST_NS else -1 for value in values])
    highest = LATEST_NS // unit_ns
    good = (made >= 0) & (made <= highest)
    safe = np.where(good, made, 0)
    if made.dtype.kind in "iu":
        exact = safe.astype(np.int64) * unit_ns
    else:  # a fraction must not cost the whole numbers beside it their last digits
        exact = np.rint(safe * unit_ns).astype(np.int64)
        whole = [at for at, value in enumerate(values) if type(value) is int and good[at]]
        exact[whole] = [int(values[at]) * unit_ns for at in whole]
    return np.where(good, exact, -1)


def moved(
    arguments: Sequence[Arguments], table: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Return bytes and requested bytes, int64, and whether each call failed.

    Calls of stdio return a number of items; vectors are counted by buffers. An aggregated record has the sum of its
    calls' return values, or the common return value of each.
    """
    phase, _, _, kind, items, vectors = table.T
    summed = phase == AGGREGATED
    returned = integers([each.ret for each in arguments], 0)
    failed = (returned < 0) & ~summed
    if summed.any():
        calls = np.clip(integers([each.dft_cnt for each in arguments], 1), 1, 2**31)
        each_alike = np.where(returned <= LATEST_NS // calls, returned, 0) * calls
        returned = np.where(summed, integers([each.ret_sum for each in arguments], -1), returned)
        returned = np.where(summed & (returned < 0), each_alike, returned)
    asked = integers([each.count for each in arguments], 0)
    size = np.ones(len(arguments), np.int64)
    if items.any():
        size = np.where(items, np.clip(integers([each.size for each in arguments], 0), 0, 2**31), 1)
    moves = (kind == Kind.READ) | (kind == Kind.WRITE)
    room = LATEST_NS // np.maximum(size, 1)
    volume = np.where(moves & (returned > 0) & (returned <= room), returned, 0) * size
    requested = np.where(moves & (vectors == 0) & ~summed & (asked > 0) & (asked <= room), asked, 0) * size
    return volume, requested, failed
