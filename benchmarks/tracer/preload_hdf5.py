"""Overhead of tracing per HDF5 call: a small transfer, and a query that is recorded only on request."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from iotide.benchmarks.common.figures import Figure, report
from iotide.benchmarks.common.processes import PROGRAMS
from iotide.benchmarks.common.tracers import bare_environment, collector, ours

SOURCE: Final = PROGRAMS / "hdf5_calls.c"
RUNS: Final = 3
BUILD: Final = ["-O2", "-I/usr/include/hdf5/serial", "-lhdf5_serial"]


def _nanoseconds(program: Path, folder: Path, environment: Mapping[str, str]) -> tuple[float, float]:
    """Return the CPU time of a transfer and of a query, the best of some runs."""
    command = [str(program), str(folder / "calls.h5")]
    rows = []
    for _ in range(RUNS):
        done = subprocess.run(command, env=dict(environment), capture_output=True, text=True, check=True)
        rows.append(tuple(map(float, done.stdout.split())))
    return min(row[0] for row in rows), min(row[1] for row in rows)


def measure() -> list[Figure]:
    """Run the program untraced, traced as usual, and with calls on the library's own memory recorded."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        folder = Path(name)
        program = folder / "calls"
        subprocess.run(["gcc", str(SOURCE), "-o", str(program), *BUILD], check=True)
        bare = _nanoseconds(program, folder, bare_environment())
        with collector(folder) as (gate, _source):
            usual = _nanoseconds(program, folder, bare_environment() | ours(gate, ring_records=1 << 20).environment)
            all_calls = {"calls": ("data", "handle", "sync", "meta", "memory"), "ring_records": 1 << 20}
            asked = _nanoseconds(program, folder, bare_environment() | ours(gate, **all_calls).environment)
    return [
        Figure("HDF5 transfer of 512 bytes, untraced", bare[0], "ns", better="lower"),
        Figure("overhead of tracing", usual[0] - bare[0], "ns", better="lower"),
        Figure("overhead of a query that is not recorded", usual[1] - bare[1], "ns", better="lower"),
        Figure("overhead of a query that is recorded", asked[1] - bare[1], "ns", better="lower"),
    ]


if __name__ == "__main__":
    report(measure())
