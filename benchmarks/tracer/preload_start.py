"""CPU time that the tracer's libraries add to starting, running and ending ``/bin/true``, by preloaded libraries.

In turn, IOTIDE_STARTS (300) of each: nothing, the core alone, all layers as one library, one library per layer, with a
collector that reads them. A single start depends mostly on the state of the machine, so the results are the tenth
percentile and the median.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Final

import numpy as np
from iotide.benchmarks.common.figures import Figure, report
from iotide.benchmarks.common.tracers import bare_environment, collector, ours
from iotide.collectors.tracer.preload_environment import LIBRARY_LAYERS
from iotide.collectors.wrappers.sources import ALL_LAYERS, CORE_NAME, library_of

STARTS: Final = int(os.environ.get("IOTIDE_STARTS", "300"))


def start_ms(environment: dict[str, str]) -> float:
    """Return the CPU time of one process, ms."""
    child = os.posix_spawn("/bin/true", ["true"], environment)
    _, status, used = os.wait4(child, 0)
    if status:
        raise RuntimeError(f"/bin/true ended with {status}")
    return 1e3 * (used.ru_utime + used.ru_stime)


def measure() -> list[Figure]:
    preloaded = {
        "core": [CORE_NAME],
        "all layers as one library": [CORE_NAME, ALL_LAYERS],
        "a library a layer": [CORE_NAME, *LIBRARY_LAYERS],
    }
    with tempfile.TemporaryDirectory() as name, collector(Path(name)) as (gate, source):
        environments = {"nothing": bare_environment()}
        for variant, names in preloaded.items():
            libraries = ":".join(str(library_of(each)) for each in names)
            environments[variant] = {**bare_environment(), **ours(gate).environment, "LD_PRELOAD": libraries}
        taken: dict[str, list[float]] = {variant: [] for variant in environments}
        order = list(environments)
        for number in range(STARTS):
            for variant in order if number % 2 else order[::-1]:
                taken[variant].append(start_ms(environments[variant]))
        if not source.counters["processes"]:
            raise RuntimeError("no process connected to the collector")
    low, middle = ({key: float(np.percentile(row, at)) for key, row in taken.items()} for at in (10, 50))
    figures = [Figure("/bin/true: CPU time, tenth percentile", low["nothing"], "ms", better="lower")]
    apart = "a library a layer"
    for variant in preloaded:
        for text, values in (("tenth percentile", low), ("median", middle)):
            peer = {} if variant == apart else {"peer": apart, "peer_value": values[apart] - values["nothing"]}
            added = values[variant] - values["nothing"]
            figures.append(Figure(f"{variant}: added, {text}", added, "ms", better="lower", **peer))  # type: ignore[arg-type]
    return figures


if __name__ == "__main__":
    report(measure())
