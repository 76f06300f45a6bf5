"""Our graph equals pm4py's: nodes, edges, counts, start and end activities, on random logs and on ``--log`` output."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from iotide.analyzers.dfg.settings import DfgSettings
from iotide.analyzers.dfg.update import DfgAnalyzer
from iotide.results.dfg import Graph
from support.references.dfg_naive import Event, feed
from support.references.pm4py_peer import Peer, PeerGraph, interpreter, running
from support.system.commands import iotide, plain_environment
from support.tracing.programs import need

pytestmark = pytest.mark.skipif(
    interpreter() is None, reason="PM4PY_PYTHON names no interpreter that has pm4py (make test-pm4py installs one)"
)
ACTIVITIES = 12
EVENT = st.builds(
    Event,
    case=st.integers(0, 5),
    activity=st.integers(0, ACTIVITIES - 1),
    start=st.integers(0, 40),  # so few that many events start together
    duration=st.integers(0, 60),
    size=st.integers(-1, 1000),
)


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    python = interpreter()
    assert python is not None
    with running(python, tmp_path_factory.mktemp("pm4py")) as made:
        yield made


def ours(graph: Graph) -> PeerGraph:
    return PeerGraph(
        {(edge.source, edge.target): edge.count for edge in graph.edges},
        {node.name: node.events for node in graph.activities},
        {node.name: node.starts for node in graph.activities if node.starts},
        {node.name: node.ends for node in graph.activities if node.ends},
    )


@settings(deadline=None, max_examples=2000, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    log=st.lists(EVENT, min_size=1, max_size=80),
    cuts=st.lists(st.integers(0, 80), max_size=5),
    closed=st.booleans(),
)
def test_graph_of_any_log_in_any_pieces_is_that_of_pm4py(
    log: list[Event], cuts: list[int], closed: bool, peer: Peer
) -> None:
    analyzer = DfgAnalyzer(DfgSettings())  # every event is within its bound on lateness
    for first, last in zip([0, *sorted(cuts)], [*sorted(cuts), len(log)], strict=True):
        feed(analyzer, log[first:last])
    if closed:
        for case in {event.case for event in log}:
            analyzer.close_case(case)
    names = [f"a{number}" for number in range(ACTIVITIES)]
    expected = peer.of_log(
        [f"case {event.case}" for event in log],
        [names[event.activity] for event in log],
        [event.start for event in log],
    )
    assert ours(analyzer.graph(names)) == expected


def graph_of(folder: Path, *arguments: str | Path) -> Graph:
    done = iotide("dfg", "--json", *arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return Graph.model_validate(report["graph"])


@pytest.mark.parametrize("name", ["log.xes", "log.csv"])
def test_event_log_that_pm4py_reads_gives_the_same_graph_there_and_back(name: str, peer: Peer, tmp_path: Path) -> None:
    for rank in range(3):
        strace = [need("strace"), "-f", "-ttt", "-T", "-y", "-e", "trace=read,write,openat,close"]
        subprocess.run(
            [*strace, "-o", tmp_path / f"ls_n1_{rank}.st", "ls", "-l", "/usr"],
            check=True,
            capture_output=True,
            env=plain_environment(),
        )
    traces = sorted(tmp_path.glob("*.st"))
    expected = graph_of(tmp_path, *traces)
    assert iotide("dfg", "--log", tmp_path / name, *traces, cwd=tmp_path).returncode == 0
    assert peer.of_file(tmp_path / name, tmp_path / "copy.xes") == ours(expected)
    assert graph_of(tmp_path, "copy.xes").model_copy(update={"job": expected.job}) == expected
