"""Nodes of a job with a collector, and those without one."""

from __future__ import annotations

import pytest
from iotide.daemon.aggregator import Aggregator
from iotide.daemon.jobs.job_state import State
from iotide.daemon.jobs.job_summary import known_losses, summary_of
from iotide.daemon.jobs.losses.job_nodes import JobNodes
from iotide.daemon.settings import AggregatorSettings
from iotide.events import BatchJob, Definitions, EventBatch, StreamInfo, make_batch
from iotide.results.jobs.job import JobSummary

FOUR = BatchJob(nodes="n[1-4]", node_count=4)
START_S = 1_700_000_000.0


def nodes(*hosts: str) -> JobNodes:
    made = JobNodes()
    for host in hosts:
        made.add_node(host)
    return made


@pytest.mark.parametrize(
    ("hosts", "heard", "batch", "count", "names"),
    [
        ((), ["n1"], FOUR, 0, []),  # no report says that the collectors belong to the job
        (("n1",), [], FOUR, 3, ["n2", "n3", "n4"]),
        (("n1", "n2"), ["n4"], FOUR, 1, ["n3"]),
        (("n1", "n2", "n3", "n4"), [], FOUR, 0, []),
        (("n1.site", "N2"), ["n3.site"], FOUR, 1, ["n4"]),
        (("alpha", "beta"), [], FOUR, 2, []),  # hosts have other names than nodes
        (("n1",), [], BatchJob(nodes="n[1-4]"), 3, ["n2", "n3", "n4"]),
        (("n1",), [], BatchJob(node_count=3), 2, []),
        (("n1",), [], BatchJob(nodes="n[1,3,5...", node_count=500), 499, []),
        (("n1",), [], BatchJob(name="job"), 0, []),
    ],
)
def test_nodes_without_a_collector(
    hosts: tuple[str, ...], heard: list[str], batch: BatchJob, count: int, names: list[str]
) -> None:
    assert nodes(*hosts).unseen(batch, heard) == (count, names)


class Told:
    """An aggregator with a clock that is set."""

    def __init__(self) -> None:
        self.now_s = START_S
        self.aggregator = Aggregator(AggregatorSettings(), lambda: self.now_s)

    def open(self, host: str = "n1") -> None:
        self.aggregator.opened(f"{host}:p", StreamInfo(job="7", source="preload", host=host, batch=FOUR))
        self.aggregator.batch(f"{host}:p", an_event(), Definitions())

    def summary(self) -> JobSummary:
        return summary_of(self.aggregator.jobs["7"], self.now_s)


def an_event() -> EventBatch:
    return make_batch(1, {"start": int(START_S * 1e9), "duration": 1000})


def test_node_that_lacks_a_collector_is_a_loss_once_it_is_late() -> None:
    told = Told()
    told.aggregator.heartbeat("c2", "n2", {}, "7")  # of a job without events yet
    told.open()
    told.aggregator.heartbeat("c1", "n1", {}, "7")
    assert told.summary().complete
    told.now_s += 11
    assert told.summary().losses == {"nodes_unseen": 2}
    assert told.summary().nodes_unseen == ["n3", "n4"]
    assert not told.summary().complete
    prediction = told.aggregator.jobs["7"].predict(told.now_s)
    assert prediction is not None
    assert prediction.nodes_unseen == 2
    told.aggregator.heartbeat("c3", "n3", {}, "7")
    assert told.summary().losses == {"nodes_unseen": 1}
    told.open("n4")
    assert told.summary().complete


def test_job_that_ended_before_lacks_it_at_once() -> None:
    told = Told()
    told.open()
    told.aggregator.heartbeat("c1", "n1", {}, "7")
    told.aggregator.closed("n1:p", {})
    told.now_s += 5
    session = told.aggregator.jobs["7"]
    assert known_losses(session, told.now_s) == {}
    session.state = State.ENDED
    assert known_losses(session, told.now_s) == {"nodes_unseen": 3}


def test_collectors_that_serve_no_job_lack_no_node() -> None:
    told = Told()
    told.open()
    told.aggregator.heartbeat("c1", "n1", {})
    told.now_s += 11
    assert told.summary().complete
