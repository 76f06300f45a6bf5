"""A job's interactions: streams of several hosts, small batches held back, and processes without a number."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.interaction.settings import InteractionSettings
from iotide.analyzers.pipeline.analysis_queue import AnalysisQueue, QueuedEvents
from iotide.analyzers.pipeline.job_interactions import JobInteractions, rank_jobs
from iotide.analyzers.pipeline.numbering import JobNames
from iotide.events import EventBatch, FileInfo, Kind, Layer, StreamInfo, file_type_of, make_batch
from iotide.results.interaction import Ranking
from support.jobs.analyzer_kinds import context

PATHS = ("/scratch/x", "pipe:[7]", "/scratch/y", "/tmp/z")


class Job:
    """A job with hand-made input."""

    def __init__(self, name: str = "job", **settings: object) -> None:
        self.names = JobNames(10, 10)
        self.names.call("io")
        for path in PATHS:
            self.names.file(FileInfo(path, file_type_of(path), shared=False if path == "/tmp/z" else None))
        self.interactions = JobInteractions(context(self.names, name, rank=settings))
        self._now = 0

    def does(
        self, kind: Kind, path: str, stream: str, host: str = "n1", length: int = 1, command: str = "", **facts: int
    ) -> Job:
        self._now += 1
        events = {key: facts.pop(key) for key in ("tid", "pid", "rank") if key in facts}
        info = StreamInfo(
            job="job",
            source="test",
            host=host,
            command=command,
            pid=facts.get("of_pid", 0),
            parent_pid=facts.get("of_parent", 0),
            rank=facts.get("of_rank", -1),
        )
        self.interactions.update(QueuedEvents.of(self.batch(kind, path, length, **events), stream, info))
        return self

    def batch(self, kind: Kind, path: str, length: int, **columns: int) -> EventBatch:
        known = {"call": 1, "layer": int(Layer.POSIX), "kind": int(kind), "file": PATHS.index(path) + 1, "bytes": 1}
        return make_batch(length, {"start": np.full(length, self._now * 1000), "duration": 10, **known, **columns})

    def ranking(self) -> Ranking:
        return self.interactions.deferred_result()()


@pytest.mark.parametrize("length", [1, 600, 3000])
def test_stream_facts_replace_missing_facts_of_events(length: int) -> None:
    job = (
        Job().does(Kind.WRITE, "/scratch/x", "a", of_pid=5, length=length).does(Kind.READ, "/scratch/x", "b", of_pid=6)
    )
    assert sorted(actor.tid for actor in job.ranking().actors) == [5, 6]
    assert job.ranking().events == length + 1


def test_processes_are_named_by_their_streams_and_connected_to_their_makers() -> None:
    job = Job().does(Kind.WRITE, "/scratch/x", "a", of_pid=5, of_parent=4, command="/bin/sh run.sh 7")
    job.does(Kind.READ, "/scratch/x", "b", of_pid=6, of_parent=5, command="/bin/sh run.sh 7")
    job.does(Kind.READ, "/scratch/x", "c", of_pid=6, of_parent=5, command="/usr/bin/sim -n 3")
    ranking = job.ranking()
    assert {actor.pid: actor.name for actor in ranking.actors} == {5: "sh run.sh", 6: "sim"}
    assert [edge.count for edge in ranking.edges if edge.kind == "fork"] == [1]
    ranks = Job(by="rank").does(Kind.WRITE, "/scratch/x", "a", of_rank=0, command="sim")
    ranks.does(Kind.READ, "/scratch/x", "b", of_rank=1, command="sim")
    assert [(actor.name, actor.rank) for actor in ranks.ranking().actors] == [("sim", 1), ("sim", 0)]


def test_streams_without_numbers_are_told_apart_and_ranks_by_theirs() -> None:
    job = Job().does(Kind.WRITE, "/scratch/x", "a").does(Kind.READ, "/scratch/x", "b")
    assert len(job.ranking().actors) == 2
    ranks = Job(by="rank").does(Kind.WRITE, "/scratch/x", "a", of_rank=3).does(Kind.READ, "/scratch/x", "b", rank=1)
    assert sorted(actor.rank for actor in ranks.ranking().actors) == [1, 3]


def test_pipes_and_numbers_of_processes_are_those_of_a_host() -> None:
    one = Job().does(Kind.WRITE, "pipe:[7]", "a", tid=1).does(Kind.READ, "pipe:[7]", "b", tid=2)
    assert len(one.ranking().actors) == 2
    two = Job().does(Kind.WRITE, "pipe:[7]", "a", tid=1).does(Kind.READ, "pipe:[7]", "b", host="n2", tid=2)
    assert two.ranking().actors == []
    same = Job().does(Kind.WRITE, "/scratch/x", "a", tid=1).does(Kind.READ, "/scratch/x", "b", host="n2", tid=1)
    assert sorted(actor.host for actor in same.ranking().actors) == ["n1", "n2"]


def test_jobs_are_ranked_by_the_shared_files_and_never_by_pipes() -> None:
    jobs = [
        ("flow", Job("flow").does(Kind.WRITE, "/scratch/x", "a", tid=1).does(Kind.WRITE, "pipe:[7]", "a", tid=1)),
        ("plot", Job("plot").does(Kind.OTHER, "/scratch/y", "a", tid=1).does(Kind.READ, "/scratch/x", "a", tid=1)),
        ("other", Job("other").does(Kind.OTHER, "/scratch/y", "a").does(Kind.READ, "pipe:[7]", "a", tid=1)),
    ]
    ranking = rank_jobs([job.interactions.shared() for _, job in jobs], InteractionSettings())
    assert [actor.name for actor in ranking.actors] == ["plot", "flow"]
    assert [file.path for file in ranking.files] == ["/scratch/x"]
    assert rank_jobs([], InteractionSettings()).actors == []


@pytest.mark.parametrize(("hosts", "meet"), [(("n1", "n1"), True), (("n1", "n2"), False), (("", ""), False)])
def test_node_local_files_join_the_jobs_of_one_host(hosts: tuple[str, str], meet: bool) -> None:
    flow = Job("flow").does(Kind.WRITE, "/scratch/y", "z", host="n0", tid=1)
    flow.does(Kind.WRITE, "/tmp/z", "a", host=hosts[0], tid=1)
    plot = Job("plot").does(Kind.OTHER, "/tmp/z", "a", tid=1, host=hosts[1])
    plot.does(Kind.READ, "/tmp/z", "a", host=hosts[1], tid=1)
    ranking = rank_jobs([flow.interactions.shared(), plot.interactions.shared()], InteractionSettings())
    assert ([file.path for file in ranking.files] == ["/tmp/z"]) is meet
    assert len(ranking.actors) == 2 * meet


RUNS = st.lists(
    st.tuples(
        st.sampled_from("abc"),
        st.sampled_from(["n1", "n1", "n2"]),
        st.sampled_from([0, 5, 6]),
        st.sampled_from([-1, 0, 1]),
        st.lists(st.tuples(*map(st.sampled_from, ([0, 7], [0, 5], [-1, 2], [1, 2, 4], [Kind.READ, Kind.WRITE])))),
    ),
    min_size=1,
    max_size=8,
)


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(RUNS, st.sampled_from(["process", "rank"]))
def test_many_streams_at_once_are_what_one_after_the_other_is(
    runs: list[tuple[str, str, int, int, list[tuple[int, int, int, int, int]]]], by: str
) -> None:
    together, apart, held = Job(by=by), Job(by=by), AnalysisQueue()
    for at, (stream, host, pid, rank, rows) in enumerate(runs):
        info = StreamInfo(job="job", source="test", host=host, pid=pid, rank=rank, command="sim")
        columns = zip(("tid", "pid", "rank", "file", "kind"), zip(*rows, strict=True), strict=bool(rows))
        known = {"call": 1, "layer": int(Layer.POSIX), "bytes": 1, "duration": 10}
        batch = make_batch(len(rows), {"start": at * 1000 + np.arange(len(rows)), **known, **dict(columns)})
        if len(batch):
            held.put(batch, stream + host, info)
            apart.interactions.update(QueuedEvents.of(batch, stream + host, info))
    if len(held):
        together.interactions.update(held.since(0))
    assert together.ranking() == apart.ranking()
