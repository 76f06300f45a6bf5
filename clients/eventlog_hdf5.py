"""Event logs as HDF5 in the form of seed 000: a group a case, in it the columns pid, call, start, dur, fp, size."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import h5py
import numpy as np
import numpy.typing as npt

from .eventlog import EventLog, LogCase

FORMAT: Final = "iotide event log"
VERSION: Final = 1
_PIECE: Final = 65_536


def write_hdf5(target: Path, log: EventLog) -> None:
    """Writes a log; all its events, whatever the mapping. Times are int64 nanoseconds.

    Raises:
        OSError: the file cannot be written.
    """
    calls, files = _table(log.calls), _table(log.files)
    with h5py.File(target, "w", libver="v110") as out:
        out.attrs["format"], out.attrs["version"] = FORMAT, VERSION
        for case in log.cases:
            _write_case(out.create_group(case.name), case, calls, files)


def _write_case(group: h5py.Group, case: LogCase, calls: npt.NDArray[Any], files: npt.NDArray[Any]) -> None:
    group.attrs["cid"], group.attrs["host"], group.attrs["rid"] = case.command, case.host, case.rank
    group.attrs["clock"] = "unix" if case.clock else "unknown"
    columns: dict[str, npt.NDArray[Any]] = {
        "pid": case.pid,
        "start": case.start,
        "dur": case.duration,
        "size": case.size,
    }
    if (case.tid != case.pid).any():
        columns["tid"] = case.tid
    if (case.ranks != case.rank).any():
        columns["rank"] = case.ranks
    for name, column in columns.items():
        group.create_dataset(name, data=column.astype(np.int64), chunks=_chunks(column), compression=1, shuffle=True)
    for name, numbers, table in (("call", case.call, calls), ("fp", case.file, files)):
        made = group.create_dataset(name, (len(numbers),), table.dtype, chunks=_chunks(numbers), compression=1)
        for begin in range(0, len(numbers), _PIECE):
            made[begin : begin + _PIECE] = table[numbers[begin : begin + _PIECE]]
    for name in ("start", "dur"):
        group[name].attrs["units"] = "ns"


def _table(texts: Sequence[str]) -> npt.NDArray[np.bytes_]:
    """Returns texts as UTF-8 of fixed width; compression takes the padding out again."""
    return np.array([text.encode(errors="backslashreplace") for text in texts] or [b""], np.bytes_)


def _chunks(column: npt.NDArray[Any]) -> tuple[int]:
    return (max(1, min(len(column), _PIECE)),)
