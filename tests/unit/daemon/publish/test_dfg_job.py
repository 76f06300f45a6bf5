"""A job's graph as the aggregator stores, serves and counts it."""

from __future__ import annotations

import asyncio
import pickle
import re

import httpx
import pytest
from iotide.analyzers.dfg.compare import compare
from iotide.clients.pages.live_pages import MAX_PAGES, LivePages
from iotide.daemon.aggregator import Aggregator
from iotide.daemon.ingest.ingest_settings import IngestStats
from iotide.daemon.jobs.session import JobSession
from iotide.daemon.publish.http.application import make_application
from iotide.daemon.publish.metrics import AggregatorCollector
from iotide.daemon.settings import AggregatorSettings, load_settings
from iotide.events import ConfigError, FileInfo, FileType, Interner, Kind, StreamInfo, make_batch
from iotide.results.dfg import Comparison, Graph
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families
from support.servers.prometheus import registry_of

NOW = 1_700_000_000.0
STEP_NS = 1_000_000
START_NS = int((NOW - 60) * 1e9)


class Stream:
    """Write calls of a job's stream, one per millisecond."""

    def __init__(self, aggregator: Aggregator, name: str, start_ns: int = START_NS, **facts: object) -> None:
        self.name = name
        self._aggregator = aggregator
        self._interner = Interner()
        self._at = start_ns
        aggregator.opened(name, StreamInfo(**({"job": "job", "source": "test"} | facts)))  # type: ignore[arg-type]

    def calls(self, *calls: tuple[str, str]) -> None:
        columns = {
            "start": [self._at + STEP_NS * number for number in range(len(calls))],
            "duration": STEP_NS // 2,
            "call": [self._interner.string(call) for call, _ in calls],
            "kind": [int(Kind.WRITE if call == "write" else Kind.OTHER) for call, _ in calls],
            "file": [self._interner.file(path, FileInfo(path, FileType.REGULAR)) for _, path in calls],
            "bytes": 1000,
        }
        self._at += STEP_NS * len(calls)
        self._aggregator.batch(self.name, make_batch(len(calls), columns), self._interner.take_fresh())


def aggregator_of(**options: object) -> Aggregator:
    return Aggregator(AggregatorSettings.model_validate(options), lambda: NOW)


def graph_of(aggregator: Aggregator, job: str = "job") -> Graph:
    kept = aggregator.jobs[job].graph
    assert kept is not None
    return kept.graph()


def scraped(aggregator: Aggregator) -> dict[tuple[str, str, str], float]:
    registry = registry_of(AggregatorCollector(aggregator, IngestStats, 100, lambda: NOW))
    return {
        (sample.name, sample.labels.get("activity", ""), sample.labels.get("reason", "")): sample.value
        for family in text_string_to_metric_families(generate_latest(registry).decode())
        for sample in family.samples
    }


def edges_of(graph: Graph) -> dict[tuple[str, str], int]:
    return {(edge.source, edge.target): edge.count for edge in graph.edges}


def test_each_stream_is_a_case_and_calls_are_told_apart_by_two_levels() -> None:
    aggregator = aggregator_of()
    one, two = Stream(aggregator, "s1"), Stream(aggregator, "s2")
    for _ in range(2):
        one.calls(("open", "/p/scratch/a/x"), ("write", "/p/scratch/a/y"))
        two.calls(("write", "/home/ann/z"))
    aggregator.closed("s2", {})
    graph = graph_of(aggregator)
    assert edges_of(graph) == {
        ("open:/p/scratch", "write:/p/scratch"): 2,
        ("write:/p/scratch", "open:/p/scratch"): 1,
        ("write:/home/ann", "write:/home/ann"): 1,
    }
    assert (graph.job, graph.cases, graph.open_cases, graph.case) == ("job", 2, 1, "stream")
    moved = {node.name: (node.bytes, node.rate) for node in graph.activities}
    assert moved["write:/p/scratch"] == (2000, pytest.approx(1000 / 0.0005))
    assert moved["open:/p/scratch"] == (0, None)


def test_mapping_case_filter_and_sites_are_settings() -> None:
    dfg = {"mapping": "call+site", "case": "rank", "filter": "path=/p/scratch/*", "sites": {"SCRATCH": "/p/scratch"}}
    aggregator = aggregator_of(dfg=dfg)
    for name in ("s1", "s2"):
        Stream(aggregator, name, rank=3).calls(("write", "/p/scratch/a"), ("read", "/etc/passwd"))
    graph = graph_of(aggregator)
    assert edges_of(graph) == {("write:$SCRATCH", "write:$SCRATCH"): 1}
    assert (graph.cases, graph.events, graph.mapping) == (1, 2, "call+site")


def test_graph_can_be_switched_off() -> None:
    aggregator = aggregator_of(dfg={"enabled": False})
    Stream(aggregator, "s").calls(("write", "/a"))
    assert aggregator.jobs["job"].graph is None
    assert not any(name.startswith("iotide_job_activity") for name, _, _ in scraped(aggregator))


@pytest.mark.parametrize(
    "wrong", [{"MAPPING": "call+nonsense"}, {"FILTER": "path"}, {"MAPPING": "rules:/does/not/exist"}, {"CASE": "moon"}]
)
def test_wrong_declaration_ends_the_start(wrong: dict[str, str]) -> None:
    with pytest.raises(ConfigError):
        load_settings(None, {f"IOTIDE_SERVE_DFG__{name}": value for name, value in wrong.items()})


def test_activities_past_the_bound_are_other_whatever_their_names() -> None:
    aggregator = aggregator_of(dfg={"mapping": "path", "max_activities": 3})
    stream = Stream(aggregator, "s")
    stream.calls(*(("write", f"/f{number}") for number in range(2000)))
    graph = graph_of(aggregator)
    assert [node.name for node in graph.activities] == ["(other)", "/f0", "/f1", "/f2"]
    assert graph.dropped_events == 1997
    assert scraped(aggregator)["iotide_graph_dropped_total", "", "other_activities"] == 0  # they wait
    aggregator.jobs["job"].compact()
    assert scraped(aggregator)["iotide_graph_dropped_total", "", "other_activities"] == 1997


@pytest.mark.slow
def test_streams_one_after_the_other_leave_nothing_behind() -> None:
    aggregator = aggregator_of()
    sizes = []
    for number in range(300):
        Stream(aggregator, f"s{number}", START_NS + 10 * number * STEP_NS).calls(("write", "/a"), ("write", "/a"))
        aggregator.closed(f"s{number}", {})
        aggregator.jobs["job"].compact()
        sizes.append(len(pickle.dumps(aggregator.jobs["job"].graph)))
    assert max(sizes) <= max(sizes[:10]) + 200
    assert graph_of(aggregator).cases == 300


@pytest.mark.slow
async def test_graph_is_served_with_all_that_it_says() -> None:
    aggregator = aggregator_of()
    Stream(aggregator, "s", job="a/b").calls(("open", "/p/q"), ("write", "/p/q"))
    Stream(aggregator, "o", job="other").calls(("read", "/p/q"))
    aggregator.opened("e", StreamInfo(job="empty", source="test"))
    metrics = AggregatorCollector(aggregator, IngestStats, 100, lambda: NOW)
    app = make_application(aggregator, metrics, lambda: "", lambda: NOW)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://test") as client:
        answer = await client.get("/api/v1/jobs/a%2Fb/dfg")
        assert Graph.model_validate_json(answer.content) == graph_of(aggregator, "a/b")
        nothing = await client.get("/api/v1/jobs/empty/dfg")
        assert (nothing.status_code, "no graph" in nothing.json()["error"]) == (404, True)
        other = await client.get("/api/v1/jobs/a%2Fb/dfg?versus=other")
        assert Comparison.model_validate_json(other.content) == compare(
            graph_of(aggregator, "a/b"), graph_of(aggregator, "other"), "a/b", "other"
        )
        assert (await client.get("/api/v1/jobs/a%2Fb/dfg?versus=absent")).status_code == 404
        assert (await client.get("/jobs/a%2Fb/dfg")).status_code == 404  # no pages are drawn here
        described = (await client.get("/api/v1/openapi.json")).json()
        assert "Graph" in str(described["paths"]["/api/v1/jobs/{job}/dfg"])


def places_of(page: str) -> dict[str, tuple[str, str]]:
    found = re.findall(r'data-name="([^"]+)" tabindex="0"><rect x="([^"]+)" y="([^"]+)"', page)
    return {name: (x, y) for name, x, y in found}


@pytest.mark.slow
async def test_page_of_a_growing_graph_keeps_its_nodes_where_they_are() -> None:
    aggregator = aggregator_of()
    stream = Stream(aggregator, "s", job="a/b")
    stream.calls(("open", "/p/q"), ("write", "/p/q"))
    metrics = AggregatorCollector(aggregator, IngestStats, 100, lambda: NOW)
    app = make_application(aggregator, metrics, lambda: "", lambda: NOW, LivePages(refresh_s=0.0))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://test") as client:
        first = await client.get("/jobs/a%2Fb/dfg")
        assert first.headers["content-type"].startswith("text/html")
        before = places_of(first.text)
        assert set(before) == {"open:/p/q", "write:/p/q"}
        stream.calls(*[("read", "/x/y"), ("close", "/p/q"), ("write", "/p/q"), ("mkdir", "/z")] * 5)
        while len(after := places_of((await client.get("/jobs/a%2Fb/dfg")).text)) == 2:
            await asyncio.sleep(0.01)
        assert len(after) == 5
        assert {name: after[name] for name in before} == before
        Stream(aggregator, "o", job="other").calls(("read", "/x/y"))
        both = await client.get("/jobs/a%2Fb/dfg?versus=other")
        assert "only in a/b" in both.text
        assert (await client.get("/jobs/absent/dfg")).status_code == 404
    del aggregator.jobs["a/b"]
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://test") as client:
        assert (await client.get("/jobs/a%2Fb/dfg")).status_code == 404


@pytest.mark.slow
def test_pages_are_not_drawn_again_too_soon_and_only_so_many_are_remembered() -> None:
    aggregator = aggregator_of()
    Stream(aggregator, "s").calls(("open", "/p/q"))
    pages = LivePages(refresh_s=3600)
    assert pages.current("0") is None
    text = pages.draw("0", graph_of(aggregator))
    assert pages.current("0") == text
    for number in range(1, MAX_PAGES + 1):
        pages.draw(str(number), graph_of(aggregator))
    assert pages.current("0") is None
    assert pages.current("1") is not None


def test_frozen_graph_is_that_of_its_moment() -> None:
    aggregator = aggregator_of()
    stream = Stream(aggregator, "s")
    stream.calls(("open", "/p/q"))
    kept = aggregator.jobs["job"].graph
    assert kept is not None
    before, frozen = kept.graph(), kept.deferred_result()
    stream.calls(("write", "/p/q"))
    assert frozen() == before


def test_top_activities_have_series_within_the_bounds() -> None:
    aggregator = aggregator_of(max_activity_series=2, dfg={"mapping": "path"})
    long = "/" + "x" * 300
    Stream(aggregator, "s").calls(*[("write", f"{long}a")] * 3, *[("write", f"{long}b")] * 2, ("write", "/rare"))
    samples = scraped(aggregator)
    events = {label: value for (name, label, _), value in samples.items() if name == "iotide_job_activity_events_total"}
    ((label, count),) = events.items()  # both are truncated to the same text
    assert (len(label), count) == (128, 5)
    assert samples["iotide_job_activity_bytes_total", label, ""] == 5000
    assert samples["iotide_job_activity_seconds_total", label, ""] == pytest.approx(5 * 0.0005)


def test_missing_events_of_graphs_stay_counted_after_their_job() -> None:
    now = [NOW]
    aggregator = Aggregator(AggregatorSettings(dfg={"max_cases": 1}), lambda: now[0])  # type: ignore[arg-type]
    for name in ("s1", "s2", "s3"):
        Stream(aggregator, name).calls(("write", "/a"))
    assert aggregator.jobs["job"].graph is not None  # small jobs are analysed on demand
    aggregator.jobs["job"].compact()
    before = scraped(aggregator)["iotide_graph_dropped_total", "", "evicted_cases"]
    assert before == 2
    for name in ("s1", "s2", "s3"):
        aggregator.closed(name, {})
    for _ in range(3):
        now[0] += 10_000
        aggregator.tick()
    assert not aggregator.jobs
    assert scraped(aggregator)["iotide_graph_dropped_total", "", "evicted_cases"] == before


def test_session_with_a_graph_can_be_moved() -> None:
    aggregator = aggregator_of()
    Stream(aggregator, "s").calls(("open", "/p/q"), ("write", "/p/q"))
    session = aggregator.jobs["job"]
    moved: JobSession = pickle.loads(pickle.dumps(session))
    assert moved.graph is not None
    assert moved.graph.graph() == graph_of(aggregator)
