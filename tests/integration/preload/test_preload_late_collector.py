"""Programs that start before their collector find it once it listens, and report the missed calls."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from iotide.collectors.settings import TracerSettings
from iotide.collectors.tracer.preload_environment import traced_environment
from support.system.commands import Program, plain_environment
from support.system.waiting import DEADLINE_S, wait_for
from support.tracing.compiled_programs import built
from support.tracing.programs import need
from support.tracing.tracing import Tracing

LATE = "events_dropped:collector_late"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory, "awaits_collector.c")


class Started:
    """The program, running without a collector."""

    def __init__(self, process: subprocess.Popen[str], socket_path: Path) -> None:
        self.process = process
        self.socket = socket_path

    def wait_for_writing(self, threads: int) -> None:
        """Wait until the given number of further threads are writing."""
        assert self.process.stdout is not None
        for _ in range(threads):
            assert self.process.stdout.readline() == "writing\n"

    def send(self, commands: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(commands)
        self.process.stdin.flush()

    def end(self) -> dict[str, int]:
        """End all of it; return the calls that each process made, by the path that it wrote to."""
        output, _ = self.process.communicate("q", timeout=DEADLINE_S)
        assert self.process.returncode == 0
        rows = [line.rsplit(" ", 1) for line in output.splitlines() if line != "writing"]
        return {path: int(count) for path, count in rows}


@contextmanager
def started(program: Path, folder: Path, gate: Path, *before: str, threads: int = 1) -> Iterator[Started]:
    traced = traced_environment({}, gate, "job", TracerSettings(calls=("data",)))
    variables = [f"{name}={value}" for name, value in traced.items()]
    command = [*before, "env", *variables, program, folder / "out", str(threads)]
    with Program(command, env=plain_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        begun = Started(running, gate)
        begun.wait_for_writing(threads)
        yield begun


def poll_until(tracing: Tracing, condition: Callable[[], bool], what: str) -> None:
    def came() -> bool:
        tracing.poll()
        return condition()

    wait_for(came, what=what)


def seen_by_path(tracing: Tracing) -> Counter[str]:
    """Count calls by path; those on pipes have an empty one."""
    return Counter(row.path if row.path.startswith("/") else "" for row in tracing.rows())


def assert_told(tracing: Tracing, made: dict[str, int]) -> None:
    """Every call of every process was either recorded or counted as one before the collector."""
    tracing.settle()
    seen = seen_by_path(tracing)
    assert set(seen) - {""} == set(made)
    assert sum(seen.values()) + tracing.losses[LATE] == sum(made.values())
    assert set(tracing.losses) <= {LATE}


def stale(gate: Path) -> None:
    """Leave the files of a killed collector."""
    gate.parent.mkdir()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as left:
        left.bind(str(gate))


BEFORE: dict[str, Callable[[Path], None]] = {
    "no folder": lambda gate: None,
    "no socket": lambda gate: gate.parent.mkdir(),
    "nobody listens": stale,
}


@pytest.mark.parametrize("before", BEFORE)
def test_collector_that_comes_late_is_found(before: str, program: Path, tmp_path: Path) -> None:
    gate = tmp_path / "gates" / "tracer.sock"
    BEFORE[before](gate)
    with started(program, tmp_path, gate, threads=3) as begun, Tracing(gate.parent) as tracing:
        path = str(tmp_path / "out")
        poll_until(tracing, lambda: seen_by_path(tracing)[path] > 30, "calls of the program")
        made = begun.end()
        assert_told(tracing, made)
        assert len(tracing.info) == 1
        assert tracing.losses[LATE] >= 3 * 10


def test_forked_children_and_programs_that_they_start_find_it_too(program: Path, tmp_path: Path) -> None:
    gate = tmp_path / "tracer.sock"
    with started(program, tmp_path, gate) as begun:
        begun.send("fe")
        begun.wait_for_writing(2)
        with Tracing(gate.parent) as tracing:
            paths = {str(tmp_path / f"out{suffix}") for suffix in ("", ".child", ".exec")}
            poll_until(tracing, lambda: paths <= set(seen_by_path(tracing)), "calls of all processes")
            assert_told(tracing, begun.end())
            assert len(tracing.info) == 3


def test_child_that_is_forked_between_two_collectors_finds_the_second(program: Path, tmp_path: Path) -> None:
    gate = tmp_path / "tracer.sock"
    parent, child = str(tmp_path / "out"), str(tmp_path / "out.child")
    first = Tracing(gate.parent)
    with started(program, tmp_path, gate) as begun:
        poll_until(first, lambda: seen_by_path(first)[parent] > 10, "calls of the parent")
        first.source.close()
        begun.send("f")
        begun.wait_for_writing(1)
        with Tracing(gate.parent) as second:
            seen = {parent, child}
            poll_until(second, lambda: seen <= set(seen_by_path(second)), "calls of both processes")
            made = begun.end()
            second.settle()
            (stream,) = {row.stream for row in second.rows(path=child)}
            of_child = len(second.rows(stream=stream))
            assert of_child + second.losses[LATE] == made[child]
            assert second.losses[LATE] >= 10


def test_collector_that_may_be_reached_only_later_is_found(program: Path, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can drop and restore our rights")
    without_rights = (need("setpriv"), "--bounding-set=-all", "--inh-caps=-all")
    gate = tmp_path / "closed" / "tracer.sock"
    with Tracing(gate.parent) as tracing:
        gate.parent.chmod(0)
        with started(program, tmp_path, gate, *without_rights) as begun:
            poll_until(tracing, lambda: tracing.source.counters["processes_unheard"] == 1, "a word of the process")
            assert not tracing.info
            gate.parent.chmod(0o700)
            path = str(tmp_path / "out")
            poll_until(tracing, lambda: seen_by_path(tracing)[path] > 10, "calls of the program")
            assert_told(tracing, begun.end())
            assert tracing.source.counters["processes_unheard"] == 1


def connections(log: Path) -> int:
    return sum("connect(" in line for line in log.read_text().splitlines())


def looks_within(seconds: float) -> int:
    """At the start, and after 1, 3, 7, 15, 31, 63 s and each minute."""
    return 1 + sum(at < seconds for at in (1, 3, 7, 15, 31, *range(63, 3600, 60)))


def seconds_in(log: Path) -> float:
    moments = [float(found[1]) for found in re.finditer(r"(?m)^(?:\d+ +)?(\d+\.\d+) ", log.read_text())]
    return max(moments) - min(moments)


@pytest.mark.parametrize("forks", [False, True], ids=["one process", "forked children"])
def test_program_without_a_collector_searches_a_bounded_number_of_times(forks: bool, tmp_path: Path) -> None:
    """Each connection attempt takes a few microseconds: children of a waiting parent do not all try."""
    script = """
import os, sys
fd = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY)
for number in range(300):
    if sys.argv[2] == "False":
        os.write(fd, b"x")
    elif not (child := os.fork()):
        os.write(fd, b"x")
        os._exit(0)
    else:
        os.waitpid(child, 0)
"""
    log = tmp_path / "log"
    command = [need("strace"), "-f", "-ttt", "-e", "trace=connect,write", "-o", log, sys.executable, "-c", script]
    environment = traced_environment(plain_environment(), tmp_path / "tracer.sock", "job")
    done = subprocess.run(
        [*command, tmp_path / "out", str(forks)], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "out").stat().st_size == 300
    # The parent may be due and make no call itself: then each child that starts before that tries once.
    most = looks_within(seconds_in(log)) + (0 if not forks else 300)
    assert 1 <= connections(log) <= most
    if forks and seconds_in(log) < 1:
        assert connections(log) == 1


def test_program_that_restricts_itself_without_a_collector_goes_on(tmp_path: Path) -> None:
    """It makes no further attempts, because a system call may be fatal for the program."""
    script = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
libc.syscall(157, 22, 2, 0)  # prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL), which fails
os.write(1, b"goes on\\n")
"""
    environment = traced_environment(plain_environment(), tmp_path / "tracer.sock", "job")
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "goes on\n", "")


def test_program_whose_collector_never_comes_ends_as_it_would(program: Path, tmp_path: Path) -> None:
    with started(program, tmp_path, tmp_path / "tracer.sock", threads=4) as begun:
        begun.send("fe")
        begun.wait_for_writing(2)
        assert len(begun.end()) == 3


def test_signal_handlers_and_a_kill_while_it_waits_do_no_harm(program: Path, tmp_path: Path) -> None:
    with started(program, tmp_path, tmp_path / "tracer.sock") as begun:
        begun.process.send_signal(signal.SIGTERM)
        assert begun.process.wait(DEADLINE_S) == -signal.SIGTERM
