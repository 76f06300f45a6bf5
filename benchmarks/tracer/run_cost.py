"""Cost of ``iotide run``: a command's time with and without it, our own CPU time, dropped calls.

Pairs of runs, by turns; medians of the pairs' differences and ratios. CPU time is valid on a shared machine too. Wall
time is the user's waiting time on an otherwise idle machine.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from iotide.benchmarks.common.figures import Figure, report
from iotide.benchmarks.common.processes import PROGRAMS, children_of, used_ns
from iotide.benchmarks.common.tracers import LIMIT_S, bare_environment

PAIRS = int(os.environ.get("IOTIDE_REPEATS", "5"))
CALLS = 10_000_000
FILES = 150_000
IDLE_S = 10
BURST = "dd if=/dev/zero of=b1 bs=64 count=1500000 & dd if=/dev/zero of=b2 bs=64 count=1500000; wait"
MANY_FILES = """
import os
os.mkdir("d")
for number in range(%d):
    file = os.open(f"d/file-{number}", os.O_WRONLY | os.O_CREAT, 0o600)
    os.write(file, b"x" * 100)
    os.close(file)
"""
_TIMER = """
import json, resource, subprocess, sys, time
begun = time.perf_counter()
status = subprocess.call(sys.argv[2:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
took, used = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
open(sys.argv[1], "w").write(json.dumps([status, took, used.ru_utime + used.ru_stime]))
"""


@dataclass(frozen=True, slots=True)
class Run:
    """One run of a command.

    Attributes:
        wall_s, cpu_s: of the command and its children.
        ours_s: CPU time of iotide, including its start and end; 0 without it.
        waited_s: wall time of the whole run.
        calls, dropped: from iotide's summary.
    """

    wall_s: float
    cpu_s: float
    ours_s: float
    waited_s: float
    calls: int = 0
    dropped: int = 0


def run(command: Sequence[str | Path], folder: Path, *, traced: bool) -> Run:
    """Run a command in a new folder, on tmpfs if available."""
    times, summary = folder / "times.json", folder / "summary.json"
    work = folder / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    words = [sys.executable, "-S", "-c", _TIMER, str(times), *map(str, command)]
    if traced:
        options = ["--output", str(work / "report"), "--json", str(summary), "--quiet"]
        words = [sys.executable, "-m", "iotide", "run", *options, "--", *words]
    before, begun = _children_s(), time.perf_counter()
    subprocess.run(words, cwd=work, env=bare_environment(), check=True, timeout=LIMIT_S, stderr=subprocess.DEVNULL)
    waited_s, all_s = time.perf_counter() - begun, _children_s() - before
    status, wall_s, cpu_s = json.loads(times.read_text())
    if status:
        raise AssertionError(f"{command[0]} ended with {status}")
    if not traced:
        return Run(wall_s, cpu_s, 0.0, waited_s)
    job = json.loads(summary.read_text())["job"]
    return Run(wall_s, cpu_s, all_s - cpu_s, waited_s, job["events"], job["events_dropped"])


def pairs(command: Sequence[str | Path], folder: Path) -> list[tuple[Run, Run]]:
    """Return runs without and with iotide, in turns."""
    return [(run(command, folder, traced=False), run(command, folder, traced=True)) for _ in range(PAIRS)]


def figures(name: str, runs: Sequence[tuple[Run, Run]], most: float, start_s: float) -> Iterator[Figure]:
    """Yield the figures of a command with many calls.

    Args:
        name: of the command.
        runs: without and with iotide.
        most: budget of the command's time, relative to untraced.
        start_s: our CPU time for a command that does nothing.
    """
    wall = statistics.median(traced.wall_s / bare.wall_s for bare, traced in runs)
    cpu = statistics.median(traced.cpu_s / bare.cpu_s for bare, traced in runs)
    ours = statistics.median((traced.ours_s - start_s) / traced.calls * 1e9 for _, traced in runs)
    yield Figure(f"{name}: time of the command", wall, "x untraced", f"<= {most}", better="lower")
    yield Figure(f"{name}: its CPU time", cpu, "x untraced", better="lower")
    yield Figure(f"{name}: our CPU time", ours, "ns/call", better="lower")
    yield Figure(f"{name}: most dropped", max(traced.dropped for _, traced in runs), "calls", "0", better="lower")


def loop(program: Path, folder: Path, start_s: float) -> Iterator[Figure]:
    """Yield the figures of a loop of pwrites."""
    runs = pairs([program, "data", str(CALLS)], folder)
    added = statistics.median((traced.wall_s - bare.wall_s) / CALLS * 1e9 for bare, traced in runs)
    used = statistics.median((traced.cpu_s - bare.cpu_s) / CALLS * 1e9 for bare, traced in runs)
    ours = statistics.median((traced.ours_s - start_s) / CALLS * 1e9 for _, traced in runs)
    yield Figure("10 M pwrites: time added per call", added, "ns", "<= 80 ns", better="lower")
    yield Figure("10 M pwrites: CPU time added per call", used, "ns", better="lower")
    yield Figure("10 M pwrites: our CPU time", ours, "ns/call", "<= 300 ns", better="lower")
    yield Figure("10 M pwrites: maximum dropped", max(each.dropped for _, each in runs), "calls", "0", better="lower")


def idle(folder: Path) -> Figure:
    """Return our CPU time while a command sleeps, after the start."""
    words = [sys.executable, "-m", "iotide", "run", "--no-report", "--quiet", "--", "sleep", str(IDLE_S + 4)]
    with subprocess.Popen(words, cwd=folder, env=bare_environment()) as running:
        time.sleep(3)
        ours = [pid for pid in (running.pid, *children_of(running.pid)) if _name(pid) != "sleep"]
        before, begun = sum(map(used_ns, ours)), time.perf_counter_ns()
        time.sleep(IDLE_S)
        share = (sum(map(used_ns, ours)) - before) / (time.perf_counter_ns() - begun) * 100
    return Figure("a command that sleeps: our CPU time", share, "% of a core", "<= 0.3 %", better="lower")


def _name(pid: int) -> str:
    return Path(f"/proc/{pid}/comm").read_text().strip()


def measure() -> Sequence[Figure]:
    """Measure all cases."""
    with _folder() as folder:
        program = folder / "pwrites"
        subprocess.run(["cc", "-O2", "-o", program, PROGRAMS / "pwrites.c"], check=True)
        start_s = statistics.median(run(["true"], folder, traced=True).ours_s for _ in range(PAIRS))
        burst = pairs(["sh", "-c", BURST], folder)
        files = pairs([sys.executable, "-c", MANY_FILES % FILES], folder)
        return [
            *loop(program, folder, start_s),
            *figures("6 M calls by two dd", burst, 1.4, start_s),
            *figures("150,000 new files", files, 1.5, start_s),
            idle(folder),
        ]


@contextmanager
def _folder() -> Iterator[Path]:
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        yield Path(folder)


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    report(measure())
