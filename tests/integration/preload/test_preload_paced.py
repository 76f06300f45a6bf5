"""Paced programs: they wait on the collector's command, for a bounded time, and are harmed by no fault."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from iotide.collectors.pacing.constants import LEASE_NS
from iotide.collectors.sources.preload.rings.pace_words import PaceWords
from iotide.collectors.sources.preload.rings.region import Region
from support.places import PROGRAMS
from support.system.commands import Program
from support.system.waiting import wait_for
from support.tracing.tracing import Tracing

PROGRAM = PROGRAMS / "paced.py"


@contextmanager
def begun(tracing: Tracing, path: Path, case: str, blocks: int = 20, pace: str = "1") -> Iterator[Program[str]]:
    """Run the program until it has begun."""
    command = [sys.executable, "-S", str(PROGRAM), str(path), case, str(blocks)]
    environment = tracing.environment(IOTIDE_PACE=pace)
    with Program(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "begun\n"
        yield running


def go(running: Program[str]) -> None:
    """Let it continue with what it waits for."""
    assert running.stdin is not None
    running.stdin.write("x")
    running.stdin.flush()


def words_of(tracing: Tracing) -> PaceWords:
    """Return the words of the only process."""

    def found() -> list[Region] | None:
        tracing.poll()
        images = tracing.source.images()
        return next(iter(images.values()), None)

    return wait_for(found, what="the process's memory")[0].pace_words()


def device(folder: Path) -> int:
    return folder.stat().st_dev


def hold(words: PaceWords, folder: Path, seconds: float = 3600.0) -> None:
    words.pace(device(folder))
    words.wait_until(time.monotonic_ns() + int(seconds * 1e9))


def waits(words: PaceWords) -> int:
    return words.waited[0]


@pytest.fixture
def held(tmp_path: Path) -> Iterator[tuple[Tracing, Path]]:
    """A listening source; programs begin with a call that is not paced."""
    with Tracing(tmp_path) as tracing:
        yield tracing, tmp_path / "data"


@pytest.mark.parametrize("case", ["plain", "threads", "fork", "alarm"])
def test_program_does_all_that_it_does_unpaced(held: tuple[Tracing, Path], case: str) -> None:
    """Held and released repeatedly; its output and its end are the same."""
    tracing, path = held
    with begun(tracing, path, case) as running:
        words = words_of(tracing)
        go(running)
        others: dict[int, PaceWords] = {}
        while running.poll() is None:
            tracing.poll()
            for token, regions in tracing.source.images().items():
                if token not in others:
                    with_words = regions[0].pace_words()
                    others[token] = with_words
            for each in others.values():
                hold(each, path.parent, 0.02)
            time.sleep(0.001)
            for each in others.values():
                each.wait_until(0)
        assert running.returncode == 0
        assert words.takes_part
    tracing.settle()
    blocks = {"threads": 4, "fork": 2}.get(case, 1) * 20
    assert path.stat().st_size == blocks * 4096
    written = [row for row in tracing.rows(path=path) if row.call == "pwrite64" and row.requested == 4096]
    assert len(written) == blocks


def test_call_waits_for_the_given_time_and_records_the_wait(held: tuple[Tracing, Path]) -> None:
    tracing, path = held
    with begun(tracing, path, "plain") as running:
        words = words_of(tracing)
        hold(words, path.parent)
        go(running)
        wait_for(lambda: words.in_call_ns > 0, what="a waiting call")
        moved = words.moved
        waited_from = time.monotonic_ns()
        tracing.poll()
        assert words.moved == moved
        assert running.poll() is None
        released = time.monotonic_ns()
        words.wait_until(0)
        wait_for(lambda: running.poll() is not None, what="the program's end")
        assert waits(words) >= 1
    tracing.settle()
    longest = max(row.end - row.start for row in tracing.rows("pwrite64", path=path))
    assert longest >= released - waited_from


def test_program_continues_without_further_messages_of_the_collector(held: tuple[Tracing, Path]) -> None:
    """As after SIGKILL or SIGSTOP of the collector: a lease ends by itself."""
    tracing, path = held
    with begun(tracing, path, "plain") as running:
        words = words_of(tracing)
        hold(words, path.parent, LEASE_NS / 1e9)
        go(running)
        assert running.wait() == 0
    tracing.settle()


def test_no_call_waits_longer_than_the_librarys_own_bound(held: tuple[Tracing, Path]) -> None:
    """Independent of the collector: here it holds calls until the next hour."""
    tracing, path = held
    with begun(tracing, path, "plain", 1) as running:
        words = words_of(tracing)
        hold(words, path.parent)
        go(running)
        assert running.wait() == 0
    tracing.settle()
    calls, nanoseconds = words.waited
    assert calls >= 1
    assert nanoseconds / calls < 30e9


def test_thread_that_waits_does_not_hold_up_the_end_of_its_process(held: tuple[Tracing, Path]) -> None:
    tracing, path = held
    with begun(tracing, path, "leaving") as running:
        words = words_of(tracing)
        hold(words, path.parent)
        go(running)
        wait_for(lambda: words.in_call_ns > 0, what="a waiting call")
        ended = waits(words)
        go(running)
        assert running.wait() == 7
        assert waits(words) == ended  # the wait has not come to its bound
    tracing.settle()


def test_other_file_systems_and_programs_that_did_not_ask_never_wait(held: tuple[Tracing, Path]) -> None:
    tracing, path = held
    with begun(tracing, path, "plain") as running:
        words = words_of(tracing)
        words.pace(device(path.parent) + 1)
        words.wait_until(time.monotonic_ns() + int(3600e9))
        go(running)
        assert running.wait() == 0
        assert waits(words) == 0
    tracing.settle()
    with begun(tracing, path, "plain", pace="0") as unpaced:
        words = words_of(tracing)
        assert not words.takes_part
        hold(words, path.parent)
        go(unpaced)
        assert unpaced.wait() == 0
        assert waits(words) == 0
    tracing.settle()


def test_pacer_lets_a_killed_programs_job_go(held: tuple[Tracing, Path]) -> None:
    tracing, path = held
    with begun(tracing, path, "plain") as running:
        words = words_of(tracing)
        hold(words, path.parent)
        go(running)
        wait_for(lambda: words.in_call_ns > 0, what="a waiting call")
        os.kill(running.pid, 9)
        assert running.wait() == -9
    tracing.settle()
    assert tracing.source.images() == {}
    assert words.moved >= 0  # the memory stays as long as it is in use
