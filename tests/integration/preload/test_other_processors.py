"""The tracer on processors other than x86-64: cross-compiled, and run by a user-mode emulator.

The emulator keeps x86-64's order of loads and stores, so it tests code, system calls and layouts only. The memory order
relies on the atomics of the tracer and the fences of the collector. QEMU 7.2 silently ignores MADV_WIPEONFORK, which
identifies a child, so there are no children here.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from iotide.collectors.sources.preload.records import fences
from iotide.collectors.wrappers import build
from iotide.events import Kind
from support.tracing.compiled_programs import PROGRAMS
from support.tracing.programs import need
from support.tracing.tracing import Tracing

_WRITES = 3 * 500
_SIZE = 4096


class Machine(NamedTuple):
    """Compiler and emulator of a processor."""

    name: str
    compiler: str
    emulator: str
    root: str


@pytest.fixture(
    scope="module", params=[Machine("aarch64", "aarch64-linux-gnu-gcc", "qemu-aarch64", "/usr/aarch64-linux-gnu")]
)
def machine(request: pytest.FixtureRequest) -> Machine:
    chosen: Machine = request.param
    need(chosen.compiler)
    need(chosen.emulator)
    return chosen


@pytest.fixture(scope="module")
def library(machine: Machine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp(machine.name)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CC", machine.compiler)
        yield build.compile_core(folder, folder)


def test_all_calls_of_threads_arrive(machine: Machine, library: Path, tmp_path: Path) -> None:
    program = tmp_path / "program"
    source = PROGRAMS / "threads_and_child.c"
    subprocess.run([need(machine.compiler), "-O2", "-o", program, source, "-lpthread"], check=True)
    with Tracing(tmp_path) as tracing:
        environment = {name: value for name, value in tracing.environment().items() if name != "LD_PRELOAD"}
        command = [need(machine.emulator), "-L", machine.root, "-E", f"LD_PRELOAD={library}", program]
        done = tracing.run(command, cwd=tmp_path, env=environment)
        assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr
        data = [row for row in tracing.rows() if row.kind in (Kind.READ, Kind.WRITE)]
        written = [row for row in data if row.call == "write"]
        assert len(written) == _WRITES
        assert {Path(row.path).name for row in written} == {"out0", "out1", "out2"}
        assert sum(row.bytes for row in written) == _WRITES * _SIZE
        assert sorted(row.offset for row in data if row.call.startswith("pread")) == [i * _SIZE for i in range(500)]
        assert sum(row.bytes for row in data if row.call == "fprintf") == 400
        assert {"open", "close", "fsync", "fopen", "fclose"} <= set(tracing.calls())
        assert all(row.start <= row.end for row in data)
        assert not +tracing.losses


def test_recorded_events_are_the_same_with_fences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With weak memory order, definitions are read twice and a lock is taken at each step."""
    for module in (fences, __import__("iotide.collectors.sources.preload.records.definition_log", fromlist=["x"])):
        monkeypatch.setattr(module, "STRONG", False)
    program = tmp_path / "program"
    subprocess.run([need("gcc"), "-O2", "-o", program, PROGRAMS / "threads_and_child.c", "-lpthread"], check=True)
    with Tracing(tmp_path) as tracing:
        done = tracing.run([program, "child"], cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        written = tracing.rows("write")
        assert len(written) == _WRITES + 500
        assert {Path(row.path).name for row in written} == {"out0", "out1", "out2", "child"}
