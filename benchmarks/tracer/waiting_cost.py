"""Overhead of a traced program without a collector: per call, and per start of ``/bin/true``.

For comparison, the same program is traced with a collector. Direct system calls measure the load of the machine, as in
``preload_cost``. Starts are in turn, IOTIDE_STARTS (200) of each; the result is their tenth percentile.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
from iotide.benchmarks.common.figures import Figure, report
from iotide.benchmarks.common.processes import PROGRAMS
from iotide.benchmarks.common.tracers import bare_environment, collector, ours
from iotide.benchmarks.tracer.preload_cost import added
from iotide.benchmarks.tracer.preload_start import start_ms

STARTS: Final = int(os.environ.get("IOTIDE_STARTS", "200"))


def measure() -> list[Figure]:
    with tempfile.TemporaryDirectory() as name, collector(Path(name)) as (gate, _):
        folder = Path(name)
        program = folder / "small_writes"
        subprocess.run(["gcc", "-O2", "-o", program, PROGRAMS / "small_writes.c"], check=True)
        traced = replace(ours(gate), name="traced")
        waits = replace(ours(folder / "nobody" / "listens"), name="waits")
        _, more = added(program, folder, "sequential", [traced, waits])
        starts: dict[str, list[float]] = {"bare": [], "traced": [], "waits": []}
        environments = {
            "bare": bare_environment(),
            "traced": {**bare_environment(), **traced.environment},
            "waits": {**bare_environment(), **waits.environment},
        }
        for _ in range(STARTS):
            for kind, environment in environments.items():
                starts[kind].append(start_ms(environment))
    low = {kind: float(np.percentile(taken, 10)) for kind, taken in starts.items()}
    a_call, a_start = more["waits"].median, low["waits"] - low["bare"]
    peer_call, peer_start = more["traced"].median, low["traced"] - low["bare"]
    return [
        Figure("overhead per call without a collector", a_call, "ns", "<= 20 ns", "traced", peer_call, better="lower"),
        Figure(
            "/bin/true: added CPU time without a collector", a_start, "ms", "", "traced", peer_start, better="lower"
        ),
    ]


if __name__ == "__main__":
    report(measure())
