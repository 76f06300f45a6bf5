"""Run pm4py on a log in a separate process, and time it.

Its interpreter is PM4PY_PYTHON, or ours if pm4py is installed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from iotide.benchmarks.common.peers import interpreter_with, run_peer

Ints = npt.NDArray[np.int64]
Counts = dict[tuple[int, int], int]

_CHILD = """
import contextlib, io, json, sys, time
import numpy as np
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    import pandas as pd, pm4py
    from pm4py.streaming.algo.discovery.dfg import algorithm
    from pm4py.streaming.stream.live_event_stream import LiveEventStream
data = np.load(sys.argv[1])
answers = []
for number in range(int(data["count"])):
    case, activity, start = (data[f"{name}{number}"] for name in ("case", "activity", "start"))
    names = {"case:concept:name": case.astype(str), "concept:name": activity.astype(str)}
    log = pd.DataFrame(names | {"time:timestamp": pd.to_datetime(start, utc=True)})
    batch_s = float("inf")
    for _ in range(int(sys.argv[2])):
        begun = time.process_time()
        dfg, starts, ends = pm4py.discover_dfg(log)
        batch_s = min(batch_s, time.process_time() - begun)
    nodes = log["concept:name"].value_counts().to_dict()
    rows = log.head(int(sys.argv[3])).to_dict("records")
    streaming = algorithm.apply()
    begun = time.process_time()
    for row in rows:
        streaming._process(row)
    streaming.get()
    stream_s = (time.process_time() - begun) / max(len(rows), 1)
    answers.append({
        "batch_s": batch_s, "event_s": stream_s,
        "edges": [[int(a), int(b), int(n)] for (a, b), n in dfg.items()],
        "nodes": [[int(a), int(n)] for a, n in nodes.items()],
        "starts": [[int(a), int(n)] for a, n in starts.items()],
        "ends": [[int(a), int(n)] for a, n in ends.items()],
    })
print(json.dumps(answers))
"""


@dataclass(frozen=True)
class Answer:
    """pm4py's graph of one log, its least CPU time, and the CPU time per streamed event."""

    batch_s: float
    event_s: float
    edges: Counts
    nodes: dict[int, int]
    starts: dict[int, int]
    ends: dict[int, int]


def interpreter() -> str | None:
    """Return the Python that has pm4py, or None if there is none."""
    return interpreter_with("pm4py", "PM4PY_PYTHON")


def discover(logs: list[tuple[Ints, Ints, Ints]], *, repeats: int = 1, streamed: int = 0) -> list[Answer] | None:
    """Return pm4py's graphs of logs (case, activity, start in ns), or None if it is not installed."""
    columns: dict[str, npt.NDArray[np.int64]] = {"count": np.array(len(logs))}
    for number, (case, activity, start) in enumerate(logs):
        columns |= {f"case{number}": case, f"activity{number}": activity, f"start{number}": start}
    rows = run_peer(interpreter(), "pm4py", "PM4PY_PYTHON", _CHILD, columns, repeats, streamed)
    if rows is None:
        return None
    return [
        Answer(
            row["batch_s"],
            row["event_s"],
            {(a, b): n for a, b, n in row["edges"]},
            dict(row["nodes"]),
            dict(row["starts"]),
            dict(row["ends"]),
        )
        for row in rows
    ]
