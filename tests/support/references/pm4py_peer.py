"""Run pm4py in a separate process that computes the graphs of many logs.

pm4py is no dependency, not even of the tests, because its licence is the AGPL. Its interpreter is PM4PY_PYTHON (``make
test-pm4py`` installs one), or ours if pm4py is installed there.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_CHILD = """
import contextlib, io, json, sys
answers = sys.stdout
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    import pandas as pd, pm4py

    def read(asked):
        if "file" not in asked:
            names = {"case:concept:name": asked["case"], "concept:name": asked["activity"]}
            stamps = pd.to_datetime(pd.Series(asked["start"], dtype="int64"), utc=True)
            return pm4py.format_dataframe(pd.DataFrame(names | {"time:timestamp": stamps}))
        if asked["file"].endswith(".xes"):
            return pm4py.read_xes(asked["file"])
        return pm4py.format_dataframe(pd.read_csv(asked["file"]))

    for line in sys.stdin:
        asked = json.loads(line)
        log = read(asked)
        if "copy" in asked:
            pm4py.write_xes(log, asked["copy"])
        edges, starts, ends = pm4py.discover_dfg(log)
        nodes = log["concept:name"].value_counts().to_dict()
        answer = {"edges": [[a, b, n] for (a, b), n in edges.items()], "starts": starts, "ends": ends, "nodes": nodes}
        print(json.dumps(answer, default=int), file=answers, flush=True)
"""


@dataclass(frozen=True)
class PeerGraph:
    """pm4py's result for a log, with the names of activities in that log."""

    edges: dict[tuple[str, str], int]
    nodes: dict[str, int]
    starts: dict[str, int]
    ends: dict[str, int]


class Peer:
    """A running pm4py."""

    def __init__(self, child: subprocess.Popen[str]) -> None:
        self._child = child

    def of_log(self, case: Sequence[str], activity: Sequence[str], start: Sequence[int]) -> PeerGraph:
        """Return its graph of a log, with events of equal time in the given order; times in ns."""
        return self._ask({"case": list(case), "activity": list(activity), "start": list(start)})

    def of_file(self, path: Path, copy: Path | None = None) -> PeerGraph:
        """Return its graph of a file that it reads, and write the log again as XES."""
        return self._ask({"file": str(path)} | ({"copy": str(copy)} if copy else {}))

    def _ask(self, what: dict[str, Any]) -> PeerGraph:
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.write(json.dumps(what) + "\n")
        self._child.stdin.flush()
        line = self._child.stdout.readline()
        assert line, f"pm4py ended with status {self._child.wait()}"
        answer = json.loads(line)
        return PeerGraph({(a, b): n for a, b, n in answer["edges"]}, answer["nodes"], answer["starts"], answer["ends"])


def interpreter() -> str | None:
    """Return the Python that has pm4py, or None if there is none."""
    if given := os.environ.get("PM4PY_PYTHON"):
        return given
    return sys.executable if importlib.util.find_spec("pm4py") else None


@contextmanager
def running(python: str, folder: Path) -> Iterator[Peer]:
    """Start pm4py, and end it after the block."""
    with (
        (folder / "stderr").open("w") as errors,
        subprocess.Popen(
            [python, "-c", _CHILD], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, cwd=folder
        ) as child,
    ):
        yield Peer(child)
        assert child.stdin is not None
        child.stdin.close()
