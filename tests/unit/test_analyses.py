"""A job's events are held back and analysed many at a time, and nobody who asks can tell."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.layers.report import Cut
from iotide.daemon.analyses import Analyses
from iotide.daemon.numbering import JobNames
from iotide.daemon.settings import AggregatorSettings
from iotide.events import EventBatch, FileInfo, FileType, Kind, Layer, StreamInfo, make_batch

STREAMS = {name: StreamInfo(job="j", source="test", host="n1", pid=pid) for name, pid in (("a", 7), ("b", 8))}
EVENTS = 300
_CUT = Cut()


def fresh() -> Analyses:
    names = JobNames(10, 10)
    for call in ("open", "write", "close"):
        names.call(call)
    for path in ("/scratch/x", "/scratch/y"):
        names.file(FileInfo(path, FileType.REGULAR))
    return Analyses("j", AggregatorSettings(), names)


def calls(pid: int, count: int = EVENTS) -> EventBatch:
    random = np.random.default_rng(pid)
    return make_batch(
        count,
        {
            "start": 10**18 + np.sort(random.integers(0, 10**9, count)),
            "duration": random.integers(1, 1000, count),
            "call": random.integers(1, 4, count),
            "kind": random.choice([Kind.CREATE, Kind.WRITE, Kind.DESTROY], count),
            "layer": int(Layer.POSIX),
            "tid": pid,
            "file": random.integers(1, 3, count),
            "handle": 3,
            "bytes": random.integers(0, 100, count),
        },
    )


def told(analyses: Analyses) -> dict[str, object]:
    graph, layers, interactions = analyses.graph, analyses.layers, analyses.interactions
    assert graph is not None
    assert layers is not None
    assert interactions is not None
    return {
        "calls": analyses.totals.calls(),
        "files": analyses.totals.files(),
        "graph": rounded(graph.graph().model_dump()),
        "layers": layers.frozen()(_CUT),
        "ranking": interactions.frozen()(),
    }


def rounded(value: object) -> object:
    """Sums of fractions depend on their order in the last digits."""
    if isinstance(value, float):
        return float(f"{value:.10g}")
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    return [rounded(each) for each in value] if isinstance(value, list) else value


@settings(deadline=None, max_examples=6)
@given(
    cuts=st.lists(st.integers(1, EVENTS - 1), max_size=40, unique=True),
    asked=st.sets(st.sampled_from(("totals", "graph", "layers", "interactions"))),
)
def test_what_is_told_does_not_depend_on_how_events_came_or_on_who_asked_meanwhile(
    cuts: list[int], asked: set[str]
) -> None:
    whole, pieces = fresh(), fresh()
    for name, info in STREAMS.items():
        whole.put(calls(info.pid), name, info)
    borders = [0, *sorted(cuts), EVENTS]
    for low, high in pairwise(borders):
        for name, info in STREAMS.items():
            pieces.put(calls(info.pid).select(slice(low, high)), name, info)
        for part in asked:
            getattr(pieces, part)
    assert told(pieces) == told(whole)
    assert pieces.events == whole.events == 2 * EVENTS


def test_a_process_that_has_ended_is_not_the_one_that_has_its_number_next() -> None:
    analyses, info = fresh(), STREAMS["a"]
    analyses.put(calls(7), "a", info)
    analyses.close_stream("a")
    analyses.put(calls(7), "again", info)
    layers = analyses.layers
    assert layers is not None
    assert layers.frozen()(_CUT).processes == 2


def test_a_part_that_breaks_costs_the_others_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ValueError("broken")

    analyses = fresh()
    analyses.put(calls(7), "a", STREAMS["a"])
    monkeypatch.setattr("iotide.daemon.job_layers.JobLayers.update", broken)
    with pytest.raises(ValueError, match="broken"):
        analyses.settle()
    monkeypatch.undo()
    analyses.put(calls(8), "b", STREAMS["b"])
    assert sum(row.calls for row in analyses.totals.calls()) == 2 * EVENTS
    assert analyses.graph is not None
    assert analyses.graph.graph().events == 2 * EVENTS
    analyses.settle()
    assert analyses.layers is not None
