"""Calls as JSON lines: every column of every call, with arbitrary texts."""

from __future__ import annotations

import io
import json

from iotide.archive.file.reader import ArchiveReader
from iotide.archive.file.writer import ArchiveWriter
from iotide.clients.traces.json_lines import json_lines, write_json_lines
from iotide.events import Definitions, Layer, StreamInfo, concatenate, make_batch
from iotide.events.definitions import FileInfo
from support.formats.archives import archived

NAMED = ("offset", "rank", "pid", "tid", "handle", "parent", "depth", "errno", "requested", "flags")


def test_each_call_is_a_line_with_every_column() -> None:
    reader = archived(3)
    for number, stream in reader.streams.items():
        rows = [json.loads(line) for lines in json_lines(reader, number) for line in lines]
        batch = concatenate([part.batch for part in reader.calls(number)])
        for name, column in {"start_ns": "start", "dur_ns": "duration", "size": "bytes"}.items():
            assert [row[name] for row in rows] == getattr(batch, column).tolist()
        for name in NAMED:
            assert [row[name] for row in rows] == getattr(batch, name).tolist()
        assert [row["layer"] for row in rows] == [Layer(layer).name for layer in batch.layer.tolist()]
        paths = {0: "", **{file: info.path for file, info in stream.files.items()}}
        assert [row["path"] for row in rows] == [paths[file] for file in batch.file.tolist()]
        assert {row["call"] for row in rows} == {"read", "my own call", "H5Dwrite"}
        assert {row["signature"] for row in rows} == {"", "read(fd=3)"}
        assert {(row["job"], row["host"]) for row in rows} == {("sim", stream.info.host)}


def test_texts_may_hold_what_formats_and_json_treat_apart() -> None:
    text = 'a%s {b} "c" \\ %d%%\n\u20ac'
    writer = ArchiveWriter()
    data = writer.begin({}) + writer.opened("s", StreamInfo(job=text, source="preload", host=text))
    names = Definitions([(1, text)], [(1, FileInfo(text))], [], [(1, text)])
    data += writer.batch("s", make_batch(2, {"call": 1, "file": 1, "signature": 1}), names)
    out = io.StringIO()
    assert write_json_lines(ArchiveReader(io.BytesIO(data + writer.end()), "test"), out) == 2
    rows = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [[row[name] for name in ("call", "path", "job", "host", "signature")] for row in rows] == [[text] * 5] * 2
