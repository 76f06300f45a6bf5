"""The preload library on hostile and ordinary programs: they are not affected, and no call is lost without a count."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from iotide.cli.common.job_names import batch_job
from iotide.events import Kind
from support.system.commands import Program, plain_environment
from support.system.waiting import DEADLINE_S, wait_for
from support.tracing.compiled_programs import built, sanitized_core
from support.tracing.programs import need
from support.tracing.tracing import Tracing

WRITTEN = 100 * 1000


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory, "hostile.c")


NAMES = [
    "plain",
    "threads",
    "crowd",
    "forks",
    "vforks",
    "close-everything",
    "signals",
    "errors",
    "stdio",
    "small-files",
]


@pytest.mark.parametrize("name", NAMES)
def test_hostile_program_does_not_notice(hostile: Path, tracing: Tracing, tmp_path: Path, name: str) -> None:
    done = tracing.run([hostile, name, tmp_path / "out"])
    assert (done.returncode, done.stdout, done.stderr) == (7, "done\n", "")


@pytest.mark.parametrize("name", NAMES)
def test_program_runs_untouched_without_a_collector(hostile: Path, tracing: Tracing, tmp_path: Path, name: str) -> None:
    environment = tracing.environment()
    tracing.source.close()
    done = subprocess.run(
        [hostile, name, tmp_path / "out"], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (7, "done\n", "")


@pytest.mark.parametrize(
    ("name", "suffixes"),
    [
        ("plain", [".0"]),
        ("forks", [".0", ".1", ".2", ".3", ".4", ".99"]),
        ("vforks", [""]),
        ("close-everything", ["", ".0", ".1", ".2"]),
        ("errors", [""]),
    ],
)
def test_every_byte_is_seen(hostile: Path, tracing: Tracing, tmp_path: Path, name: str, suffixes: list[str]) -> None:
    tracing.run([hostile, name, tmp_path / "out"])
    moved = tracing.bytes_by_path(Kind.WRITE)
    assert {suffix: moved[f"{tmp_path}/out{suffix}"] for suffix in suffixes} == dict.fromkeys(suffixes, WRITTEN)
    assert not any(count for reason, count in tracing.source.counters.items() if "dropped" in reason)


def test_two_hundred_threads_in_a_row_are_seen_or_counted(hostile: Path, tracing: Tracing, tmp_path: Path) -> None:
    tracing.run([hostile, "threads", tmp_path / "out"])
    seen = sum(moved for path, moved in tracing.bytes_by_path(Kind.WRITE).items() if path.startswith(f"{tmp_path}/out"))
    # Threads that start while another creates the next region are counted and do not wait. On a loaded machine that
    # thread can lose its core meanwhile.
    missing = (200 * WRITTEN - seen) // 1000
    counters = tracing.source.counters
    unnamed = counters["details_dropped:path_buffers"] * WRITTEN // 1000  # writes through an open without its path
    assert missing <= counters["events_dropped:no_slot"] + unnamed
    assert seen
    assert counters["events_dropped:no_slot"] <= 200 * (WRITTEN // 1000 + 2)  # all calls of all threads
    assert not counters["definitions_dropped"]  # the log has room for all names


def test_more_threads_at_once_than_slots_are_all_seen(hostile: Path, tracing: Tracing, tmp_path: Path) -> None:
    """No thread begins while another creates the next region."""
    tracing.run([hostile, "crowd-in-turn", tmp_path / "out"])
    assert tracing.bytes_by_path(Kind.WRITE)[f"{tmp_path}/out.shared"] == 100 * 1000
    assert len({tid for batch in tracing.events().values() for tid in batch.tid.tolist()}) == 101
    assert not tracing.source.counters["events_dropped:no_slot"]


def test_threads_that_begin_at_once_are_seen_or_counted(hostile: Path, tracing: Tracing, tmp_path: Path) -> None:
    tracing.run([hostile, "crowd", tmp_path / "out"])
    missing = 100 - tracing.bytes_by_path(Kind.WRITE)[f"{tmp_path}/out.shared"] // 1000
    dropped = tracing.source.counters["events_dropped:no_slot"]
    assert missing <= dropped < 3 * 100  # as above
    assert missing < 100
    threads = {tid for batch in tracing.events().values() for tid in batch.tid.tolist()}
    assert len(threads) >= 101 - dropped


@pytest.mark.parametrize(
    ("variables", "job"),
    [
        ({"LSB_JOBID": "77", "LSB_JOBINDEX": "4"}, "77[4]"),
        ({"LSB_JOBID": "77", "LSB_JOBINDEX": "0"}, "77"),
        ({"PBS_JOBID": "9", "LSB_JOBINDEX": "4"}, "9"),
    ],
)
def test_tracer_and_commands_name_a_batch_job_alike(
    tracing: Tracing, tmp_path: Path, variables: dict[str, str], job: str
) -> None:
    tracing.run(["sh", "-c", "echo x > out"], cwd=tmp_path, env=tracing.environment(**variables) | {"IOTIDE_JOB": ""})
    assert {info.job for info in tracing.info.values()} == {batch_job(variables)} == {job}


def test_stdio_is_seen_once_and_by_its_own_names(hostile: Path, tracing: Tracing, tmp_path: Path) -> None:
    tracing.run([hostile, "stdio", tmp_path / "out"])
    path = f"{tmp_path}/out"
    assert tracing.bytes_by_path(Kind.WRITE)[path] == WRITTEN + len("a line\nanother\n")
    assert tracing.bytes_by_path(Kind.READ)[path] == WRITTEN + len("a line\n")
    calls = tracing.calls()
    assert {name: calls[name] for name in ("fopen", "fwrite", "fprintf", "fputs", "fflush", "fgets", "fclose")} == {
        "fopen": 1, "fwrite": 100, "fprintf": 1, "fputs": 1, "fflush": 1, "fgets": 1, "fclose": 1,
    }  # fmt: skip


def test_handler_inside_a_call_is_recorded_or_counted(hostile: Path, tracing: Tracing, tmp_path: Path) -> None:
    tracing.run([hostile, "signals", tmp_path / "out"])
    ticks = int((tmp_path / "out").read_bytes()[200_000:])
    seen = tracing.bytes_by_path(Kind.WRITE)
    dropped = tracing.source.counters["events_dropped:reentrant"]
    assert ticks > 0
    assert seen[f"{tmp_path}/out"] >= 200_000
    assert seen[f"{tmp_path}/out.ticks"] + dropped == ticks


def test_failed_calls_have_their_errno_and_no_bytes(hostile: Path, tracing: Tracing, tmp_path: Path) -> None:
    tracing.run([hostile, "errors", tmp_path / "out"])
    (batch,) = tracing.events().values()
    failed = batch.select(batch.errno != 0)
    assert sorted(failed.errno.tolist()) == [2, 9, 9, 14]
    assert failed.bytes.tolist() == [0, 0, 0, 0]
    assert all(flags & 4 for flags in failed.flags.tolist())


def test_writes_before_a_sigkill_are_recorded(hostile: Path, tracing: Tracing, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    with Program([hostile, "killed", tmp_path / "out", fifo], env=tracing.environment()) as running:
        with fifo.open("rb", buffering=0) as ready:
            assert ready.read(1) == b"x"
        running.send_signal(signal.SIGKILL)
        assert running.wait() == -signal.SIGKILL
    wait_for(lambda: (tracing.poll(), tracing.closed)[1], what="the stream's end")
    assert tracing.bytes_by_path(Kind.WRITE)[f"{tmp_path}/out"] == WRITTEN


def test_collector_that_dies_in_the_middle_is_not_missed(hostile: Path, tracing: Tracing, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    script = f"dd if=/dev/zero of={tmp_path}/a bs=100 count=50 status=none; cat {fifo}; echo still"
    with Program(["sh", "-c", script], env=tracing.environment(), stdout=subprocess.PIPE, text=True) as running:
        wait_for(lambda: (tracing.poll(), tracing.bytes_by_path(Kind.WRITE)[f"{tmp_path}/a"] == 5000)[1])
        tracing.source.close()
        fifo.write_text("on\n")
        out, _ = running.communicate(timeout=DEADLINE_S)
    assert (out, running.returncode) == ("on\nstill\n", 0)


def test_full_ring_costs_counted_events_and_never_a_wait(tmp_path: Path) -> None:
    with Tracing(tmp_path, ring_records=256) as tracing:
        # The collector does not poll while dd runs.
        subprocess.run(
            ["dd", "if=/dev/zero", f"of={tmp_path}/out", "bs=10", "count=5000", "status=none"],
            env=tracing.environment(),
            check=True,
            timeout=DEADLINE_S,
        )
        wait_for(lambda: (tracing.poll(), tracing.closed)[1], what="the stream's end")
        (batch,) = tracing.events().values()
        # Parameters without a field in the record also take lines of the ring.
        assert 200 <= len(batch) <= 256
        lost = tracing.source.counters["events_dropped:ring_full"]
        assert lost >= 10_000 - len(batch)
        assert tracing.losses["events_dropped:ring_full"] == lost
        assert batch.moved + tracing.losses["bytes_dropped:ring_full"] == 100_000


def test_calls_of_dd_are_those_that_it_made(tracing: Tracing, tmp_path: Path) -> None:
    tracing.run(["dd", "if=/dev/zero", f"of={tmp_path}/out", "bs=4096", "count=100", "status=none"])
    (stream,) = tracing.info
    (batch,) = tracing.events().values()
    table = tracing.tables[stream]
    writes = batch.select(batch.kind == Kind.WRITE)
    assert writes.bytes.tolist() == [4096] * 100
    assert {table.file(number).path for number in writes.file.tolist()} == {f"{tmp_path}/out"}
    assert tracing.info[stream].command.startswith("dd if=/dev/zero")
    assert (writes.start[1:] >= writes.start[:-1]).all()
    assert writes.duration.min() > 0


def test_stamps_are_wall_clock_time(tracing: Tracing, tmp_path: Path) -> None:
    tracing.run(["dd", "if=/dev/zero", f"of={tmp_path}/out", "bs=1", "count=1", "status=none"])
    (batch,) = tracing.events().values()
    modified = (tmp_path / "out").stat().st_mtime_ns
    assert abs(int(batch.start[batch.kind == Kind.WRITE][0]) - modified) < 1e9


def test_stamps_lie_between_the_program_s_own(
    tmp_path_factory: pytest.TempPathFactory, tracing: Tracing, tmp_path: Path
) -> None:
    done = tracing.run([built(tmp_path_factory, "stamps.c"), tmp_path / "out"])
    assert done.returncode == 0, done.stderr
    (batch,) = tracing.events().values()
    seeks = batch.select(batch.kind == Kind.SEEK)
    seeks = seeks.select(slice(0, len(seeks) - 1))
    before, after = np.fromfile(tmp_path / "out", np.int64).reshape(-1, 2).T
    start, end = seeks.start, seeks.start + seeks.duration
    assert len(seeks) == len(before)
    # The wall clock minus CLOCK_MONOTONIC is a constant, at most the first and at least the second of these.
    assert (end - after).max() <= (start - before).min() + 2000
    assert (start[1:] >= end[:-1]).all()


def test_time_of_a_call_that_makes_two_descriptors_is_told_once(tracing: Tracing) -> None:
    tracing.run(["sh", "-c", "true | true"])
    first, second = tracing.rows("pipe")
    assert first.end > first.start
    assert first.handle != second.handle
    assert second.start == second.end == first.end


def test_pipeline_opens_a_stream_for_each_process(tracing: Tracing, tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"line\n" * 1000)
    done = tracing.run(["sh", "-c", f"cat {tmp_path}/in | sort -u | wc -l"])
    assert done.stdout.strip() == "1"
    commands = [info.command.split()[0] for info in tracing.info.values()]
    assert {"cat", "sort", "wc"} <= set(commands)
    assert tracing.bytes_by_path(Kind.READ)[f"{tmp_path}/in"] == 5000


def test_python_and_its_children_are_traced(tracing: Tracing, tmp_path: Path) -> None:
    script = (
        "import subprocess, multiprocessing, sys\n"
        "def work(n):\n open(sys.argv[1] + str(n), 'wb', buffering=0).write(bytes(n))\n"
        "multiprocessing.set_start_method('fork')\n"
        "p = multiprocessing.Process(target=work, args=(7000,)); p.start(); p.join()\n"
        "subprocess.run(['cp', sys.argv[1] + '7000', sys.argv[1] + 'copy'], check=True)\n"
    )
    done = tracing.run([sys.executable, "-c", script, tmp_path / "f"])
    assert done.returncode == 0, done.stderr
    moved = tracing.bytes_by_path(Kind.WRITE)
    assert moved[f"{tmp_path}/f7000"] == 7000
    assert moved[f"{tmp_path}/fcopy"] == 7000


def test_valgrind_finds_nothing_in_the_library(hostile: Path, tracing: Tracing, tmp_path: Path) -> None:
    command = [
        need("valgrind"),
        "--quiet",
        "--error-exitcode=99",
        "--trace-children=no",
        hostile,
        "plain",
        tmp_path / "v",
    ]
    done = tracing.run(command)
    assert (done.returncode, done.stdout, done.stderr) == (7, "done\n", "")


@pytest.mark.parametrize("name", ["threads", "forks", "stdio", "errors", "signals", "close-everything"])
def test_sanitizers_find_nothing_in_the_library(
    hostile: Path, tracing: Tracing, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, name: str
) -> None:
    library, runtime = sanitized_core(tmp_path_factory)
    environment = tracing.environment(ASAN_OPTIONS="detect_leaks=0")
    environment["LD_PRELOAD"] = f"{runtime}:{library}"
    done = tracing.run([hostile, name, tmp_path / "out"], env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (7, "done\n", "")
    assert tracing.source.counters["events"] > 0


@pytest.mark.parametrize(
    "words",
    [
        *(("random_streams.c", "{folder}", "7", "2000", how) for how in ("threads", "forks", "-")),
        *(("ended_characters.c", "{folder}/file-0-0", "getc", "3", end, "threads") for end in ("_exit", "fexecve")),
        ("ended_characters.c", "{folder}/file-0-0", "getc", "600", "return"),
        ("forked_streams.c", "{folder}/file-0-0", "20", "20", "threads", "_exit"),
        ("cookies.c", "{folder}/file-0-0"),
    ],
)
def test_sanitizers_find_nothing_about_streams(
    tracing: Tracing, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, words: tuple[str, ...]
) -> None:
    for number in range(12):
        (tmp_path / f"file-{number // 6}-{number % 6}").write_text("19 bytes each line\n" * 1000)
    library, runtime = sanitized_core(tmp_path_factory)
    environment = tracing.environment(ASAN_OPTIONS="detect_leaks=0")
    environment["LD_PRELOAD"] = f"{runtime}:{library}"
    program = built(tmp_path_factory, words[0])
    done = tracing.run([program, *(word.format(folder=tmp_path) for word in words[1:])], env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert tracing.source.counters["events"] > 0


def test_socket_is_private_and_strangers_are_refused(tracing: Tracing) -> None:
    import socket

    assert tracing.socket.stat().st_mode & 0o077 == 0
    for garbage in (b"", b"x" * 32, b"\0" * 200):
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as stranger:
            stranger.connect(str(tracing.socket))
            if garbage:
                stranger.send(garbage)
            tracing.poll()
    # One that disconnects without a message has only checked for a listener.
    assert tracing.source.counters["processes_refused"] == 2
    assert tracing.source.problems.total == 2


def test_second_collector_on_the_same_socket_is_refused(tracing: Tracing) -> None:
    from iotide.collectors.source import Origin
    from iotide.collectors.sources.preload.source import PreloadSource
    from iotide.events import InputError

    with pytest.raises(InputError, match="another collector"):
        PreloadSource(tracing.socket, Origin(job="x"))


def test_untraced_program_without_our_environment_is_not_seen(tracing: Tracing) -> None:
    subprocess.run(["true"], env=plain_environment(), check=True)
    tracing.poll()
    assert not tracing.info
