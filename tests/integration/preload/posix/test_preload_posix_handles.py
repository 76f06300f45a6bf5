"""The handle of a descriptor or a stream, and its parent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from iotide.events import Flag, HandleInfo, Kind, Layer
from support.system.commands import Program
from support.system.waiting import wait_for
from support.tracing.stepped_programs import build
from support.tracing.tracing import Row, Tracing


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("posix_handles.c", tmp_path_factory.mktemp("programs"))


class Run:
    """The program's events, and the handles that no event created."""

    def __init__(self, tracing: Tracing, program: Path, folder: Path) -> None:
        (folder / "in").write_text("0123456789 a line\nanother\n")
        command = f"exec {program} < in 7> seven"
        environment = tracing.environment()
        with Program(["sh", "-c", command], cwd=folder, env=environment) as running:
            wait_for(lambda: (tracing.poll(), running.poll() is not None)[1], what="the program's end")
        tracing.settle()
        assert running.returncode == 7
        (stream,) = (key for key, info in tracing.info.items() if info.command == str(program))
        self.folder = folder
        self.rows = sorted(tracing.rows(stream=stream), key=lambda row: row.end)
        self.found: dict[int, HandleInfo] = tracing.handles(stream)

    def on(self, name: str) -> list[Row]:
        return [row for row in self.rows if row.path == str(self.folder / name)]


@pytest.fixture(scope="session")
def run(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    folder = tmp_path_factory.mktemp("handles")
    with Tracing(folder) as tracing:
        yield Run(tracing, program, folder)


def test_inherited_descriptors_have_marked_handles(run: Run) -> None:
    (read,) = (row for row in run.on("in") if row.call == "read")
    (write,) = run.on("seven")
    assert (run.found[read.handle].origin, run.found[read.handle].descriptor) == ("stdin", 0)
    assert (run.found[write.handle].origin, run.found[write.handle].descriptor) == ("inherited", 7)
    assert run.found[read.handle].parent == 0


def test_stream_on_a_descriptor_that_was_used_is_its_child(run: Run) -> None:
    read, gets = run.on("in")
    assert (read.call, gets.call) == ("read", "fgets")
    assert run.found[gets.handle].layer == Layer.STDIO
    assert run.found[gets.handle].parent == read.handle


def test_descriptor_used_beside_its_stream_is_the_streams_child(run: Run) -> None:
    rows = run.on("stream")
    assert [row.call for row in rows] == ["fopen", "fputs", "fflush", "write", "fclose"]
    stream = rows[0].handle
    assert {row.handle for row in rows if row.layer == Layer.STDIO} == {stream}
    assert run.found[rows[3].handle].parent == stream


def test_stream_made_on_a_descriptor_is_its_child(run: Run) -> None:
    opened, made, written, closed = run.on("descriptor")
    number = opened.signature.removeprefix("open(flags=O_RDWR|O_CREAT|O_APPEND, mode=0640) = ")
    assert made.signature == f"fdopen(fd={number}, mode=a+)"
    assert made.parent == opened.handle
    assert made.handle == written.handle == closed.handle != opened.handle
    assert opened.flags & made.flags & Flag.APPEND
    assert not written.flags & Flag.APPEND


def test_number_that_is_used_again_is_a_new_handle(run: Run) -> None:
    before, after = run.on("descriptor")[0], run.on("again")[0]
    assert before.signature.split(" = ")[1] == after.signature.split(" = ")[1]
    assert before.handle != after.handle


def test_duplicate_is_a_handle_of_its_own_below_the_one_it_was_made_from(run: Run) -> None:
    rows = run.on("again")
    opened = rows[0]
    copies = [row for row in rows if row.kind == Kind.DUPLICATE]
    first, second, none = copies
    assert [copy.call for copy in copies] == ["dup", "dup2", "dup2"]
    assert first.parent == second.parent == opened.handle
    assert none.handle == opened.handle  # a descriptor duplicated onto itself
    written = {row.bytes: row.handle for row in rows if row.kind == Kind.WRITE}
    assert written == {10: opened.handle, 20: first.handle, 30: second.handle, 50: second.handle}


def test_descriptors_of_a_vfork_child_do_not_affect_the_parents(run: Run) -> None:
    opened, written = run.on("parent")
    assert (written.call, written.bytes, written.handle) == ("write", 40, opened.handle)
