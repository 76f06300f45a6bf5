"""Calls as a Parquet table, one row per call."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

from ...archive.file.reader import ArchiveReader
from ...events import COLUMNS, DefinitionTable, Layer, UnavailableError
from ...events.definitions import FileInfo
from ...events.schema import Kind

ROW_GROUP: Final = 65_536
"""Rows of a group. Source: [Recorder] (64 K records)."""
_NUMBERS: Final = [name for name in COLUMNS if name not in ("call", "file", "signature", "layer", "kind")]
_NO_FILE: Final = FileInfo("")
_OF_STREAM: Final = ("job", "host", "user", "command", "step")
_TEXTS: Final = (*_OF_STREAM, "clock", "call", "signature", "path", "file_type", "layer", "kind")


def write_parquet(reader: ArchiveReader, path: Path, show: Callable[[int], None] = lambda calls: None) -> int:
    """Write all calls of an archive; return their number.

    Columns: the numbers of an event under their names in ``schema.COLUMNS`` (start and duration in ns); and as texts
    job, host, user, command, step, clock ("unix", or "own" if its zero is unknown), call, signature, path, file_type,
    layer and kind, each a dictionary of its own row group.

    Raises:
        UnavailableError: pyarrow is missing.
        InputError: a section is broken.
        OSError: the file cannot be written.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise UnavailableError("Parquet needs pyarrow: pip install 'iotide[parquet]'") from None

    text = pa.dictionary(pa.int32(), pa.string())
    schema = pa.schema(
        [(name, pa.from_numpy_dtype(COLUMNS[name][0])) for name in _NUMBERS] + [(name, text) for name in _TEXTS]
    )
    calls = 0
    # not by its name, which pyarrow encodes as UTF-8
    with path.open("wb") as out, pq.ParquetWriter(out, schema, compression="zstd") as writer:
        for number, stream in reader.streams.items():
            table = DefinitionTable()
            for each in reader.calls(number):
                table.apply(each.definitions)
                batch = each.batch
                columns: dict[str, Any] = {name: np.ascontiguousarray(getattr(batch, name)) for name in _NUMBERS}
                for name, values, text_of in (
                    ("call", batch.call, table.string),
                    ("signature", batch.signature, table.signature),
                    ("path", batch.file, lambda file, files=stream.files: files.get(file, _NO_FILE).path),
                    ("file_type", batch.file, lambda file, files=stream.files: files.get(file, _NO_FILE).type.name),
                    ("layer", batch.layer, lambda layer: Layer(layer).name),
                    ("kind", batch.kind, lambda kind: Kind(kind).name),
                ):
                    distinct, places = np.unique(np.asarray(values), return_inverse=True)
                    texts = pa.array([text_of(value) for value in distinct.tolist()], pa.string())
                    columns[name] = pa.DictionaryArray.from_arrays(pa.array(places.reshape(-1), pa.int32()), texts)
                of_stream = {name: getattr(stream.info, name) for name in _OF_STREAM}
                of_stream["clock"] = "own" if stream.info.clock_offset_ns is None else "unix"
                for name, value in of_stream.items():
                    places = pa.array(np.zeros(len(batch), np.int32))
                    columns[name] = pa.DictionaryArray.from_arrays(places, pa.array([value], pa.string()))
                arrays = [columns[field.name] for field in schema]
                writer.write_table(pa.Table.from_arrays(arrays, schema=schema), row_group_size=ROW_GROUP)
                calls += len(batch)
                show(calls)
    return calls
