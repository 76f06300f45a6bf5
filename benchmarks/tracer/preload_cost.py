"""Overhead of tracing per call: 64-byte pwrites to the page cache, bare, under iotide, and under other tracers."""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from iotide.benchmarks.common.figures import Figure, report
from iotide.benchmarks.common.processes import PROGRAMS
from iotide.benchmarks.common.tracers import LIMIT_S, Tracer, bare_environment, collector, ours, peers

PATTERNS = {
    "sequential": "sequential offsets",
    "cycle": "a cycle of 4096 offsets",
    "random": "random offsets",
    "files": "open, 100 writes, close",
}
REPEATS = int(os.environ.get("IOTIDE_REPEATS", "7"))
ROUNDS, CALLS = 80, 5_000
FEWEST_CALM = 5
"""Minimum number of calm rounds for a result of a run."""
SLOW_ROUNDS, SLOW_CALLS = 5, 400
SLOW_REPEATS = 3
BARE = Tracer("bare")
_NUMBERS = re.compile(r"-?[\d.]+ -?[\d.]+ (?:-?[\d.]+|nan) \d+")


@dataclass(frozen=True, slots=True)
class Cost:
    """Results of one run in ns per call: calls through libc, and their excess over direct system calls.

    Attributes:
        calm: the excess in rounds without disturbance by other processes; NaN if there was none.
        rounds: number of calm rounds.
    """

    whole: float
    longer: float
    calm: float
    rounds: int


def run(program: Path, folder: Path, pattern: str, tracer: Tracer) -> Cost:
    """Return the program's own medians over rounds."""
    rounds, calls = (SLOW_ROUNDS, SLOW_CALLS) if tracer.slow else (ROUNDS, CALLS)
    if tracer.output is not None:
        tracer.output.mkdir(exist_ok=True)
    done = subprocess.run(
        [*tracer.prefix, program, folder / "data", str(rounds), str(calls), pattern],
        env={**bare_environment(), **tracer.environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        timeout=LIMIT_S,
        check=True,
    )
    found = next(line for line in reversed(done.stdout.splitlines()) if _NUMBERS.fullmatch(line)).split()
    return Cost(*map(float, found[:3]), int(found[3]))


@dataclass(frozen=True, slots=True)
class Added:
    """Overhead of a tracer per call in ns, run by run: of all rounds, and of calm rounds."""

    all_rounds: list[float]
    calm: list[float]

    @property
    def median(self) -> float:
        """Median of the calm rounds, or of all if there are none."""
        return statistics.median(self.calm or self.all_rounds)


def added(program: Path, folder: Path, pattern: str, tracers: Sequence[Tracer]) -> tuple[list[Cost], dict[str, Added]]:
    """Return the bare runs, and the overhead by tracer.

    A tracer inside the program sees only the calls through libc. Its overhead is their excess over the direct system
    calls of the same run, which is independent of changes of the machine between runs. Slow tracers see both kinds of
    calls, so they are compared with a bare run just before.
    """
    bare: list[Cost] = []
    more = {tracer.name: Added([], []) for tracer in tracers}
    for repeat in range(REPEATS):
        bare.append(run(program, folder, pattern, BARE))
        for tracer in tracers:
            if not tracer.slow:
                cost = run(program, folder, pattern, tracer)
                more[tracer.name].all_rounds.append(cost.longer)
                if cost.rounds >= FEWEST_CALM:
                    more[tracer.name].calm.append(cost.calm)
            elif repeat < SLOW_REPEATS:
                before = run(program, folder, pattern, Tracer("bare", slow=True))
                more[tracer.name].all_rounds.append(run(program, folder, pattern, tracer).whole - before.whole)
    return bare, more


def bytes_a_call(program: Path, folder: Path, pattern: str, tracer: Tracer) -> float:
    """Return the bytes per call that a tracer leaves on disk; 0 for those that send."""
    tracer.written()
    run(program, folder, pattern, tracer)
    rounds, calls = (SLOW_ROUNDS, SLOW_CALLS) if tracer.slow else (ROUNDS, CALLS)
    return tracer.written() / ((2 * rounds if tracer.slow else rounds) * calls + calls)


def measure() -> list[Figure]:
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as name, collector(Path(name)) as (gate, source):
        folder = Path(name)
        program = folder / "small_writes"
        subprocess.run(["gcc", "-O2", "-o", program, PROGRAMS / "small_writes.c"], check=True)
        tracers = [ours(gate), *peers(folder)]
        for pattern, text in PATTERNS.items():
            bare, more = added(program, folder, pattern, tracers)
            whole, straight = (
                statistics.median(each) for each in zip(*((c.whole, c.longer) for c in bare), strict=True)
            )
            figures.append(Figure(f"{text}: bare", whole, "ns/call", better="lower"))
            figures.append(Figure(f"{text}: bare, excess over direct system calls", straight, "ns/call"))
            mine = more["iotide"]
            figures.append(Figure(f"{text}: added by iotide", mine.median, "ns/call", "<= 100 ns", better="lower"))
            every = statistics.median(mine.all_rounds)
            figures.append(Figure(f"{text}: added by iotide, all rounds", every, "ns/call", better="lower"))
            for tracer in tracers[1:]:
                written = bytes_a_call(program, folder, pattern, tracer)
                line = f"{text}: added, beside {tracer.name} ({written:.3g} B a call)"
                other = more[tracer.name].median
                figures.append(Figure(line, mine.median, "ns/call", "", tracer.name, other, better="lower"))
            spread = (
                f"{min(mine.all_rounds):.0f} to {max(mine.all_rounds):.0f} ns, calm rounds in {len(mine.calm)} runs"
            )
            print(f"{text}: iotide adds {spread}", file=sys.stderr)
        dropped = sum(count for reason, count in source.counters.items() if reason.startswith("events_dropped"))
        seen = source.counters["events"]
        figures.append(Figure("share of iotide's calls dropped", dropped / max(1, seen + dropped), "", better="lower"))
    return figures


if __name__ == "__main__":
    report(measure())
