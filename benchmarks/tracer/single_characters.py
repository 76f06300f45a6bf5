"""Time of a putc, a getc and an fputs of nine bytes: bare, traced, and with each character recorded by itself."""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from iotide.benchmarks.common.figures import Figure, report
from iotide.benchmarks.common.processes import PROGRAMS
from iotide.benchmarks.common.tracers import LIMIT_S, bare_environment, collector, ours

REPEATS: Final = int(os.environ.get("IOTIDE_REPEATS", "5"))
CALLS: Final = ("putc", "getc", "fputs")


def times(program: Path, environment: Mapping[str, str], threads: list[str]) -> list[float]:
    """Return ns per call, in the order of `CALLS`."""
    done = subprocess.run(
        [program, *threads], env=dict(environment), stdout=subprocess.PIPE, text=True, timeout=LIMIT_S, check=True
    )
    return [float(word) for word in done.stdout.split()]


def measure() -> list[Figure]:
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as name, collector(Path(name)) as (gate, _):
        program = Path(name) / "single_characters"
        source = PROGRAMS / "single_characters.c"
        subprocess.run(["gcc", "-O2", "-fno-builtin", "-pthread", "-o", program, source], check=True)
        traced = {**bare_environment(), **ours(gate).environment}
        each = {**traced, "IOTIDE_CALLS": "data,handle,seek,sync,meta,char"}
        environments = {"bare": bare_environment(), "traced": traced, "each": each}
        for threads, text in (([], "one thread"), (["two"], "two threads")):
            runs: dict[str, list[list[float]]] = {kind: [] for kind in environments}
            for _ in range(REPEATS):
                for kind, environment in environments.items():
                    runs[kind].append(times(program, environment, threads))
            medians = {kind: [statistics.median(found) for found in zip(*of, strict=True)] for kind, of in runs.items()}
            for at, call in enumerate(CALLS):
                bare, by_buffer, by_call = (medians[kind][at] for kind in environments)
                figures += [
                    Figure(f"{call}, {text}: traced", by_buffer, "ns", "", "bare", bare, better="lower"),
                    Figure(f"{call}, {text}: each recorded", by_call, "ns", "", "traced", by_buffer, better="lower"),
                ]
    return figures


if __name__ == "__main__":
    report(measure())
