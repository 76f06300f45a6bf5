"""Programs in a sandbox: the tracer makes no forbidden system call, and records their calls."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from iotide.events import Flag, Kind
from iotide.events.losses import LAST_CHARACTERS, LAST_CHARACTERS_BYTES
from support.system.commands import plain_environment
from support.system.waiting import DEADLINE_S
from support.tracing.compiled_programs import built
from support.tracing.tracing import Tracing


@pytest.fixture(scope="session")
def sandboxed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory, "sandboxed.c")


def run_twice(sandboxed: Path, tracing: Tracing, folder: Path, how: str) -> Path:
    """Run the program untraced and traced, with the same end; return the file that it wrote while traced."""
    alone, traced = folder / "alone", folder / "traced"
    plain = subprocess.run(
        [sandboxed, how, alone],
        cwd=folder,
        env=plain_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    done = tracing.run([sandboxed, how, traced], cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (plain.returncode, plain.stdout, plain.stderr)
    assert done.returncode == 7
    assert traced.read_bytes() == alone.read_bytes()
    return traced


@pytest.mark.parametrize("how", ["prctl", "seccomp"])
def test_filtered_program_is_not_killed_for_a_call_of_ours_and_seen(
    sandboxed: Path, tracing: Tracing, tmp_path: Path, how: str
) -> None:
    path = run_twice(sandboxed, tracing, tmp_path, how)
    moved = [(row.call, row.path, row.offset, row.bytes) for row in tracing.rows() if row.bytes]
    assert moved[:3] == [
        ("pwrite64", str(path), 0, 6),
        ("pwrite64", str(path), 6, 6),
        ("pwrite64", str(path), 100, 7),
    ]
    failed = [(row.call, row.path) for row in tracing.rows() if row.flags & Flag.FAILED]
    assert failed == [("openat", f"{tmp_path}/nothing"), ("rename", f"{tmp_path}/nothing")]


def test_program_that_may_only_read_and_write_is_left_alone_from_then_on(
    sandboxed: Path, tracing: Tracing, tmp_path: Path
) -> None:
    path = run_twice(sandboxed, tracing, tmp_path, "strict")
    assert [row.call for row in tracing.rows(path=path)] == ["open"]


def test_program_that_tries_a_restriction_in_vain_is_seen_in_full(
    sandboxed: Path, tracing: Tracing, tmp_path: Path
) -> None:
    path = run_twice(sandboxed, tracing, tmp_path, "tried")
    assert [(row.call, row.path) for row in tracing.rows()] == [
        ("open", str(path)),
        ("chdir", "/"),
        ("write", str(path)),
        ("openat", "/nothing"),
    ]


@pytest.mark.parametrize("how", ["alone", "thread", "thread-exit"])
def test_characters_of_a_filtered_program_are_recorded_or_told(
    tracing: Tracing, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, how: str
) -> None:
    source, output = tmp_path / "input", tmp_path / "output"
    source.write_text("a line of twenty....\n" * 1000)
    done = tracing.run([built(tmp_path_factory, "sandboxed_streams.c"), how, source, output])
    assert (done.returncode, done.stderr) == (0, "")
    read, written = map(int, done.stdout.split())
    assert output.stat().st_size == written
    assert tracing.bytes_by_path(Kind.WRITE)[str(output)] == written
    missing = read - tracing.bytes_by_path(Kind.READ)[str(source)]
    assert 0 <= missing <= tracing.losses[LAST_CHARACTERS_BYTES]
    assert (missing > 0) == (how == "thread-exit")  # nothing is known of the open streams without a system call
    assert (tracing.losses[LAST_CHARACTERS] > 0) == (missing > 0)
