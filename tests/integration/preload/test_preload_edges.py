"""Rare operations of programs, and their events in the preload library."""

from __future__ import annotations

import errno
import platform
import subprocess
from pathlib import Path

import pytest
from iotide.events import Kind
from support.system.commands import plain_environment
from support.system.waiting import DEADLINE_S, wait_for
from support.tracing.compiled_programs import built
from support.tracing.tracing import Tracing


@pytest.fixture(scope="session")
def edges(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory, "edges.c")


NAMES = [
    "bad-then-good",
    "pipe-then-file",
    "open-often",
    "full-device",
    "descriptor-print",
    "fork-in-handler",
    "untraceable-fork-in-handler",
    "quiet-fork-in-handler",
    "jump-often",
    "jump-at-new-names",
]


@pytest.mark.parametrize("name", NAMES)
def test_program_does_not_notice(edges: Path, tracing: Tracing, tmp_path: Path, name: str) -> None:
    done = tracing.run([edges, name, tmp_path / "out"])
    assert (done.returncode, done.stdout, done.stderr) == (7, "done\n", "")


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("bad-then-good", 1000),
        ("descriptor-print", 500),
        ("fork-in-handler", 2000),
        ("jump-often", 1000),
        ("jump-at-new-names", 1000),
    ],
)
def test_every_byte_is_seen_on_its_file(edges: Path, tracing: Tracing, tmp_path: Path, name: str, size: int) -> None:
    tracing.run([edges, name, tmp_path / "out"])
    assert tracing.bytes_by_path(Kind.WRITE)[f"{tmp_path}/out"] == size


def test_number_of_a_closed_pipe_is_not_taken_for_the_pipe(edges: Path, tracing: Tracing, tmp_path: Path) -> None:
    tracing.run([edges, "pipe-then-file", tmp_path / "out"])
    moved = tracing.bytes_by_path(Kind.WRITE)
    assert [size for path, size in moved.items() if path.startswith(f"{tmp_path}/out.")] == [1000]


def test_file_that_is_opened_very_often_keeps_its_name(edges: Path, tmp_path: Path) -> None:
    with Tracing(tmp_path, ring_records=1 << 17) as tracing:
        # The collector does not poll while the program runs.
        subprocess.run(
            [edges, "open-often", tmp_path / "out"], env=tracing.environment(), check=False, timeout=DEADLINE_S
        )
        wait_for(lambda: (tracing.poll(), tracing.closed)[1], what="the stream's end")
        assert tracing.source.counters["definitions_dropped"] == 0
        (stream,) = tracing.events()
        paths = [tracing.tables[stream].file(number).path for number in tracing.events()[stream].file.tolist()]
        assert paths.count(f"{tmp_path}/out") == 30_000 + 1 + 30_000  # open, write, close


def test_failed_stdio_calls_have_their_errno_and_no_bytes(edges: Path, tracing: Tracing, tmp_path: Path) -> None:
    tracing.run([edges, "full-device", tmp_path / "out"])
    (batch,) = tracing.events().values()
    writes = batch.select((batch.kind == Kind.WRITE) & (batch.layer == 2))
    assert writes.errno.tolist() == [errno.ENOSPC] * 2
    assert writes.bytes.tolist() == [0, 0]


def test_child_that_returns_into_its_parents_call_does_not_write_to_its_parents_ring(
    edges: Path, tracing: Tracing, tmp_path: Path
) -> None:
    tracing.run([edges, "quiet-fork-in-handler", tmp_path / "out"])
    interrupted = sum(int((batch.errno == errno.EINTR).sum()) for batch in tracing.events().values())
    assert interrupted == 1


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the program makes the processor trap at each instruction")
def test_names_after_a_jump_at_any_step_of_a_definition_are_known_in_a_process_with_threads(
    tracing: Tracing, tmp_path_factory: pytest.TempPathFactory
) -> None:
    done = tracing.run([built(tmp_path_factory, "jump_at_step.c", "-pthread")])
    assert (done.returncode, done.stderr) == (7, "")
    known = {path for path in tracing.files() if path.startswith("/after-")}
    assert len(known) == int(done.stdout) > 20


def test_calls_with_arguments_that_make_no_sense_end_as_ever(
    tracing: Tracing, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    program = built(tmp_path_factory, "odd_arguments.c", "-w")
    untraced = subprocess.run(
        [program, tmp_path], env=plain_environment(), capture_output=True, text=True, timeout=DEADLINE_S, check=False
    )
    assert untraced.returncode == 7
    assert len(untraced.stdout.splitlines()) > 500
    done = tracing.run([program, tmp_path])
    assert (done.returncode, done.stderr) == (7, "")
    assert done.stdout.splitlines() == untraced.stdout.splitlines()
