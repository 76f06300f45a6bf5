"""A job introduced by its collectors, without sockets and with a simulated clock."""

from __future__ import annotations

import pytest
from iotide.daemon.aggregator import Aggregator
from iotide.daemon.jobs.job_state import State
from iotide.daemon.jobs.job_summary import summary_of
from iotide.daemon.settings import AggregatorSettings
from iotide.events import NODE_COLLECTOR, BatchJob, Definitions, StreamInfo, make_batch

START_S = 1_700_000_000.0
MELT = BatchJob(name="melt", nodes="n[1-2]", node_count=2)


class Introduced:
    """An aggregator with a job that has two collectors."""

    def __init__(self) -> None:
        self.now_s = START_S
        self.aggregator = Aggregator(AggregatorSettings(), lambda: self.now_s)
        for host in ("n1", "n2"):
            info = StreamInfo(job="7", source=NODE_COLLECTOR, host=host, user="u", batch=MELT)
            self.aggregator.opened(f"{host}:c", info)

    @property
    def state(self) -> State | None:
        session = self.aggregator.jobs.get("7")
        return None if session is None else session.state

    def after(self, seconds: float) -> State | None:
        self.now_s += seconds
        self.aggregator.tick()
        return self.state


def test_job_without_programs_lasts_as_long_as_its_collectors() -> None:
    job = Introduced()
    assert job.state is State.RUNNING
    assert job.after(31) is State.IDLE
    job.aggregator.closed("n1:c", {})
    assert job.after(6) is State.IDLE
    job.aggregator.closed("n2:c", {})
    assert job.after(4) is State.IDLE
    assert job.after(2) is State.ENDED
    assert job.after(601) is None


def test_job_that_computes_for_hours_does_not_end_and_is_no_backlog() -> None:
    job = Introduced()
    for _ in range(4):
        assert job.after(3600) is State.IDLE
    for stream in ("n1:c", "n2:c"):
        job.aggregator.closed(stream, {})
    job.aggregator.tick()
    assert job.aggregator.pressure.behind_s == 0
    assert job.after(6) is State.ENDED


def test_programs_that_come_and_go_do_not_end_the_job() -> None:
    job = Introduced()
    job.aggregator.opened("n1:p", StreamInfo(job="7", source="preload", host="n1"))
    job.aggregator.batch("n1:p", make_batch(1, {"start": int(START_S * 1e9), "duration": 1000}), Definitions())
    told = summary_of(job.aggregator.jobs["7"], job.now_s)
    assert (told.streams, told.hosts, told.nodes_unseen) == (1, ["n1"], [])
    job.aggregator.closed("n1:p", {})
    assert job.after(6) is State.RUNNING
    job.aggregator.closed("n1:c", {})
    job.aggregator.closed("n2:c", {})
    assert job.after(6) is State.ENDED


@pytest.mark.parametrize("losses", [{}, {"streams_cut_off": 1}])
def test_collector_that_is_gone_loses_no_stream(losses: dict[str, int]) -> None:
    job = Introduced()
    for stream in ("n1:c", "n2:c"):
        job.aggregator.silence_changed(stream, is_silent=True)
    assert summary_of(job.aggregator.jobs["7"], job.now_s).losses == {}
    for stream in ("n1:c", "n2:c"):
        job.aggregator.closed(stream, losses)
    assert job.after(6) is State.ENDED
    assert summary_of(job.aggregator.jobs["7"], job.now_s).losses == {}
