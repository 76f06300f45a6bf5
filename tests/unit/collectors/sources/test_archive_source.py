"""Archives as a source of streams."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from iotide.archive.file.writer import ArchiveWriter
from iotide.collectors.source import Chunk, Origin
from iotide.collectors.sources.registry import open_file, read_all
from iotide.events import ConfigError, Definitions, StreamInfo, make_batch
from iotide.events.definitions import FileInfo, HandleInfo
from support.formats.parsing import collect


def archive(folder: Path) -> Path:
    writer = ArchiveWriter()
    written = writer.begin({"job": "simulation"})
    for rank in (0, 1):
        batch = make_batch(
            3,
            {
                "start": 10**18 + np.arange(3),
                "call": [1, 2, 1],
                "file": [1, 2, 0],
                "bytes": rank,
                "signature": [1, 0, 1],
            },
        )
        names = Definitions(
            [(1, "write"), (2, "read")],
            [(1, FileInfo("/scratch/a", filesystem="lustre", shared=True)), (2, FileInfo("/scratch/b"))],
            [(7, HandleInfo(file=1, origin="stdout"))],
            [(1, "write(fd=1, count=5)")],
        )
        written += writer.opened(f"rank{rank}", StreamInfo(job="simulation", source="preload", rank=rank))
        written += writer.batch(f"rank{rank}", batch, names)
        written += writer.closed(f"rank{rank}", {"events_dropped:ring_full": 2})
    path = folder / "job.iotide"
    path.write_bytes(written + writer.end())
    return path


def test_streams_come_as_they_were_recorded(tmp_path: Path) -> None:
    source = open_file(archive(tmp_path), Origin(job="other", host="here"))
    streams = list(collect(read_all(source)).values())
    assert [stream.info.rank for stream in streams] == [0, 1]
    for rank, stream in enumerate(streams):
        assert (stream.info.job, stream.info.source, stream.closed) == ("simulation", "preload", True)
        names, files = stream.definitions.string, stream.definitions.file
        assert [names(number) for number in stream.events.call.tolist()] == ["write", "read", "write"]
        assert [files(number).path for number in stream.events.file.tolist()] == ["/scratch/a", "/scratch/b", ""]
        assert files(1).shared
        assert stream.definitions.handles[7].origin == "stdout"
        texts = [stream.definitions.signature(number) for number in stream.events.signature.tolist()]
        assert texts == ["write(fd=1, count=5)", "", "write(fd=1, count=5)"]
        assert stream.events.bytes.tolist() == [rank] * 3
    assert source.counters["events"] == 6
    assert source.counters["events_dropped:ring_full"] == 4
    assert source.unsupported.counts["calls that were lost while they were recorded (ring_full)"] == 4
    assert not source.problems.total


def test_calls_come_some_at_a_time_however_many_there_are(tmp_path: Path) -> None:
    writer, path = ArchiveWriter(), tmp_path / "long.iotide"
    length = 300_000
    batch = make_batch(length, {"call": 1, "offset": 64 * np.arange(length)})
    info = StreamInfo(job="simulation", source="preload")
    written = writer.begin({}) + writer.opened("s", info) + writer.batch("s", batch, Definitions([(1, "write")]))
    path.write_bytes(written + writer.end())
    source = open_file(path, Origin(job="other", host="here"))
    lengths = []
    while not source.finished:
        lengths.append(sum(len(item.batch) for item in source.poll() if isinstance(item, Chunk)))
    source.close()
    assert sum(lengths) == length
    assert max(lengths) <= 65_536


def test_packed_archive_is_read_and_what_is_cut_is_told(tmp_path: Path) -> None:
    packed = gzip.compress(archive(tmp_path).read_bytes())
    path = tmp_path / "job.iotide.gz"
    for data, streams, problems in ((packed, 2, 0), (packed[:-9], 2, 1)):
        path.write_bytes(data)
        source = open_file(path, Origin(job="other", host="here"))
        assert len(collect(read_all(source))) == streams
        assert source.problems.total == problems


def test_archive_that_is_being_written_cannot_be_followed(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be followed"):
        open_file(tmp_path / "job.iotide", Origin(job="other", host="here"), format="archive", follow=True)


def test_losses_by_damage_are_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    path = archive(tmp_path)
    path.write_bytes(path.read_bytes()[:-30])
    source = open_file(path, Origin(job="other", host="here"))
    assert len(collect(read_all(source))) == 2
    assert source.problems.total == 1


def test_file_that_only_begins_like_an_archive_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "x.iotide"
    path.write_bytes(b"IOTIDEAR and more")
    source = open_file(path, Origin(job="other", host="here"))
    assert collect(read_all(source)) == {}
    assert source.problems.total == 1
