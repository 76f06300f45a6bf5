"""Convert many records without words to columns. One pass finds constant columns, another writes the rest."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from .....events import Kind
from .....events.compiled import load
from .lines import Lines, Records
from .names import Names
from .ring_layout import RECORD

MIN_LINES: Final = 512
"""Minimum number of lines for which this is faster."""

_PATH: Final = __file__.rpartition("/")[0] + "/native/libiotide_records.so"
_POINTER, _U64, _I64 = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_int64
_FUNCTIONS: Final[dict[str, tuple[Any, list[Any]]]] = {
    "records_survey": (None, [_POINTER, _POINTER, _U64, _I64, _POINTER]),
    "records_columns": (_U64, [_POINTER, _POINTER, _U64, _U64]),
    "records_remember": (None, [_POINTER, _POINTER, _POINTER, _U64]),
}
_WORDS: Final = 8
_HIGH, _KIND, _HAS_WORDS, _SURVEYED = range(_WORDS, _WORDS + 4)
_MISSING: Final = 2**32 - 1
_MAX_BITS: Final = 62
_LAST_KIND: Final = max(Kind)
_FIELDS: Final[dict[str, np.dtype[Any]]] = {
    "start": np.dtype(np.int64), "duration": np.dtype(np.int64), "offset": np.dtype(np.int64),
    "requested": np.dtype(np.int64), "bytes": np.dtype(np.int64), "handle": np.dtype(np.uint32),
    "parent": np.dtype(np.uint32), "file": np.dtype(np.uint32), "call": np.dtype(np.uint32),
    "flags": np.dtype(np.uint16), "errno": np.dtype(np.uint16), "kind": np.dtype(np.uint8), "depth": np.dtype(np.uint8),
    "layer": np.dtype(np.uint8), "signature": np.dtype(np.uint32),
}  # fmt: skip
"""Columns in the order of the helper."""
_RECORDED: Final = frozenset(RECORD.names or ())


@lru_cache(maxsize=1)
def native() -> ctypes.CDLL | None:
    """Return the compiled helper, or None if it was not built. Records are then converted without it."""
    return load(_PATH, _FUNCTIONS)


def plain_columns(pieces: Sequence[Lines], clock_offset_ns: int, names: Names) -> dict[str, Any] | None:
    """Return the columns of lines that are all valid records without words.

    Args:
        pieces: lines of rings, at least one line.
        clock_offset_ns: offset added to starts, ns.
        names: definitions of the process.

    Returns:
        All columns of a batch that records have: arrays, or one number for a constant column. None if the lines do not
        qualify or the helper is missing.
    """
    library = native()
    if library is None:
        return None
    survey = np.zeros(_SURVEYED, np.uint64)
    for lines in pieces:
        library.records_survey(
            pieces[0].ctypes.data, lines.ctypes.data, len(lines), clock_offset_ns, survey.ctypes.data
        )
    if survey[_HAS_WORDS] or survey[_KIND] > _LAST_KIND or int(survey[_HIGH]) >> _MAX_BITS:
        return None
    varying = _varying(survey[:_WORDS])
    length = sum(map(len, pieces))
    made = _of_one(pieces[0][:1].view(RECORD).reshape(-1), clock_offset_ns, names)
    if "signature" not in varying:
        made["signature"] = names.signatures.of_equal_records(_records(pieces[0][:1]), length)
    arrays = {name: np.empty(length, dtype) for name, dtype in _FIELDS.items() if name in varying}
    if arrays:
        _write(library, pieces, arrays, clock_offset_ns, names)
    return made | arrays


def _of_one(row: npt.NDArray[Any], clock_offset_ns: int, names: Names) -> dict[str, Any]:
    """Return the columns of one record, without its signature, as numbers."""
    call, layer = names.calls(row["call"])
    made: dict[str, Any] = {name: int(row[name][0]) for name in _FIELDS if name in _RECORDED}
    return made | {
        "start": made["start"] + clock_offset_ns,
        "call": int(call[0]),
        "layer": int(layer[0]),
        "file": int(names.files(row["file"])[0]),
    }


def _varying(differs: npt.NDArray[np.uint64]) -> frozenset[str]:
    """Return the columns that vary, from the bits in which lines differ."""
    bits = differs.view(RECORD)[0]
    varying = {name for name in _FIELDS if name in _RECORDED and bits[name]}
    if bits["call"]:
        varying.add("layer")
    if bits["call"] or bits["descriptor"] or bits["requested"]:
        varying.add("signature")
    return frozenset(varying)


def _write(
    library: ctypes.CDLL, pieces: Sequence[Lines], arrays: dict[str, npt.NDArray[Any]], offset_ns: int, names: Names
) -> None:
    """Fill the arrays of columns."""
    columns = [arrays[name].ctypes.data if name in arrays else 0 for name in _FIELDS]
    calls, layers, files = names.tables()
    index, *by_specification, known = names.signatures.tables()
    arguments = np.array(
        [
            *(*columns, offset_ns, files.ctypes.data, len(files), calls.ctypes.data, layers.ctypes.data, len(calls)),
            *(index.ctypes.data, len(index), *(each.ctypes.data for each in by_specification)),
            *(known.ctypes.data, len(known) - 1),
        ],
        np.int64,
    )
    missing = at = 0
    for lines in pieces:
        missing += library.records_columns(arguments.ctypes.data, lines.ctypes.data, len(lines), at)
        at += len(lines)
    if missing:
        signature = arrays["signature"]
        rows = np.flatnonzero(signature == _MISSING)
        of_pieces = np.cumsum([0, *map(len, pieces)])
        cuts = np.searchsorted(rows, of_pieces).tolist()
        parts = [
            lines[rows[low:high] - first]
            for lines, first, low, high in zip(pieces, of_pieces.tolist(), cuts, cuts[1:], strict=False)
        ]
        unknown = np.concatenate(parts)
        signature[rows] = numbers = names.signatures.of(_records(unknown))
        library.records_remember(arguments.ctypes.data, unknown.ctypes.data, numbers.ctypes.data, len(unknown))


def _records(lines: Lines) -> Records:
    """Return records from lines that are all records without words."""
    return Records(lines.view(RECORD).reshape(-1), np.zeros(0, np.uint64), np.zeros(len(lines), np.int64), None)
