"""Single characters that a process has read since the last record: recorded at its end, or a loss of a killed one."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest
from iotide.events import Kind
from iotide.events.losses import LAST_CHARACTERS, LAST_CHARACTERS_BYTES
from support.system.commands import iotide
from support.system.waiting import DEADLINE_S
from support.tracing.compiled_programs import built
from support.tracing.programs import need
from support.tracing.tracing import Tracing

READ = 100
BUFFER = 4096
KILLS = ("kill", "abort", "vfork")
ENDS = (
    *("return", "_exit", "quick_exit", "syscall-exit"),
    *("execve", "fexecve", "execveat", "syscall-execve", "syscall-execveat"),
)


@pytest.fixture
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory, "ended_characters.c")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_text("a line of twenty....\n" * 1000)
    return path


def lost(tracing: Tracing) -> dict[str, int]:
    return {name: count for name, count in tracing.losses.items() if "dropped" in name}


@pytest.mark.parametrize("end", KILLS)
@pytest.mark.parametrize("streams", [1, 3])
@pytest.mark.parametrize("use", ["getc", "inline"])
def test_killed_process_has_lost_its_last_characters(
    tracing: Tracing, program: Path, file: Path, use: str, streams: int, end: str
) -> None:
    tracing.run([program, file, use, str(streams), end])
    assert tracing.bytes_by_path(Kind.READ)[str(file)] == 0
    assert lost(tracing) == {LAST_CHARACTERS: streams, LAST_CHARACTERS_BYTES: streams * BUFFER}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("use", ["getc", "inline", "wide"])
@pytest.mark.parametrize("threads", [[], ["threads"]])
def test_process_that_ends_by_itself_has_lost_none(
    tracing: Tracing, program: Path, file: Path, use: str, end: str, threads: list[str]
) -> None:
    tracing.run([program, file, use, "2", end, *threads])
    assert tracing.bytes_by_path(Kind.READ)[str(file)] == 2 * READ
    assert lost(tracing) == {}


@pytest.mark.parametrize("end", ["_exit", "execve"])
def test_streams_of_threads_are_found_where_the_kernel_copies_no_memory(
    tracing: Tracing, program: Path, file: Path, tmp_path: Path, end: str
) -> None:
    """As in containers with a filter."""
    call, log = "process_vm_readv", tmp_path / "log"
    strace = [need("strace"), "-f", "-qq", "-e", f"trace={call}", "-e", f"inject={call}:error=EPERM", "-o", str(log)]
    tracing.run([*strace, program, file, "getc", "2", end, "threads"])
    assert log.read_text().count("EPERM") == 2
    assert tracing.bytes_by_path(Kind.READ)[str(file)] == 2 * READ
    assert lost(tracing) == {}


@pytest.mark.parametrize("use", ["none", "fread", "fgets", "closed", "putc"])
@pytest.mark.parametrize("end", ["kill", "abort", "child-kill"])
def test_nothing_is_lost_by_a_killed_process_without_characters_that_it_has_read(
    tracing: Tracing, program: Path, file: Path, use: str, end: str
) -> None:
    tracing.run([program, file, use, "2", end])
    assert lost(tracing) == {}


def test_lost_wide_characters_are_told(tracing: Tracing, program: Path, file: Path) -> None:
    tracing.run([program, file, "wide", "1", "kill"])
    assert lost(tracing) == {LAST_CHARACTERS: 1, LAST_CHARACTERS_BYTES: BUFFER}


def test_characters_that_another_call_has_written_are_told(tracing: Tracing, program: Path, file: Path) -> None:
    """They are recorded when the next ones fill the buffer, but they are in the file."""
    tracing.run([program, file, "flushed", "1", "kill"])
    assert file.read_bytes().startswith(READ * b"x")
    assert tracing.bytes_by_path(Kind.WRITE)[str(file)] == 10_000
    assert lost(tracing) == {LAST_CHARACTERS: 1, LAST_CHARACTERS_BYTES: READ}


def test_characters_of_a_file_that_the_user_has_left_out_are_not_lost(
    tracing: Tracing, program: Path, file: Path
) -> None:
    environment = tracing.environment(IOTIDE_SKIP=str(file))
    tracing.run([program, file, "getc", "2", "kill"], env=environment)
    assert lost(tracing) == {}


def test_exec_that_fails_has_recorded_what_was_read(tracing: Tracing, program: Path, file: Path) -> None:
    tracing.run([program, file, "getc", "1", "failed-execve"])
    assert tracing.bytes_by_path(Kind.READ)[str(file)] == READ
    assert lost(tracing) == {LAST_CHARACTERS: 1, LAST_CHARACTERS_BYTES: BUFFER - READ}


@pytest.mark.parametrize("how", ["killed", "killed-threads"])
@pytest.mark.parametrize("steps", [100, 300, 2000])
@pytest.mark.parametrize("seed", range(12))
def test_bytes_that_no_record_of_a_killed_process_has_are_told(
    tracing: Tracing, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, seed: int, steps: int, how: str
) -> None:
    """After random calls on streams: bytes that it has read by its own account, and those that are in its files."""
    before = "19 bytes each line\n" * 1000
    for number in range(12):
        (tmp_path / f"file-{number // 6}-{number % 6}").write_text(before)
    done = tracing.run([built(tmp_path_factory, "random_streams.c"), tmp_path, str(seed), str(steps), how])
    assert done.returncode == -signal.SIGKILL
    missing = 0
    for line in done.stdout.splitlines():
        name, way, size = line.split()
        path = tmp_path / name
        if way == "read":
            unread = int(size) - tracing.bytes_by_path(Kind.READ)[str(path)]
            assert unread >= 0, name
            missing += unread
        else:
            missing += max(0, path.stat().st_size - len(before) - tracing.bytes_by_path(Kind.WRITE)[str(path)])
    assert missing <= lost(tracing).get(LAST_CHARACTERS_BYTES, 0)
    assert lost(tracing).get(LAST_CHARACTERS, 0) <= 12


OUTPUTS = (
    *("putc", "inline", "putc-fputs", "fputs", "fwrite", "puts", "fprintf"),
    *("fflush", "fclose", "lines", "putc-lines", "unbuffered-putc"),
)


@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("use", ["getc", "inline"])
def test_process_that_writes_to_a_pipe_without_a_reader_has_lost_none(
    tracing: Tracing, tmp_path_factory: pytest.TempPathFactory, file: Path, tmp_path: Path, use: str, output: str
) -> None:
    """As in ``cut -c1 file | head``."""
    count = tmp_path / "count"
    done = tracing.run([built(tmp_path_factory, "characters_to_pipe.c"), file, count, use, output])
    assert done.returncode == -signal.SIGPIPE
    assert tracing.bytes_by_path(Kind.READ)[str(file)] == int.from_bytes(count.read_bytes(), sys.byteorder)
    assert lost(tracing) == {}


@pytest.mark.parametrize("use", ["getc", "inline"])
def test_process_killed_after_it_has_written_to_a_pipe_has_lost_what_it_may_have_read_since(
    tracing: Tracing, program: Path, file: Path, use: str
) -> None:
    tracing.run([program, file, use, "1", "written-kill"])
    assert tracing.bytes_by_path(Kind.READ)[str(file)] == READ
    assert lost(tracing) == {LAST_CHARACTERS: 1, LAST_CHARACTERS_BYTES: BUFFER - READ}


def test_output_that_the_program_has_locked_waits_for_no_thread_that_flushes_all(
    tracing: Tracing, tmp_path_factory: pytest.TempPathFactory, file: Path
) -> None:
    """libc locks its list of streams before each stream, so what is done while a stream is locked must not lock it."""
    seconds = str(round(DEADLINE_S / 2))
    done = tracing.run([built(tmp_path_factory, "locked_output.c"), file, seconds])
    assert (done.returncode, done.stderr) == (0, "")


def test_forked_child_has_losses_of_its_own(tracing: Tracing, program: Path, file: Path) -> None:
    tracing.run([program, file, "getc", "2", "child-kill"])
    assert tracing.bytes_by_path(Kind.READ)[str(file)] == 2 * READ
    assert lost(tracing) == {LAST_CHARACTERS: 1, LAST_CHARACTERS_BYTES: BUFFER}


@pytest.mark.parametrize(("end", "exact"), [("kill", False), ("child-kill", False), ("return", True)])
def test_run_tells_of_lost_characters(program: Path, file: Path, tmp_path: Path, end: str, exact: bool) -> None:
    done = iotide("run", "-o", "report", "--", str(program), str(file), "getc", "1", end, cwd=tmp_path)
    sentence = (
        "1 open file of killed processes whose last single characters (getc) are not recorded (at most 4,096 bytes)"
    )
    assert (sentence in done.stderr) == (not exact)
    assert ("iotide: complete: no call was lost" in done.stderr) == exact
    assert (sentence in (tmp_path / "report" / "report.html").read_text()) == (not exact)
    (archive,) = (tmp_path / "report").glob("*.iotide")
    told = iotide("archive", "info", str(archive), cwd=tmp_path)
    assert (sentence in told.stdout + told.stderr) == (not exact)


def test_fork_and_exit_make_no_system_call_for_each_stream(
    tracing: Tracing, tmp_path_factory: pytest.TempPathFactory, file: Path, tmp_path: Path
) -> None:
    program = built(tmp_path_factory, "forked_streams.c")
    counts = []
    for streams in (1, 50):
        log = tmp_path / f"{streams}.st"
        strace = [need("strace"), "-f", "--seccomp-bpf", "-qq", "-e", "trace=rt_sigprocmask", "-o", str(log)]
        assert tracing.run([*strace, program, file, str(streams), "5"]).returncode == 0
        counts.append(len(log.read_text().splitlines()))
    assert counts[0] > 0
    assert abs(counts[1] - counts[0]) < 50


@pytest.mark.parametrize("end", ["exit", "_exit"])
def test_other_threads_open_and_close_streams_while_the_process_forks_and_ends(
    tracing: Tracing, tmp_path_factory: pytest.TempPathFactory, file: Path, end: str
) -> None:
    done = tracing.run([built(tmp_path_factory, "forked_streams.c"), file, "20", "100", "threads", end])
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("end", ["_exit", "quick_exit", "execve"])
def test_process_ends_although_a_thread_has_locked_all_streams_for_ever(
    tracing: Tracing, tmp_path_factory: pytest.TempPathFactory, file: Path, end: str
) -> None:
    done = tracing.run([built(tmp_path_factory, "stuck_streams.c"), file, end])
    assert (done.returncode, done.stderr) == (0, "")
    assert tracing.bytes_by_path(Kind.READ)[str(file)] == READ
