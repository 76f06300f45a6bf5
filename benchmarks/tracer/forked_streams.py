"""Time of a fork, alone and with its child that ends at once, of a process with open streams: bare and traced."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from iotide.benchmarks.common.figures import Figure, report
from iotide.benchmarks.common.processes import PROGRAMS
from iotide.benchmarks.common.tracers import LIMIT_S, bare_environment, collector, ours

REPEATS: Final = int(os.environ.get("IOTIDE_REPEATS", "5"))
STREAMS: Final = (0, 100)


def measure() -> list[Figure]:
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as name, collector(Path(name)) as (gate, _):
        program = Path(name) / "forked_streams"
        subprocess.run(["gcc", "-O2", "-o", program, PROGRAMS / "forked_streams.c"], check=True)
        environments = {"bare": bare_environment(), "traced": {**bare_environment(), **ours(gate).environment}}
        for streams in STREAMS:
            runs: dict[str, list[list[float]]] = {kind: [] for kind in environments}
            for _ in range(REPEATS):
                for kind, environment in environments.items():
                    done = subprocess.run(
                        [program, str(streams)], env=environment, stdout=subprocess.PIPE, text=True, timeout=LIMIT_S,
                        check=True,
                    )  # fmt: skip
                    runs[kind].append([float(word) for word in done.stdout.split()])
            for at, what in enumerate(("fork", "fork to the end of its child")):
                bare, traced = (min(found[at] for found in runs[kind]) for kind in environments)
                figures.append(Figure(f"{what}, {streams} streams", traced, "us", "", "bare", bare, better="lower"))
    return figures


if __name__ == "__main__":
    report(measure())
