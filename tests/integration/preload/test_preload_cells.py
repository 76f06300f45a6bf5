"""Forked children begin in cells of their parent's region: all calls are seen once, in order, however they end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from iotide.collectors.sources.preload.rings import cell_reader
from iotide.collectors.sources.preload.rings.region import Region
from support.system.commands import Program
from support.system.waiting import wait_for
from support.tracing.compiled_programs import built
from support.tracing.tracing import Tracing

FIRST = 1000
"""Size of the first write of a sequence, beside the length of the sequence."""


@pytest.fixture(scope="module")
def children(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory, "children.c")


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """How each cell that is used was read."""
    found: list[str] = []
    read, view = cell_reader.read_cell, Region.in_cell

    def read_cell(memory: memoryview, pid: int) -> bytes | None:
        data = read(memory, pid)
        if data is not None:
            found.append("ended")
        return data

    def in_cell(memory: memoryview) -> Region:
        found.append("running")
        return view(memory)

    monkeypatch.setattr(cell_reader, "read_cell", read_cell)
    monkeypatch.setattr(Region, "in_cell", in_cell)
    return found


@contextmanager
def begun(tracing: Tracing, *command: str | Path) -> Iterator[subprocess.Popen[str]]:
    """A program whose first process the collector has accepted."""
    pipe = subprocess.PIPE
    with Program(command, env=tracing.environment(), stdin=pipe, stdout=pipe, stderr=pipe, text=True) as program:
        wait_for(polling(tracing, lambda: len(tracing.info) == 1), what="the first process")
        yield program


def polling(tracing: Tracing, is_over: Callable[[], bool]) -> Callable[[], bool]:
    def step() -> bool:
        tracing.poll()
        return is_over()

    return step


def end_of(tracing: Tracing, program: subprocess.Popen[str]) -> str:
    assert program.stdin is not None
    program.stdin.write("\n")
    program.stdin.close()
    program.stdin = None
    wait_for(polling(tracing, lambda: program.poll() is not None), what="end of the program")
    out, err = program.communicate()
    assert (program.returncode, err) == (0, "")
    tracing.settle()
    return out


def sequences_of(tracing: Tracing) -> tuple[int, int]:
    """Check that the calls of each thread are whole sequences; return their number, and the sum of their lengths."""
    count = total = 0
    for stream, batches in tracing.batches.items():
        table = tracing.tables[stream]
        by_thread: dict[int, list[tuple[int, int]]] = {}
        for batch in batches:
            columns = (batch.tid, batch.start, batch.call, batch.bytes)
            for tid, start, call, size in zip(*(column.tolist() for column in columns), strict=True):
                if table.string(call) == "write":
                    by_thread.setdefault(tid, []).append((start, size))
        for calls in by_thread.values():
            assert calls == sorted(calls, key=lambda call: call[0])
            sizes = [size for _, size in calls]
            at = 0
            while at < len(sizes):
                length = sizes[at] - FIRST
                assert sizes[at + 1 : at + 1 + length] == list(range(1, length + 1))
                count, total, at = count + 1, total + length, at + 1 + length
    return count, total


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("awaits_ends", [False, True])
def test_every_call_of_every_child_is_seen_once_and_in_order(
    children: Path, tracing: Tracing, used: list[str], seed: int, awaits_ends: bool
) -> None:
    tracing.source._drain.await_ends(wanted=awaits_ends)
    with begun(tracing, children, str(seed), "150") as program:
        count, total = map(int, end_of(tracing, program).split())
    found = sequences_of(tracing)
    assert found == (count, total)
    assert "ended" in used
    assert "running" in used


_WRITES_UNTIL_TOLD = """
import os, signal, time
os.write(os.open("/dev/null", os.O_WRONLY), b"-")
input()
if not os.fork():
    ended, made, file = [], 0, os.open("/dev/null", os.O_WRONLY)
    signal.signal(signal.SIGUSR1, lambda *_: ended.append(True))
    print(os.getpid(), flush=True)
    while not ended:
        os.write(file, b"child")
        made += 1
        time.sleep(0.02)
    os.write(1, b"%d\\n" % made)
    os._exit(0)
os.wait()
"""


def test_calls_in_a_cell_between_two_collectors_are_counted_as_lost(tmp_path: Path) -> None:
    def seen(tracing: Tracing) -> int:
        return sum(batch.bytes.tolist().count(len(b"child")) for batch in tracing.events().values())

    with Tracing(tmp_path) as first, begun(first, sys.executable, "-c", _WRITES_UNTIL_TOLD) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        program.stdin.write("\n")
        program.stdin.flush()
        child = int(program.stdout.readline())
        wait_for(polling(first, lambda: seen(first) > 0), what="calls of the child")
        first.source.close()
        taken = seen(first)
        with Tracing(tmp_path) as second:
            wait_for(polling(second, lambda: seen(second) > 0), what="the child at the second collector")
            os.kill(child, signal.SIGUSR1)
            made = int(program.stdout.readline())
            second.settle()
            dropped = sum(each for name, each in second.losses.items() if name.startswith("events_dropped:"))
            assert taken + seen(second) <= made <= taken + seen(second) + dropped


_WRITES_IN_LITTLE_MEMORY = """
import mmap, os, resource, time
os.write(os.open("/dev/null", os.O_WRONLY), b"-")
input()
limit = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize() + (32 << 20)
child = os.fork()
if not child:
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    file = os.open("/dev/null", os.O_WRONLY)
    for _ in range(500):
        os.write(file, b"child")
    memory, own = mmap.mmap(-1, 8 << 20), os.getpid()
    between = os.fork()
    if between:
        os._exit(os.waitpid(between, 0)[1] != 0)
    between_pid = os.getpid()
    if os.fork():
        os._exit(0)
    while os.getppid() in (own, between_pid):
        time.sleep(0.01)
    for at in range(500):
        os.write(file, b"child")
        memory[at << 12] = 1
    os._exit(0)
raise SystemExit(os.waitpid(child, 0)[1])
"""


def test_child_without_room_for_its_parents_memory_and_its_own_leaves_its_cell(tracing: Tracing) -> None:
    with begun(tracing, sys.executable, "-c", _WRITES_IN_LITTLE_MEMORY) as program:
        end_of(tracing, program)
    sizes = [size for batches in tracing.batches.values() for batch in batches for size in batch.bytes.tolist()]
    assert sizes.count(len(b"child")) == 1000
    assert not tracing.losses
