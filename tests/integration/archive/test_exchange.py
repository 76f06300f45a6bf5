"""A traced program's calls through the formats of other tools, and back."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from iotide.clients.otf2.stream import write_otf2
from iotide.collectors.source import Chunk, Closed, Opened, Origin, SourceItem
from iotide.collectors.sources.registry import open_file, read_all
from iotide.events import Definitions, Kind, empty_batch
from support.formats.parsing import collect
from support.formats.round_trips import FORMATS, archive_of, converted_trace, documented_table, facts_of, read_again
from support.tracing.stepped_programs import build
from support.tracing.tracing import Tracing

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


def collected(folder: Path, *command: str | Path, status: int = 0, **environment: str) -> list[SourceItem]:
    """Run a program under the tracer in the folder's ``files``; return its collected streams."""
    (folder / "files").mkdir()
    with Tracing(folder) as tracing:
        done = tracing.run(list(command), cwd=folder / "files", env=tracing.environment(**environment))
        assert done.returncode == status, done.stderr
        return list(items_of(tracing))


@pytest.fixture(scope="module")
def threads(tmp_path_factory: pytest.TempPathFactory) -> list[SourceItem]:
    """Calls of a program with threads: opens, reads, writes, seeks, syncs, duplicated descriptors, failed opens."""
    folder = tmp_path_factory.mktemp("exchange")
    (folder / "program.py").write_text(PROGRAM)
    return collected(folder, sys.executable, "-S", "-E", folder / "program.py", folder / "files")


@pytest.fixture(scope="module")
def library_calls(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[SourceItem]]:
    """Calls of programs that call every function of POSIX (including asynchronous ones) and stdio once."""
    programs = tmp_path_factory.mktemp("programs")
    found = {}
    for name in ("posix", "stdio"):
        folder = tmp_path_factory.mktemp(name)
        program = build(f"{name}_calls.c", programs)
        found[name] = collected(
            folder, program, f"iotide-{name}", status=7, IOTIDE_CALLS="data,handle,seek,sync,meta,char"
        )
    return found


def assert_the_same(items: list[SourceItem], form: str, folder: Path) -> None:
    kept = {what for what, told in documented_table()[form].items() if told == "yes"}
    path, _ = converted_trace(archive_of(items), form, folder)
    before = [stream for stream in collect(items).values() if len(stream.events)]
    assert facts_of(read_again(path), kept) == facts_of(before, kept)


@pytest.mark.parametrize("form", FORMATS)
def test_calls_of_a_traced_program_come_back(form: str, threads: list[SourceItem], tmp_path: Path) -> None:
    assert_the_same(threads, form, tmp_path)


@pytest.mark.parametrize("name", ["posix", "stdio"])
@pytest.mark.parametrize("form", FORMATS)
def test_every_function_of_libc_comes_back(
    form: str, name: str, library_calls: dict[str, list[SourceItem]], tmp_path: Path
) -> None:
    assert_the_same(library_calls[name], form, tmp_path)


def test_otf2_keeps_what_handles_belong_to(threads: list[SourceItem], tmp_path: Path) -> None:
    (before,) = collect(threads).values()
    write_otf2(archive_of(threads), tmp_path, Counter())
    streams = collect(read_all(open_file(tmp_path, Origin(job="other"))))
    rows = [row for stream in streams.values() for row in stream.rows()]
    assert Counter(row["kind"] for row in rows) == Counter(row["kind"] for row in before.rows())
    opened = {row["handle"]: row["file"] for row in rows if row["kind"] == Kind.CREATE}
    copies = [row for row in rows if row["kind"] == Kind.DUPLICATE]
    assert len(copies) == 15
    assert all(opened[copy["parent"]] == copy["file"] for copy in copies)
