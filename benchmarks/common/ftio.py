"""Run ftio-hpc on requests in a separate process, and time its steps.

Its interpreter is FTIO_PYTHON, or ours if ftio is installed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from iotide.benchmarks.common.peers import interpreter_with, run_peer

Requests = tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]
"""Start and end in seconds, and bandwidth in bytes/s."""

_CHILD = """
import contextlib, io, json, sys, time
import numpy as np
from ftio.parse.args import parse_args
from ftio.parse.bandwidth import overlap
from ftio.freq.discretize import sample_data
from ftio.cli.ftio_core import core
data = np.load(sys.argv[1])
answers = []
quiet = io.StringIO()
for number in [0, *range(int(data["count"]))]:  # the first is run twice: it compiles
    start, end, bandwidth = (data[f"{name}{number}"] for name in ("start", "end", "bandwidth"))
    args = parse_args(["-f", sys.argv[2], "-e", "no"], "ftio")
    with contextlib.redirect_stdout(quiet):
        best = [float("inf")] * 3
        for _ in range(int(sys.argv[3])):
            at = [time.perf_counter()]
            b, t = overlap(bandwidth, start, end)
            b, t = np.array(b), np.array(t)
            at.append(time.perf_counter())
            sample_data(b, t, args)
            at.append(time.perf_counter())
            found, _ = core({"bandwidth": b, "time": t, "total_bytes": 0, "ranks": 32}, args)
            at.append(time.perf_counter())
            best = [min(old, later - earlier) for old, earlier, later in zip(best, at, at[1:])]
    which = int(np.argmax(found.conf)) if len(found.dominant_freq) else None
    period = None if which is None else 1 / float(found.dominant_freq[which])
    answers.append({"overlap_s": best[0], "sample_s": best[1], "analysis_s": best[2], "period_s": period})
print(json.dumps(answers[1:]))
"""


@dataclass(frozen=True)
class Answer:
    """ftio-hpc's result for one trace, and the least time of each step; the analysis includes the sampling again."""

    overlap_s: float
    sample_s: float
    analysis_s: float
    period_s: float | None


def interpreter() -> str | None:
    """Return the Python that has ftio, or None if there is none."""
    return interpreter_with("ftio", "FTIO_PYTHON")


def analyse(traces: Sequence[Requests], frequency_hz: float, repeats: int = 1) -> list[Answer] | None:
    """Return ftio-hpc's results, or None if it is not installed."""
    columns: dict[str, npt.NDArray[np.float64]] = {"count": np.array(len(traces))}
    for number, (start, end, bandwidth) in enumerate(traces):
        columns |= {f"start{number}": start, f"end{number}": end, f"bandwidth{number}": bandwidth}
    rows = run_peer(interpreter(), "ftio-hpc", "FTIO_PYTHON", _CHILD, columns, frequency_hz, repeats)
    return None if rows is None else [Answer(**row) for row in rows]
