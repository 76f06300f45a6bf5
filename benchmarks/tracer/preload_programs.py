"""Overhead of tracing for whole programs: LAMMPS with dumps, h5py with 1 MiB writes, and the start of a process.

Pairs of an untraced and a traced run, in changing order, until the 95 % interval of the median ratio is narrow or
IOTIDE_PAIRS (40) pairs are complete. CPU time is the program's own; the collector drains meanwhile on another core.
"""

from __future__ import annotations

import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from iotide.benchmarks.common.figures import Figure, report
from iotide.benchmarks.common.tracers import bare_environment, collector, ours

MOST_PAIRS: Final = int(os.environ.get("IOTIDE_PAIRS", "40"))
FEWEST_PAIRS: Final = 8
NARROW: Final = 0.005
"""Half-width of the interval at which no more pairs are run."""
STARTS: Final = 200

MELT: Final = f"""
variable cells equal 16
include {Path(__file__).parents[2] / "tests" / "programs" / "melt.lammps"}
dump d all atom 10 dump.melt
thermo 100
run 150
"""

FIELDS = """
import sys, h5py, numpy
block = numpy.ones((1 << 20) // 8)
for step in range(4):
    with h5py.File(sys.argv[1], "w") as file:
        field = file.create_dataset("field", (400, block.size), dtype="f8", chunks=(1, block.size))
        for row in range(400):
            field[row] = block
"""


class Run(NamedTuple):
    wall_s: float
    cpu_s: float


class Ratio(NamedTuple):
    """Traced over untraced: the median of pairs, and its 95 % interval."""

    median: float
    low: float
    high: float
    pairs: int

    def percent(self) -> str:
        low, high = 100 * (self.low - 1), 100 * (self.high - 1)
        return f"{100 * (self.median - 1):+.2f} % ({low:+.2f} to {high:+.2f}, {self.pairs} pairs)"


def run_once(command: Sequence[str], environment: Mapping[str, str], folder: Path) -> Run:
    start = time.perf_counter()
    child = subprocess.Popen(command, env=environment, cwd=folder, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    wall = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError(f"{command[0]} ended with {child.returncode}")
    return Run(wall, used.ru_utime + used.ru_stime)


def interval(ratios: Sequence[float]) -> Ratio:
    """Return the median and its interval by order statistics, without assumptions about disturbances on a shared
    machine.
    """
    ranked = sorted(ratios)
    count = len(ranked)
    reach = 0.98 * math.sqrt(count)  # 1.96 standard deviations of Binomial(count, 1/2)
    low = ranked[max(0, math.floor(count / 2 - reach))]
    high = ranked[min(count - 1, math.ceil(count / 2 + reach) - 1)]
    return Ratio(statistics.median(ranked), low, high, count)


def compare(command: Sequence[str], traced: Mapping[str, str], folder: Path) -> tuple[Ratio, Ratio, float]:
    """Return the ratios of wall and of CPU time, and the untraced wall time."""
    bare = bare_environment()
    walls: list[float] = []
    cpus: list[float] = []
    untraced: list[float] = []
    run_once(command, bare, folder)
    for pair in range(MOST_PAIRS):
        runs: dict[bool, Run] = {}
        for is_traced in (pair % 2 == 0, pair % 2 == 1):
            runs[is_traced] = run_once(command, {**bare, **traced} if is_traced else bare, folder)
        walls.append(runs[True].wall_s / runs[False].wall_s)
        cpus.append(runs[True].cpu_s / runs[False].cpu_s)
        untraced.append(runs[False].wall_s)
        cpu = interval(cpus)
        if len(cpus) >= FEWEST_PAIRS and cpu.high - cpu.low < 2 * NARROW:
            break
    return interval(walls), interval(cpus), statistics.median(untraced)


def share_in_libraries(command: Sequence[str], traced: Mapping[str, str], folder: Path) -> float:
    """Return the percentage of a traced run's samples in our libraries: no pairs, so almost no noise.

    The kernel's work for them (the region, page faults) and the cache evictions by their records are not included.
    """
    data = folder / "perf.data"
    perf = ["perf", "record", "-q", "-F", "5000", "-e", "cpu-clock", "-o", str(data), *command]
    run_once(perf, {**bare_environment(), **traced}, folder)
    show = ["perf", "report", "-i", data, "--stdio", "--sort", "dso", "-F", "overhead,dso", "-t", ","]
    shown = subprocess.run(show, check=True, capture_output=True, text=True).stdout
    return sum(float(line.partition("%")[0]) for line in shown.splitlines() if "libiotide_" in line)


def starts_s(environment: Mapping[str, str]) -> list[float]:
    times = []
    for _ in range(STARTS):
        start = time.perf_counter()
        os.waitpid(os.posix_spawn("/bin/true", ["true"], environment), 0)
        times.append(time.perf_counter() - start)
    return times


def measure() -> list[Figure]:
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as name, collector(Path(name)) as (gate, source):
        folder = Path(name)
        traced = ours(gate).environment
        (folder / "in.melt").write_text(MELT)
        programs = {
            "LAMMPS, a dump every 10 steps": ["lmp", "-in", "in.melt", "-log", "none"],
            "h5py, 1 MiB writes": [sys.executable, "-c", FIELDS, "fields.h5"],
        }
        for text, command in programs.items():
            before = source.counters["events"]
            try:
                wall, cpu, seconds = compare(command, traced, folder)
            except FileNotFoundError as error:
                print(f"{text}: {error.filename} is not installed", file=sys.stderr)
                continue
            calls = (source.counters["events"] - before) // wall.pairs
            print(f"{text}: {seconds:.2f} s, {calls:,} calls; wall {wall.percent()}; CPU {cpu.percent()}")
            figures.append(Figure(f"{text}: CPU time", 100 * (cpu.median - 1), "% more", "<= 1 %", better="lower"))
            figures.append(Figure(f"{text}: wall time", 100 * (wall.median - 1), "% more", "<= 1 %", better="lower"))
            if shutil.which("perf"):
                share = share_in_libraries(command, traced, folder)
                figures.append(Figure(f"{text}: samples in our libraries", share, "%", "<= 1 %", better="lower"))
        bare_ms, traced_ms = [], []
        for _ in range(5):
            bare_ms += [1e3 * seconds for seconds in starts_s(bare_environment())]
            traced_ms += [1e3 * seconds for seconds in starts_s({**bare_environment(), **traced})]
        more = statistics.median(traced_ms) - statistics.median(bare_ms)
        figures.append(Figure("fork, exec and end of /bin/true", statistics.median(bare_ms), "ms", better="lower"))
        figures.append(Figure("overhead of tracing", more, "ms", "<= 1 ms", better="lower"))
    return figures


if __name__ == "__main__":
    report(measure())
