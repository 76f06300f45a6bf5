"""CPU time of an idle ``iotide collect``, with all its processes: without a program, and beside programs that wait.

    IOTIDE_SECONDS=60 python benchmarks/run.py collect_idle

The collector is connected to an aggregator. IOTIDE_WAITING (100) traced programs have each made a call
and wait for input. Each case is observed for IOTIDE_SECONDS (30).
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from iotide.benchmarks.common.figures import Figure, report
from iotide.benchmarks.common.processes import children_of, started, used_ns, wait_for
from iotide.benchmarks.common.served import served
from iotide.benchmarks.common.tracers import bare_environment, ours

SECONDS: Final = float(os.environ.get("IOTIDE_SECONDS", "30"))
WAITING: Final = int(os.environ.get("IOTIDE_WAITING", "100"))
_SETTLING_S: Final = 5.0
"""Time after which the start of the collector, or of programs, causes no more work."""
_WAITS: Final = ("sh", "-c", "echo started; read line")
"""A program that makes a call and then waits for its input."""


def measure() -> list[Figure]:
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as held:
        folder = Path(name)
        server = held.enter_context(served(folder))
        gate = folder / "gate"
        words = [sys.executable, "-m", "iotide", "collect", "--socket", str(gate), "--connect", server.endpoint]
        running = held.enter_context(started(words, env=bare_environment(), stderr=subprocess.DEVNULL))
        wait_for(lambda: gate.exists() and server.metric("iotide_collectors") == 1, "the collector")
        alone = _share(running.pid)
        environment = {**bare_environment(), **ours(gate).environment}
        for _ in range(WAITING):
            held.enter_context(started(_WAITS, env=environment, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL))
        wait_for(lambda: server.metric("iotide_ingest_streams") == WAITING, "the programs")
        beside = _share(running.pid)
    return [
        Figure("collector without a program", alone, "% of a core", "<= 0.3 %", better="lower"),
        Figure(f"collector beside {WAITING} waiting programs", beside, "% of a core", better="lower"),
    ]


def _share(pid: int) -> float:
    """Return the CPU time of a process and its descendants over the next seconds, % of a core."""
    time.sleep(_SETTLING_S)
    before, begun = _used_ns(pid), time.perf_counter_ns()
    time.sleep(SECONDS)
    return (_used_ns(pid) - before) / (time.perf_counter_ns() - begun) * 100


def _used_ns(pid: int) -> int:
    return used_ns(pid) + sum(map(_used_ns, children_of(pid)))


if __name__ == "__main__":
    report(measure())
