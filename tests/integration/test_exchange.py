"""A traced program's calls through the formats of other tools, and back."""

from __future__ import annotations

import io
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from iotide.cli.archive.writing import write_items
from iotide.clients.otf2.writer import write_otf2
from iotide.clients.traces.chrome import write_chrome
from iotide.clients.traces.parquet import write_parquet
from iotide.collectors.source import Chunk, Closed, Opened, Origin, SourceItem
from iotide.collectors.sources.registry import open_file, read_all
from iotide.events import Definitions, Kind, empty_batch
from iotide.events.archive.reader import ArchiveReader
from iotide.events.archive.writer import ArchiveWriter
from support.parsing import Stream, collect
from support.tracing import Tracing

PROGRAM = """
import os, sys, threading
def work(i):
    for turn in range(5):
        fd = os.open(f"{sys.argv[1]}/plot-{i}-{turn:04d}", os.O_RDWR | os.O_CREAT)
        for at in range(10):
            os.pwrite(fd, bytes(64 + at % 3), 64 * at)
        os.lseek(fd, 10, os.SEEK_SET)
        os.fsync(fd)
        copy = os.dup(fd)
        os.pread(copy, 100, 7 * turn)
        os.close(copy)
        os.close(fd)
    try:
        os.open(f"{sys.argv[1]}/missing", os.O_RDONLY)
    except OSError:
        pass
    with open(f"{sys.argv[1]}/text-{i}", "w") as file:
        file.write("x" * 100_000)
    os.unlink(f"{sys.argv[1]}/text-{i}")
threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
for each in threads: each.start()
for each in threads: each.join()
"""
SAME = (
    "call", "file", "start", "duration", "tid", "pid", "rank", "bytes", "requested", "offset", "errno", "layer",
    "depth",
)  # fmt: skip


def items_of(tracing: Tracing) -> Iterator[SourceItem]:
    for stream, info in tracing.info.items():
        table = tracing.tables[stream]
        names = Definitions(
            [(number, table.string(number)) for number in range(1, table.string_count)],
            [(number, table.file(number)) for number in range(1, table.file_count)],
            list(table.handles.items()),
            [(number, table.signature(number)) for number in range(1, table.signature_count)],
        )
        yield Opened(stream, info)
        yield Chunk(stream, empty_batch(), names)
        for batch in tracing.batches[stream]:
            yield Chunk(stream, batch, Definitions())
        yield Closed(stream)


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> tuple[ArchiveReader, Stream]:
    """The program's archive, and its one stream as it was collected."""
    folder = tmp_path_factory.mktemp("exchange")
    (folder / "files").mkdir()
    (folder / "program.py").write_text(PROGRAM)
    with Tracing(folder) as tracing:
        done = tracing.run([sys.executable, "-S", "-E", folder / "program.py", folder / "files"])
        assert done.returncode == 0, done.stderr
        items = list(items_of(tracing))
    out, writer = io.BytesIO(), ArchiveWriter()
    out.write(writer.begin({"job": "job"}))
    write_items(writer, items, out)
    out.write(writer.end())
    out.seek(0)
    (stream,) = collect(items).values()
    return ArchiveReader(out, "test"), stream


def told(streams: list[Stream]) -> list[tuple[Any, ...]]:
    rows = [
        (*(row[name] for name in SAME), stream.definitions.signature(row["signature"]))
        for stream in streams
        for row in stream.rows()
    ]
    return sorted(rows, key=str)


@pytest.mark.parametrize("form", ["otf2", "chrome", "parquet"])
def test_calls_of_a_traced_program_come_back(form: str, archive: tuple[ArchiveReader, Stream], tmp_path: Path) -> None:
    reader, before = archive
    path = tmp_path / form
    if form == "otf2":
        path.mkdir()
        write_otf2(reader, path, Counter())
    elif form == "parquet":
        write_parquet(reader, path)
    else:
        with path.open("w", encoding="utf-8") as out:
            write_chrome(reader, out)
    source = open_file(path, Origin(job="other"))
    streams = list(collect(read_all(source)).values())
    assert not source.problems.total
    assert told(streams) == told([before])
    assert {stream.info.job for stream in streams} == {before.info.job}
    assert {stream.info.host for stream in streams} == {before.info.host}
    assert {stream.info.clock_offset_ns for stream in streams} == {0}


def test_otf2_keeps_what_handles_belong_to(archive: tuple[ArchiveReader, Stream], tmp_path: Path) -> None:
    reader, before = archive
    write_otf2(reader, tmp_path, Counter())
    streams = collect(read_all(open_file(tmp_path, Origin(job="other"))))
    rows = [row for stream in streams.values() for row in stream.rows()]
    assert Counter(row["kind"] for row in rows) == Counter(row["kind"] for row in before.rows())
    opened = {row["handle"]: row["file"] for row in rows if row["kind"] == Kind.CREATE}
    copies = [row for row in rows if row["kind"] == Kind.DUPLICATE]
    assert len(copies) == 15
    assert all(opened[copy["parent"]] == copy["file"] for copy in copies)
