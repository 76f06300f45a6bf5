"""What tracing adds to one call: 64-byte pwrites to the page cache, bare, under iotide, and under the others."""

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

from _figures import Figure, report
from _tracers import LIMIT_S, Tracer, bare_environment, collector, ours, peers

PATTERNS = {
    "sequential": "sequential offsets",
    "cycle": "a cycle of 4096 offsets",
    "random": "random offsets",
    "files": "open, 100 writes, close",
}
REPEATS = int(os.environ.get("IOTIDE_REPEATS", "9"))
ROUNDS, CALLS = 40, 5_000
SLOW_ROUNDS, SLOW_CALLS = 5, 400
SLOW_REPEATS = 3
BARE = Tracer("bare")
_NUMBERS = re.compile(r"-?[\d.]+ -?[\d.]+")


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one run, ns a call: through libc, and how much longer than calls that go straight to the kernel."""

    whole: float
    longer: float


def run(program: Path, folder: Path, pattern: str, tracer: Tracer) -> Cost:
    """Returns the program's own medians over rounds."""
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
    whole, longer = next(line for line in reversed(done.stdout.splitlines()) if _NUMBERS.fullmatch(line)).split()
    return Cost(float(whole), float(longer))


def added(program: Path, folder: Path, pattern: str, tracers: Sequence[Tracer]) -> tuple[Cost, dict[str, list[float]]]:
    """Returns the medians of bare runs, and by tracer what each repetition added to a call.

    A tracer inside the program sees only the calls through libc: what these take longer than those of the same run that
    go straight to the kernel is what it adds, whatever the machine does from run to run. The slow ones see both kinds:
    they are held against a bare run just before.
    """
    bare_runs: list[Cost] = []
    more: dict[str, list[float]] = {tracer.name: [] for tracer in tracers}
    for repeat in range(REPEATS):
        bare_runs.append(run(program, folder, pattern, BARE))
        for tracer in tracers:
            if not tracer.slow:
                more[tracer.name].append(run(program, folder, pattern, tracer).longer)
            elif repeat < SLOW_REPEATS:
                before = run(program, folder, pattern, Tracer("bare", slow=True))
                more[tracer.name].append(run(program, folder, pattern, tracer).whole - before.whole)
    middle = Cost(
        *(statistics.median(side) for side in zip(*((one.whole, one.longer) for one in bare_runs), strict=True))
    )
    return middle, more


def bytes_a_call(program: Path, folder: Path, pattern: str, tracer: Tracer) -> float:
    """Returns what a tracer leaves on disk for one call; 0 for those that send."""
    tracer.written()
    run(program, folder, pattern, tracer)
    rounds, calls = (SLOW_ROUNDS, SLOW_CALLS) if tracer.slow else (ROUNDS, CALLS)
    return tracer.written() / ((2 * rounds if tracer.slow else rounds) * calls + calls)


def measure() -> list[Figure]:
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as name, collector(Path(name)) as (gate, source):
        folder = Path(name)
        program = folder / "small_writes"
        subprocess.run(["gcc", "-O2", "-o", program, Path(__file__).with_name("_small_writes.c")], check=True)
        tracers = [ours(gate), *peers(folder)]
        for pattern, text in PATTERNS.items():
            bare, more = added(program, folder, pattern, tracers)
            figures.append(Figure(f"{text}: bare", bare.whole, "ns/call", better="lower"))
            figures.append(Figure(f"{text}: bare, through libc rather than straight", bare.longer, "ns/call"))
            mine = statistics.median(more["iotide"])
            figures.append(Figure(f"{text}: added by iotide", mine, "ns/call", "<= 100 ns", better="lower"))
            for tracer in tracers[1:]:
                other = statistics.median(more[tracer.name])
                written = bytes_a_call(program, folder, pattern, tracer)
                line = f"{text}: added, beside {tracer.name} ({written:.3g} B a call)"
                figures.append(Figure(line, mine, "ns/call", "", tracer.name, other, better="lower"))
            print(f"{text}: iotide adds {min(more['iotide']):.0f} to {max(more['iotide']):.0f} ns", file=sys.stderr)
        dropped = sum(count for reason, count in source.counters.items() if reason.startswith("events_dropped"))
        seen = source.counters["events"]
        figures.append(Figure("share of iotide's calls dropped", dropped / max(1, seen + dropped), "", better="lower"))
    return figures


if __name__ == "__main__":
    report(measure())
