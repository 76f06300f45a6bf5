"""Parquet tables of calls: those of iotide are restored completely, others as far as their columns allow."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from iotide.clients.traces.parquet import write_parquet
from iotide.collectors.source import Origin
from iotide.collectors.sources.eventlog import parquet_calls
from iotide.collectors.sources.eventlog.parquet_log import parse_parquet
from iotide.collectors.sources.registry import open_file, read_all
from iotide.events import Definitions, Kind, Layer
from support.formats.archives import archived
from support.formats.parsing import Stream, collect, only_stream, parse

BEGIN = 1_700_000_000_000_000_000


def read(path: Path) -> tuple[dict[str, Stream], Any]:
    source = open_file(path, Origin(job="j", host="here"))
    return collect(read_all(source)), source


def table(path: Path, **columns: Any) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


@pytest.mark.parametrize("piece", [7, 65_536])
def test_exported_calls_are_restored_with_every_column(
    tmp_path: Path, piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_calls, "_PIECE_ROWS", piece)
    reader = archived(5)
    write_parquet(reader, tmp_path / "calls.parquet")
    streams, source = read(tmp_path / "calls.parquet")
    assert not source.problems.total
    for number, kept in reader.streams.items():
        mine = [stream for stream in streams.values() if stream.info.rank == kept.info.rank]
        assert {(each.info.job, each.info.host, each.info.clock_offset_ns) for each in mine} == {
            ("sim", f"n{kept.info.rank}", 0)
        }
        before = Stream(kept.info)
        before.definitions.apply(Definitions(files=list(kept.files.items())))
        for each in reader.calls(number):
            before.definitions.apply(each.definitions)
            before.batches.append(each.batch)
        rows = [spelt(row, stream) for stream in mine for row in stream.rows()]
        order = sorted(rows, key=lambda row: (row["start"], row["tid"]))
        assert order == sorted(
            (spelt(row, before) for row in before.rows()), key=lambda row: (row["start"], row["tid"])
        )
    assert all(stream.closed for stream in streams.values())


def spelt(row: dict[str, Any], stream: Stream) -> dict[str, Any]:
    return {**row, "signature": stream.definitions.signature(row["signature"])}


def test_table_of_few_columns_is_read(tmp_path: Path) -> None:
    path = table(
        tmp_path / "a",
        call=["read", None, "H5Dwrite"],
        start=[BEGIN, BEGIN, 5],
        duration=[1, 2, 3],
        bytes=[10, 0, None],
    )
    streams, source = read(path)
    stream = only_stream(streams)
    assert (stream.info.job, stream.info.host, stream.info.rank) == ("j", "here", -1)
    assert [(row["call"], row["layer"], row["kind"], row["bytes"]) for row in stream.rows()] == [
        ("read", Layer.POSIX, Kind.READ, 10),
        ("H5Dwrite", Layer.HDF5, Kind.WRITE, 0),
    ]
    assert str(source.problems.first[0]).startswith(f"{path}:2: a call with")


def test_numbers_out_of_bounds_cost_their_rows(tmp_path: Path) -> None:
    bad = {"start": [1, -1, 1, 1], "duration": [1, 1, -2, 1], "tid": [1, 1, 1, 2**31]}
    streams, source = read(table(tmp_path / "a", call=["read"] * 4, **bad))
    assert len(only_stream(streams).events) == 1
    assert only_stream(streams).info.clock_offset_ns is None
    assert source.counters["lines_malformed"] == 3


def test_table_of_neither_kind_names_what_is_missing(tmp_path: Path) -> None:
    streams, source = read(table(tmp_path / "a", call=["read"], begin=[1]))
    assert not streams
    assert "no column" in str(source.problems.first[0])
    assert "or of calls, with columns call, start and duration" in str(source.problems.first[0])


@pytest.mark.parametrize("place", [0.1, 0.5, 0.9])
def test_truncated_table_is_a_problem(tmp_path: Path, place: float) -> None:
    write_parquet(archived(1), tmp_path / "whole")
    whole = (tmp_path / "whole").read_bytes()
    (tmp_path / "cut").write_bytes(whole[: int(len(whole) * place)])
    streams, source = read(tmp_path / "cut")
    assert not streams
    assert source.problems.total == 1


def test_table_that_gzip_has_packed_is_read(tmp_path: Path) -> None:
    path = table(tmp_path / "calls.parquet", call=["read"] * 3, start=[BEGIN] * 3, duration=[1, 2, 3])
    packed = gzip.compress(path.read_bytes())
    for data, calls in ((packed, 3), (packed[:-40], 0)):
        other = tmp_path / f"{len(data)}.parquet.gz"
        other.write_bytes(data)
        streams, source = read(other)
        assert sum(len(stream.rows()) for stream in streams.values()) == calls
        assert bool(source.problems.total) is (calls == 0)


def test_followed_table_is_read_when_it_has_ended(tmp_path: Path) -> None:
    path = table(tmp_path / "a", call=["read"], start=[BEGIN], duration=[1])
    stream = only_stream(parse(parse_parquet, path.read_bytes())[0])
    assert np.array_equal(stream.events.start, [BEGIN])


def test_texts_that_are_not_in_their_table_are_refused() -> None:
    """For a damaged file the library returns arbitrary text numbers."""
    damaged = pa.DictionaryArray.from_arrays(pa.array([0, 7], pa.int32()), pa.array(["read"]), safe=False)
    with pytest.raises(ValueError, match="not in their table"):
        parquet_calls._codes(damaged)
