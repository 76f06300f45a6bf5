"""Choice of a log's format by its file name suffix."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path, PurePath
from typing import Final

from ...events import UnavailableError
from .log import EventLog

ENDINGS: Final = (".h5", ".hdf5", ".csv", ".parquet", ".xes")


def write(target: Path, name: str, log: EventLog) -> None:
    """Write a log.

    Args:
        target: the file.
        name: final file name, whose suffix selects the format.
        log: the events.

    Raises:
        ValueError: the name has no known ending.
        UnavailableError: the library that the form needs is missing.
        OSError: the file cannot be written.
    """
    check_log(name)(target, log)


def check_log(name: str) -> Callable[[Path, EventLog], None]:
    """Return the writer for the format of a file name.

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
