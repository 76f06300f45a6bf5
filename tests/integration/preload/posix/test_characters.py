"""Bytes that a program moves one character at a time, by calls or in a stream's buffer itself, are recorded exactly."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from iotide.events import Kind
from support.system.commands import plain_environment
from support.tracing.compiled_programs import built
from support.tracing.tracing import Tracing

EVERY_CLASS = "data,handle,seek,sync,meta,char,memory"
WAYS = ("calls", "inline", "mixed", "wide", "update", "last", "many", "all")
SEEDS = 6
STREAMS = 512


@pytest.fixture
def characters(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory, "characters.c")


def moved(tracing: Tracing, file: Path) -> tuple[int, int]:
    return tracing.bytes_by_path(Kind.WRITE)[str(file)], tracing.bytes_by_path(Kind.READ)[str(file)]


@pytest.mark.parametrize("calls", [None, EVERY_CLASS])
@pytest.mark.parametrize("size", [100, 100_000])
@pytest.mark.parametrize("way", WAYS)
def test_bytes_are_those_of_the_program(
    tracing: Tracing, characters: Path, tmp_path: Path, way: str, size: int, calls: str | None
) -> None:
    file = tmp_path / "file"
    ring = {"IOTIDE_RING_RECORDS": "1048576"}
    environment = tracing.environment(**({"IOTIDE_CALLS": calls} if calls else {}), **ring)
    done = tracing.run([characters, file, size, way], env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    written, read = map(int, done.stdout.split())
    peeks = size // 128 + 1 if calls and way == "mixed" else 0  # with ungetc: each of its two calls is recorded
    found = moved(tracing, file)
    assert found[0] == written
    assert read <= found[1] <= read + peeks
    dropped = {name for name, count in tracing.source.counters.items() if count and "dropped" in name}
    assert dropped == ({"details_dropped:streams"} if way == "many" and size > STREAMS else set())


@pytest.mark.parametrize(("way", "records"), [("calls", 2 * 26), ("inline", 2 * 26), ("bare", 2 * 100_000)])
def test_characters_are_recorded_by_buffer(
    tracing: Tracing, characters: Path, tmp_path: Path, way: str, records: int
) -> None:
    size = 100_000
    file = tmp_path / "file"
    environment = tracing.environment(IOTIDE_RING_RECORDS="1048576")
    done = tracing.run([characters, file, size, way], env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert moved(tracing, file) == (size, size)
    rows = [row for row in tracing.rows() if row.call in ("getc", "putc")]
    assert records * 0.9 < len(rows) <= records
    assert {row.signature for row in rows} == {f"{row.call}(stream=3, characters={row.bytes})" for row in rows}


@pytest.mark.parametrize("how", ["-", "threads", "forks"])
@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_calls_on_streams_are_seen_to_the_byte(
    tracing: Tracing, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, seed: int, how: str
) -> None:
    for worker in range(2):
        for number in range(6):
            (tmp_path / f"file-{worker}-{number}").write_text("19 bytes each line\n" * 1000)
    done = tracing.run([built(tmp_path_factory, "random_streams.c"), tmp_path, 100 * seed, 2000, how])
    assert (done.returncode, done.stderr) == (0, "")
    expected = Counter[tuple[str, str]]()
    for line in done.stdout.splitlines():
        name, way, size = line.split()
        expected[name, way] = int(size)
    found = Counter[tuple[str, str]]()
    for kind, way in ((Kind.READ, "read"), (Kind.WRITE, "written")):
        for path, size in tracing.bytes_by_path(kind).items():
            if path.startswith(f"{tmp_path}/file-"):
                found[Path(path).name, way] = size
    assert found == +expected
    assert not any(count for name, count in tracing.source.counters.items() if "dropped" in name)


def test_run_of_characters_is_complete(characters: Path, tmp_path: Path) -> None:
    size = 1_000_000
    command = ["run", "-o", "report", "--json", "run.json", "--", characters, "file", size, "inline"]
    done = subprocess.run(
        [sys.executable, "-m", "iotide", *map(str, command)],
        cwd=tmp_path,
        env=plain_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    job = json.loads((tmp_path / "run.json").read_text())["job"]
    assert (job["bytes_written"], job["bytes_read"]) == (size, size)
    assert "iotide: complete: no call was lost" in done.stderr


@pytest.mark.parametrize("way", ["getc", "inline", "fopen", "fread", "fgets"])
def test_thread_that_is_cancelled_in_a_call_leaves_the_stream_to_the_others(
    tracing: Tracing, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, way: str
) -> None:
    os.mkfifo(tmp_path / "fifo")
    done = tracing.run([built(tmp_path_factory, "cancelled_streams.c"), way, tmp_path / "fifo"])
    assert (done.returncode, done.stderr) == (0, "")
    pipes = sum(size for path, size in tracing.bytes_by_path(Kind.READ).items() if path.startswith("pipe:"))
    assert pipes == int(done.stdout)


def test_streams_of_the_programs_own_functions_count_for_the_files_below(
    tracing: Tracing, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    done = tracing.run([built(tmp_path_factory, "cookies.c"), file])
    assert (done.returncode, done.stderr) == (0, "")
    read, written = map(int, done.stdout.split())
    assert file.stat().st_size == written
    assert moved(tracing, file) == (written, read)
    assert not any(count for name, count in tracing.source.counters.items() if "dropped" in name)
