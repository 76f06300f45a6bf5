"""Error of the period on semi-synthetic traces, beside ftio-hpc on the same requests.

IOTIDE_TRACES is the number of traces per cell (100).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from iotide.analyzers.offline.trace import detect
from iotide.analyzers.settings import DetectSettings
from iotide.benchmarks.common.figures import Figure, report
from iotide.benchmarks.common.ftio import Requests, analyse
from iotide.benchmarks.generators.semisynthetic import COMPUTE_S, Trace, trace

TRACES: Final = int(os.environ.get("IOTIDE_TRACES", "100"))
FREQUENCY_HZ: Final = 1.0
LOW, HIGH = 0.05, 0.1
"""Bandwidth of the noise, as a share of that of a phase."""
PEER: Final = "ftio-hpc in process"

CELLS: Final[dict[str, tuple[dict[str, Any], str]]] = {
    "even": ({}, "<= 0.3 %"),
    "sigma/mu 0.5": ({"relative_sigma": 0.5}, "<= 1 %"),
    "sigma/mu 1": ({"relative_sigma": 1.0}, "<= 1 %"),
    "sigma/mu 2": ({"relative_sigma": 2.0}, "<= 2 %"),
    "delays of 11 s": ({"delay_s": 11.0}, "<= 3 %"),
    "delays of 22 s": ({"delay_s": 22.0}, "<= 5 %"),
    "even, low noise": ({"noise": LOW}, ""),
    "sigma/mu 0.5, low noise": ({"relative_sigma": 0.5, "noise": LOW}, "<= 3 %"),
    "sigma/mu 1, low noise": ({"relative_sigma": 1.0, "noise": LOW}, "<= 3 %"),
    "sigma/mu 2, low noise": ({"relative_sigma": 2.0, "noise": LOW}, "<= 3 %"),
    "even, high noise": ({"noise": HIGH}, ""),
    "sigma/mu 0.5, high noise": ({"relative_sigma": 0.5, "noise": HIGH}, "<= 3 %"),
    "sigma/mu 1, high noise": ({"relative_sigma": 1.0, "noise": HIGH}, "<= 3 %"),
    "sigma/mu 2, high noise": ({"relative_sigma": 2.0, "noise": HIGH}, "<= 3 %"),
    "delays of 11 s, high noise": ({"delay_s": 11.0, "noise": HIGH}, ""),
    "delays of 22 s, high noise": ({"delay_s": 22.0, "noise": HIGH}, ""),
    "sigma/mu 0.5, uneven phases": ({"relative_sigma": 0.5, "uneven": 0.3}, ""),
    "sigma/mu 1, uneven phases": ({"relative_sigma": 1.0, "uneven": 0.3}, ""),
    **{f"compute {factor * COMPUTE_S:g} s": ({"compute_s": factor * COMPUTE_S}, "") for factor in (0.25, 0.5, 4, 8)},
    **{
        f"compute {factor * COMPUTE_S:g} s, high noise": ({"compute_s": factor * COMPUTE_S, "noise": HIGH}, "")
        for factor in (0.25, 0.5, 4, 8)
    },
    "bandwidth of phases sigma(ln) 0.6": ({"bandwidth_sigma": 0.6}, "<= 3 %"),
    "bandwidth of phases sigma(ln) 1": ({"bandwidth_sigma": 1.0}, "<= 3 %"),
    "bandwidth of phases sigma(ln) 1.5": ({"bandwidth_sigma": 1.5}, "<= 3 %"),
}
"""Parameters of the traces of each cell, and the bound of the mean error."""


def requests_of(each: Trace) -> Requests:
    return each.start_s, each.end_s, each.bandwidth


def errors(name: str, traces: Sequence[Trace], bound: str) -> list[Figure]:
    """Return mean and median error of the periods, and the share of traces without one."""
    settings = DetectSettings(sampling_frequency_hz=FREQUENCY_HZ)
    no_types = np.zeros(0, np.uint8)
    ours = [detect([(each.batch(), no_types)], settings, "trace").period_s for each in traces]
    answers = analyse([requests_of(each) for each in traces], FREQUENCY_HZ)
    found = [None if period is None else period.value for period in ours]
    theirs = None if answers is None else [answer.period_s for answer in answers]
    figures = []
    for label, statistic in (("mean", np.mean), ("median", np.median)):
        peer = None if theirs is None else 100 * float(statistic(relative(theirs, traces)))
        value = 100 * float(statistic(relative(found, traces)))
        budget = bound if label == "mean" else ""
        figures.append(Figure(f"{name}: {label} error of the period", value, "%", budget, PEER, peer, better="lower"))
    unanswered = None if theirs is None else 100 * sum(row is None for row in theirs) / len(traces)
    share = 100 * sum(row is None for row in found) / len(traces)
    figures.append(Figure(f"{name}: unanswered", share, "%", "", PEER, unanswered, better="lower"))
    return figures


def relative(found: Sequence[float | None], traces: Sequence[Trace]) -> list[float]:
    pairs = zip(found, traces, strict=True)
    return [abs(period - each.period_s) / each.period_s for period, each in pairs if period is not None]


def measure() -> list[Figure]:
    figures: list[Figure] = []
    for number, (name, (made_with, bound)) in enumerate(CELLS.items()):
        traces = [trace(1000 * number + seed, **made_with) for seed in range(TRACES)]
        figures += errors(name, traces, bound)
    return figures


if __name__ == "__main__":
    report(measure())
