"""Event logs as Parquet: the columns of the CSV form with types, texts as dictionaries."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from .log import COLUMNS, EventLog, LogCase, pieces

_TEXT = pa.dictionary(pa.int32(), pa.string())
_NUMBER = {"rid": pa.int32(), "pid": pa.int32(), "tid": pa.int32(), "start": pa.int64(), "dur": pa.int64(),
           "depth": pa.uint8()}  # fmt: skip
SCHEMA = pa.schema(
    [
        (
            name,
            pa.timestamp("ns", "UTC") if name == "time:timestamp" else {**_NUMBER, "size": pa.int64()}.get(name, _TEXT),
        )
        for name in COLUMNS
    ],
    {"format": "iotide event log", "version": "1"},
)


def write_parquet(target: Path, log: EventLog) -> None:
    """Write the events with an activity.

    Raises:
        OSError: the file cannot be written.
    """
    tables = {name: pa.array(_encodable(texts), pa.string()) for name, texts in _texts(log).items()}
    # not by its name, which pyarrow encodes as UTF-8
    with target.open("wb") as out, pq.ParquetWriter(out, SCHEMA, compression="zstd") as writer:
        for case, rows in pieces(log):
            writer.write_table(pa.table(_columns(case, rows, tables), SCHEMA))


def _texts(log: EventLog) -> dict[str, list[str]]:
    return {"concept:name": list(log.activities), "call": list(log.calls), "fp": list(log.files)}


def _columns(case: LogCase, rows: npt.NDArray[np.intp], tables: dict[str, Any]) -> dict[str, Any]:
    def constant(text: str) -> Any:
        return pa.DictionaryArray.from_arrays(pa.array(np.zeros(len(rows), np.int32)), pa.array(_encodable([text])))

    def named(numbers: npt.NDArray[Any], name: str) -> Any:
        return pa.DictionaryArray.from_arrays(pa.array(numbers[rows].astype(np.int32)), tables[name])

    start = case.start[rows].astype(np.int64)
    return {
        "case:concept:name": constant(case.name),
        "concept:name": named(case.activity, "concept:name"),
        "time:timestamp": pa.array(start).cast(pa.timestamp("ns", "UTC")),
        "cid": constant(case.command),
        "host": constant(case.host),
        "rid": pa.array(case.ranks[rows].astype(np.int32)),
        "pid": pa.array(case.pid[rows].astype(np.int32)),
        "tid": pa.array(case.tid[rows].astype(np.int32)),
        "call": named(case.call, "call"),
        "start": pa.array(start),
        "dur": pa.array(case.duration[rows].astype(np.int64)),
        "fp": named(case.file, "fp"),
        "size": pa.array(case.size[rows].astype(np.int64)),
        "clock": constant("unix" if case.clock else "unknown"),
        "depth": pa.array(case.depth[rows].astype(np.uint8)),
    }


def _encodable(texts: list[str]) -> list[str]:
    """Return texts that can be encoded as UTF-8."""
    return [text.encode(errors="backslashreplace").decode() for text in texts]
