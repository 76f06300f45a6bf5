"""The collector dies, returns, or stalls: programs are not affected, and unread calls are counted."""

from __future__ import annotations

import re
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from iotide.collectors.tracer.preload_environment import traced_environment
from support.places import ROOT
from support.system.commands import Program, plain_environment
from support.system.waiting import DEADLINE_S, wait_for
from support.tracing.compiled_programs import PROGRAMS, built


def seconds(name: str) -> float:
    """Return a duration from the tracer's source."""
    (nanoseconds,) = re.findall(rf"^#define {name} INT64_C\((\d+)\)", TRACER.read_text(), re.MULTILINE)
    return int(nanoseconds) / 1e9


TRACER = ROOT / "collectors/preload/recording/session.c"
GONE_S = seconds("COLLECTOR_TIMEOUT_NS")
"""Time without a sign of the collector after which it counts as gone, s."""
GONE_CALLS = round(1.1 * 1000 * (GONE_S + seconds("COLLECTOR_CHECK_NS")))
"""Calls after which the program has noticed: it makes at most 1,000 per second, fewer on a slow machine."""


class Lone:
    """A collector in a separate process."""

    def __init__(self, socket: Path, count: Path) -> None:
        self.count = count
        count.unlink(missing_ok=True)
        command = [sys.executable, PROGRAMS / "lone_collector.py", socket, count]
        self.process = subprocess.Popen(command, env=plain_environment())
        wait_for(lambda: count.exists() and count.stat().st_size == 16, what="the collector's start")

    def totals(self) -> tuple[int, int]:
        """Return the numbers of recorded calls and of calls reported as lost."""
        seen, dropped = struct.unpack("<qq", self.count.read_bytes())
        return seen, dropped

    def end_between_looks(self) -> tuple[int, int]:
        """Let it kill itself when everything it has read is reported: calls read after that could not be counted."""
        self.process.send_signal(signal.SIGUSR1)
        self.process.wait(DEADLINE_S)
        return self.totals()

    def end(self) -> tuple[int, int]:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()
        return self.totals()


@contextmanager
def steady_program(program: Path, folder: Path, socket: Path) -> Iterator[subprocess.Popen[str]]:
    stop = folder / "stop"
    command = [program, folder / "out", stop]
    environment = traced_environment(plain_environment(), socket, "job")
    with Program(command, env=environment, stdout=subprocess.PIPE, text=True) as running:
        try:
            yield running
        finally:
            stop.touch()
            running.wait(timeout=DEADLINE_S)


def made(folder: Path) -> int:
    return int(np.fromfile(folder / "out.made", np.uint64).sum())


@pytest.fixture(scope="module")
def steady(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory, "steady.c")


def test_next_collector_is_handed_what_the_program_does_from_then_on(steady: Path, tmp_path: Path) -> None:
    socket = tmp_path / "tracer.sock"
    first = Lone(socket, tmp_path / "first")
    with steady_program(steady, tmp_path, socket) as running:
        wait_for(lambda: first.totals()[0] > 200, what="calls of the first collector")
        seen_first, _ = first.end_between_looks()
        before = made(tmp_path)
        second = Lone(socket, tmp_path / "second")
        try:
            wait_for(lambda: second.totals()[0] > 200, what="calls of the second collector")
            (tmp_path / "stop").touch()
            assert running.communicate(timeout=DEADLINE_S)[0] == "done\n"
            assert running.returncode == 7
            total = made(tmp_path)
            wait_for(lambda: seen_first + sum(second.totals()) >= total, what="the rest")
        finally:
            seen_second, dropped = second.end()
    assert total > before
    assert dropped > 0, "unread calls must be counted"
    assert seen_first + seen_second <= total
    # Calls on other files than the program's own are dropped, too.
    assert total <= seen_first + seen_second + dropped <= total + 100


def test_collector_resumes_after_a_stall_without_loss(steady: Path, tmp_path: Path) -> None:
    socket = tmp_path / "tracer.sock"
    lone = Lone(socket, tmp_path / "count")
    try:
        with steady_program(steady, tmp_path, socket) as running:
            wait_for(lambda: lone.totals()[0] > 100, what="the first calls")
            stood_since = time.monotonic()
            lone.process.send_signal(signal.SIGSTOP)
            stopped_at, taken = made(tmp_path), lone.totals()[0]
            wait_for(lambda: made(tmp_path) > stopped_at + 300, what="the program to continue")
            lone.process.send_signal(signal.SIGCONT)
            wait_for(lambda: lone.totals()[0] > taken, what="the collector to continue")
            stood_s = time.monotonic() - stood_since
            (tmp_path / "stop").touch()
            assert running.communicate(timeout=DEADLINE_S)[0] == "done\n"
        total = made(tmp_path)
        wait_for(lambda: sum(lone.totals()) >= total, what="every call")
        seen, dropped = lone.totals()
        assert seen <= total <= seen + dropped
        if stood_s < GONE_S:  # otherwise the machine stalled, and the library has searched for another collector
            assert (seen, dropped) == (total, 0)
    finally:
        lone.end()


def test_long_stall_of_a_collector_loses_nothing_uncounted(steady: Path, tmp_path: Path) -> None:
    socket = tmp_path / "tracer.sock"
    lone = Lone(socket, tmp_path / "count")
    try:
        with steady_program(steady, tmp_path, socket) as running:
            wait_for(lambda: lone.totals()[0] > 100, what="the first calls")
            lone.process.send_signal(signal.SIGSTOP)
            stopped_at = made(tmp_path)
            # Longer than a collector may be silent before the library searches for another.
            wait_for(lambda: made(tmp_path) > stopped_at + GONE_CALLS, what="the program to continue")
            lone.process.send_signal(signal.SIGCONT)
            (tmp_path / "stop").touch()
            assert running.communicate(timeout=DEADLINE_S)[0] == "done\n"
        total = made(tmp_path)
        wait_for(lambda: sum(lone.totals()) >= total, what="every call")
        seen, dropped = lone.totals()
        assert seen <= total <= seen + dropped
    finally:
        lone.end()


def test_program_whose_collector_died_runs_on_and_ends_as_ever(steady: Path, tmp_path: Path) -> None:
    socket = tmp_path / "tracer.sock"
    first = Lone(socket, tmp_path / "first")
    with steady_program(steady, tmp_path, socket) as running:
        wait_for(lambda: first.totals()[0] > 50, what="calls of the first collector")
        first.end()
        at = made(tmp_path)
        # After the library has noticed that there is no listener.
        wait_for(lambda: made(tmp_path) > at + GONE_CALLS, what="the program to continue")
        (tmp_path / "stop").touch()
        out, _ = running.communicate(timeout=DEADLINE_S)
    assert (running.returncode, out) == (7, "done\n")
    assert (tmp_path / "out").stat().st_size == 10 * (made(tmp_path) - 2)
