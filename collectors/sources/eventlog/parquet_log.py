"""Parquet files: event logs with the CSV form's columns, or tables of calls."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np

from ....events import InputError, UnavailableError
from ...source import Input, SourceItem
from .._unpacked import unpacked
from .buffered_file import DocumentParser
from .cases import CaseStreams
from .parquet_calls import EXPECTED as CALL_COLUMNS
from .parquet_calls import NEEDED as NEEDED_OF_CALLS
from .parquet_calls import CallTable
from .table import EXPECTED_COLUMNS, NEEDED, TableCases

EXPECTED: Final = f"a Parquet file of an event log, with {EXPECTED_COLUMNS}, or of calls, with {CALL_COLUMNS}"
_PIECE_ROWS: Final = 65_536
_NUMBERS: Final = ("start", "dur", "pid", "tid", "rid", "size", "depth")
_TEXTS: Final = ("case:concept:name", "call", "fp", "cid", "host", "clock")


def parse_parquet(about: Input) -> DocumentParser:
    """Return the parser; each case becomes a stream.

    Raises:
        UnavailableError: pyarrow is missing.
    """
    _need_pyarrow()
    return DocumentParser(about, "parquet", _read, EXPECTED)


def read_parquet(path: Path, about: Input) -> Iterator[list[SourceItem]]:
    """Read a finished file, one row group at a time. A gzip file is decompressed to a temporary file.

    Raises:
        UnavailableError: pyarrow is missing.
    """
    _need_pyarrow()
    return _read_file(path, about)


def _read_file(path: Path, about: Input) -> Iterator[list[SourceItem]]:
    streams = CaseStreams(about, "parquet")
    try:
        with unpacked(path, about) as file:
            yield from _read(file, about, streams)
    except (ValueError, RuntimeError, LookupError, TypeError, MemoryError, OverflowError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        text = " ".join(str(error).split())[:200]
        raise InputError(about.name, None, f"the document cannot be read ({text})", EXPECTED) from None
    yield streams.close()


def _need_pyarrow() -> None:
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise UnavailableError("event logs in Parquet need pyarrow: pip install 'iotide[parquet]'") from None


def _read(document: BinaryIO, about: Input, streams: CaseStreams) -> Iterator[list[SourceItem]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = TableCases(streams)
    first = 1
    with pq.ParquetFile(document) as log:
        names = [name for name in (*_NUMBERS, *_TEXTS) if name in log.schema_arrow.names]
        if not set(names) >= NEEDED and set(log.schema_arrow.names) >= NEEDED_OF_CALLS:
            yield from CallTable(about).read(log)
            return
        if not set(names) >= NEEDED:
            raise ValueError(f"no column {', '.join(sorted(NEEDED - set(names)))}")
        for batch in log.iter_batches(_PIECE_ROWS, columns=names):
            columns: dict[str, Any] = {}
            for name in names:
                column = batch.column(name)
                if name in _NUMBERS:
                    filled = column.cast(pa.int64()).fill_null(-1)
                    columns[name] = np.asarray(filled.to_numpy(zero_copy_only=False), np.int64)
                else:
                    columns[name] = ["" if text is None else text for text in column.cast(pa.string()).to_pylist()]
            yield table.take(columns, first)
            first += batch.num_rows
