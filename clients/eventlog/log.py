"""Event logs (seed 000): what happened in each case, for other tools, and to be read again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...events import UnavailableError

Ints = npt.NDArray[np.integer[Any]]

ENDINGS: Final = (".h5", ".hdf5", ".csv", ".parquet", ".xes")


@dataclass(frozen=True, slots=True)
class LogCase:
    """The events of one case in order of time, columns of equal length.

    Attributes:
        name: unique in the log; ``cid_host_rid`` where the case is a traced program.
        command: the seed's cid, "" where it is not known.
        rank: the seed's rid, -1 where it is not known.
        clock: whether ``start`` is Unix time; else its zero is not known.
        call: number into ``EventLog.calls``.
        start: ns.
        duration: ns.
        file: number into ``EventLog.files``.
        size: bytes that a read or write moved; -1 where there are none, as for calls that failed.
        activity: number into ``EventLog.activities``; -1 for an event that the mapping drops.
    """

    name: str
    command: str
    host: str
    rank: int
    clock: bool
    pid: Ints
    tid: Ints
    ranks: Ints
    call: Ints
    start: Ints
    duration: Ints
    file: Ints
    size: Ints
    activity: Ints


@dataclass(frozen=True, slots=True)
class EventLog:
    """Cases, and what their numbers mean."""

    calls: Sequence[str]
    files: Sequence[str]
    activities: Sequence[str]
    cases: Sequence[LogCase]


def write(target: Path, name: str, log: EventLog) -> None:
    """Writes a log.

    Args:
        target: the file.
        name: what it will be called, which tells the form by its ending.
        log: the events.

    Raises:
        ValueError: the name has no known ending.
        UnavailableError: the library that the form needs is missing.
        OSError: the file cannot be written.
    """
    check_log(name)(target, log)


def check_log(name: str) -> Callable[[Path, EventLog], None]:
    """Returns what writes the form that a name ends in.

    Raises:
        ValueError: it ends in none of ``ENDINGS``.
        UnavailableError: the library that the form needs is missing.
    """
    ending = PurePath(name).suffix.lower()
    try:
        if ending in (".h5", ".hdf5"):
            from .hdf5_log import write_hdf5

            return write_hdf5
        if ending == ".parquet":
            from .parquet_log import write_parquet

            return write_parquet
    except ImportError as error:
        extra = "parquet" if ending == ".parquet" else "hdf5"
        raise UnavailableError(f"{name} needs {error.name}: pip install 'iotide[{extra}]'") from None
    if ending == ".csv":
        from .csv_log import write_csv

        return write_csv
    if ending == ".xes":
        from .xes_log import write_xes

        return write_xes
    raise ValueError(f"{name}: the name must end in one of {', '.join(ENDINGS)}")
