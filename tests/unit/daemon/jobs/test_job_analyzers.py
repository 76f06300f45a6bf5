"""A job's events are queued and analysed in bulk, invisible to queries."""

from __future__ import annotations

import contextlib
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.layers.report.report import Cut
from iotide.analyzers.pipeline.contract import Analyzer, JobContext, Reporting
from iotide.analyzers.pipeline.job_graph import JobGraph
from iotide.analyzers.pipeline.job_groups import JobGroups
from iotide.analyzers.pipeline.job_interactions import JobInteractions
from iotide.analyzers.pipeline.job_layers import JobLayers
from iotide.analyzers.pipeline.numbering import JobNames
from iotide.analyzers.registry import ANALYZERS
from iotide.analyzers.totals import Totals
from iotide.daemon.jobs.job_analyzers import JobAnalyzers
from iotide.daemon.jobs.losses.failures import AnalysisFailedError, Failures
from iotide.daemon.settings import AggregatorSettings
from iotide.events import EventBatch, FileInfo, FileType, Kind, Layer, StreamInfo, make_batch
from support.jobs.analyzer_kinds import replace_analyzer

STREAMS = {name: StreamInfo(job="j", source="test", host="n1", pid=pid) for name, pid in (("a", 7), ("b", 8))}
EVENTS = 300
_CUT = Cut()


def fresh(**settings: float) -> JobAnalyzers:
    names = JobNames(10, 10)
    for call in ("open", "write", "close"):
        names.call(call)
    for path in ("/scratch/x", "/scratch/y"):
        names.file(FileInfo(path, FileType.REGULAR))
    return JobAnalyzers("j", AggregatorSettings.model_validate(settings), names, Failures("j"))


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


def requested_bytes(analyses: JobAnalyzers, name: str) -> object:
    return getattr(analyses, name) if hasattr(JobAnalyzers, name) else analyses.reporting_analyzer(name)


def told(analyses: JobAnalyzers) -> dict[str, object]:
    return {name: part_of(analyses, name) for name in ANALYZERS}


def part_of(analyses: JobAnalyzers, name: str) -> object:
    part = requested_bytes(analyses, name)
    assert part is not None
    if isinstance(part, Totals):
        return part.calls(), part.files()
    if isinstance(part, JobGraph):
        return rounded(part.graph().model_dump())
    if isinstance(part, JobGroups):
        members, signals = part.analyzer.members, part.analyzer.signals
        return sorted(str(each.key) for each in members.all), signals.levels, signals.oldest, signals.newest
    if isinstance(part, JobLayers):
        return part.deferred_result()(_CUT)
    assert isinstance(part, Reporting | JobInteractions)
    return part.deferred_result()()


def rounded(value: object) -> object:
    """Sums of fractions depend on their order in the last digits."""
    if isinstance(value, float):
        return float(f"{value:.10g}")
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    return [rounded(each) for each in value] if isinstance(value, list) else value


@pytest.mark.slow
@settings(deadline=None, max_examples=6)
@given(
    cuts=st.lists(st.integers(1, EVENTS - 1), max_size=40, unique=True),
    asked=st.sets(
        st.sampled_from(("totals", "graph", "layers", "interactions", "groups", "filesystems", "heatmap", "advice"))
    ),
)
def test_results_are_independent_of_arrival_order_and_of_queries(cuts: list[int], asked: set[str]) -> None:
    whole, pieces = fresh(), fresh()
    for name, info in STREAMS.items():
        whole.put(calls(info.pid), name, info)
    borders = [0, *sorted(cuts), EVENTS]
    for low, high in pairwise(borders):
        for name, info in STREAMS.items():
            pieces.put(calls(info.pid).select(slice(low, high)), name, info)
        for part in asked:
            requested_bytes(pieces, part)
    assert told(pieces) == told(whole)
    assert pieces.events == whole.events == 2 * EVENTS


@pytest.mark.parametrize(
    ("share", "waiting"), [(0.0, [0, 0, 0, 0]), (0.5, [0, 0, 800, 0]), (1.0, [0, 800, 1600, 2400])]
)
def test_queue_holds_a_share_of_the_events(share: float, waiting: list[int]) -> None:
    analyses = fresh(queue_share=share)
    sizes = []
    for _ in range(4):
        analyses.put(calls(7, 800), "a", STREAMS["a"])
        sizes.append(len(analyses._queue))
    assert sizes == waiting
    assert sum(row.calls for row in analyses.totals.calls()) == 3200


@pytest.mark.parametrize(("room", "waiting"), [(0, [0, 0, 0]), (2_000, [800, 1_600, 0]), (10**6, [800, 1_600, 2_400])])
def test_queue_has_room_besides_the_share(room: int, waiting: list[int]) -> None:
    analyses = fresh()
    sizes = []
    for _ in range(3):
        analyses.put(calls(7, 800), "a", STREAMS["a"], room)
        sizes.append(len(analyses._queue))
    assert sizes == waiting
    assert sum(row.calls for row in analyses.totals.calls()) == 2400


def test_room_of_a_queue_is_bounded() -> None:
    analyses = fresh()
    for _ in range(30):
        analyses.put(calls(7, 800), "a", STREAMS["a"], 10**9)
        assert len(analyses._queue) < 16_384


def test_a_process_that_has_ended_is_not_the_one_that_has_its_number_next() -> None:
    analyses, info = fresh(), STREAMS["a"]
    analyses.put(calls(7), "a", info)
    analyses.close_stream("a")
    analyses.put(calls(7), "again", info)
    layers = analyses.layers
    assert layers is not None
    assert layers.deferred_result()(_CUT).processes == 2


@pytest.mark.parametrize("asked", [False, True])
@pytest.mark.parametrize("method", ["update", "close_stream", "compact"])
@pytest.mark.parametrize("name", sorted(ANALYZERS))
def test_a_part_that_breaks_is_stopped_and_costs_the_others_nothing(
    monkeypatch: pytest.MonkeyPatch, name: str, method: str, asked: bool
) -> None:
    broken, whole = fresh(), fresh()
    monkeypatch.setattr("iotide.daemon.jobs.job_analyzers._MIN_BATCH_EVENTS", 100)
    whole.put(calls(7), "a", STREAMS["a"])
    assert whole.totals.events
    breaking(monkeypatch, name, method)
    broken.put(calls(7), "a", STREAMS["a"])
    for analyses in (broken, whole):
        analyses.close_stream("a")
        if asked:
            with contextlib.suppress(AnalysisFailedError):
                requested_bytes(analyses, name)
        analyses.compact()
        analyses.put(calls(8), "b", STREAMS["b"])
        analyses.compact()
    expected = told(whole)
    for other in ANALYZERS:
        if other == name:
            with pytest.raises(AnalysisFailedError, match="ValueError: broken"):
                requested_bytes(broken, other)
            assert broken.losses(other) == broken.losses(other)
        else:
            assert part_of(broken, other) == expected[other]
    assert broken.events == 2 * EVENTS


def breaking(monkeypatch: pytest.MonkeyPatch, name: str, method: str) -> None:
    """Let a method of the next created part raise an error."""

    def broken(*_: object) -> None:
        raise ValueError("broken")

    def made(context: JobContext) -> Analyzer | None:
        analyzer = make(context)
        setattr(analyzer, method, broken)
        return analyzer

    make = ANALYZERS[name].make
    replace_analyzer(monkeypatch, name, made)


def test_a_part_that_cannot_be_made_costs_the_others_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: JobContext) -> Analyzer:
        raise ValueError("broken")

    for name in ANALYZERS:
        analyses = fresh()
        replace_analyzer(monkeypatch, name, broken)
        analyses.put(calls(7), "a", STREAMS["a"])
        with pytest.raises(AnalysisFailedError, match="broken"):
            requested_bytes(analyses, name)
        assert all(part_of(analyses, other) for other in ANALYZERS if other != name)
        monkeypatch.undo()


def test_losses_that_cannot_be_told_are_those_told_last(monkeypatch: pytest.MonkeyPatch) -> None:
    analyses = fresh()
    breaking(monkeypatch, "graph", "losses")
    analyses.put(calls(7), "a", STREAMS["a"])
    assert analyses.losses("graph") == {}
    assert analyses.graph is not None
