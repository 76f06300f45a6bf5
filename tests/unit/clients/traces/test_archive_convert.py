"""Archives in the formats of other tools, read by independent readers."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from iotide.archive.file.reader import ArchiveReader
from iotide.archive.file.writer import ArchiveWriter
from iotide.clients.traces.chrome import write_chrome
from iotide.clients.traces.parquet import write_parquet
from iotide.events import Definitions, StreamInfo, make_batch
from iotide.events.definitions import FileInfo
from support.formats import trace_event_format

BEGIN = 1_700_000_000_123_456_789


def opened(calls: int = 5) -> ArchiveReader:
    writer = ArchiveWriter()
    written = writer.begin({"job": "simulation"})
    for rank in (0, 1):
        batch = make_batch(
            calls,
            {
                "start": BEGIN + 1001 * np.arange(calls) + rank, "duration": 999, "call": 1, "file": 1,
                "tid": 70 + rank, "kind": 8, "layer": 1, "bytes": 64, "requested": 64,
                "offset": 64 * np.arange(calls), "signature": 1,
                "pid": 7, "rank": rank, "errno": np.where(np.arange(calls) == 1, 28, 0),
            },
        )  # fmt: skip
        names = Definitions([(1, "pwrite64")], [(1, FileInfo('/s/ü "x"'))], [], [(1, "pwrite64(fd=3, count=64)")])
        info = StreamInfo(job="simulation", source="preload", rank=rank, pid=7, host=f"node{rank}", command="./solver")
        written += writer.opened(str(rank), info) + writer.batch(str(rank), batch, names)
    return ArchiveReader(io.BytesIO(written + writer.end()), "test")


def test_chrome_trace_holds_to_the_format_and_has_all_calls() -> None:
    out = io.StringIO()
    assert write_chrome(opened(), out) == 10
    calls = trace_event_format.read(out.getvalue())
    assert len(calls) == 10
    document = json.loads(out.getvalue())
    assert document["otherData"]["begin_unix_ns"] == str(BEGIN)
    assert calls[1] == {
        "name": "pwrite64", "cat": "POSIX,WRITE", "ph": "X", "ts": 1.001, "dur": 0.999, "pid": 1, "tid": 70,
        "args": {
            "path": '/s/ü "x"', "signature": "pwrite64(fd=3, count=64)", "offset": 64, "requested": 64, "bytes": 64,
            "errno": 28,
        },
    }  # fmt: skip


def test_processes_of_two_nodes_with_the_same_pid_are_told_apart() -> None:
    out = io.StringIO()
    write_chrome(opened(), out)
    names = [
        event["args"]["name"] for event in json.loads(out.getvalue())["traceEvents"] if event["name"] == "process_name"
    ]
    assert names == ["rank 0 ./solver on node0 pid 7", "rank 1 ./solver on node1 pid 7"]


def test_empty_archive_makes_an_empty_trace() -> None:
    writer, out = ArchiveWriter(), io.StringIO()
    assert write_chrome(ArchiveReader(io.BytesIO(writer.begin({}) + writer.end()), "test"), out) == 0
    assert json.loads(out.getvalue())["traceEvents"] == []


@pytest.mark.slow
def test_parquet_has_a_row_a_call_in_groups(tmp_path: Path) -> None:
    path = tmp_path / "calls.parquet"
    assert write_parquet(opened(70_000), path) == 140_000
    file = pq.ParquetFile(path)
    assert max(file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)) == 65_536
    table = file.read()
    row = table.slice(70_001, 1).to_pylist()[0]
    assert (row["start"], row["duration"], row["offset"], row["errno"]) == (BEGIN + 1001 + 1, 999, 64, 28)
    assert (row["call"], row["path"], row["host"], row["job"]) == ("pwrite64", '/s/ü "x"', "node1", "simulation")
    assert (row["layer"], row["kind"], row["signature"]) == ("POSIX", "WRITE", "pwrite64(fd=3, count=64)")
