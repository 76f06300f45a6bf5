"""The list of all jobs: search, order, and rows that are recomputed only after a change of their job."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.daemon.access.viewer import Viewer
from iotide.daemon.aggregator import Aggregator
from iotide.daemon.publish.http import job_list as module
from iotide.daemon.publish.http.job_list import (
    Fleet,
    Row,
    count_states,
    fleet_job,
    matching_rows,
    sorted_rows,
    visible_rows,
)
from iotide.daemon.settings import AggregatorSettings
from iotide.events import Definitions, Kind, StreamInfo, make_batch

NOW_S = 1_700_000_000.0


def row(job: str = "j", **values: object) -> Row:
    given: dict[str, object] = {
        "version": (), "job": job, "name": "", "user": "", "command": "", "state": "running", "nodes": 1, "ranks": 1,
        "bandwidth": 0.0, "read": 0, "written": 0, "last_s": None, "period_s": None, "confidence": 0.0, "next_s": None,
        "complete": True, "failures": 0,
    }  # fmt: skip
    return Row(**given | values)  # type: ignore[arg-type]


ROWS = st.lists(st.builds(row, st.text(max_size=4), period_s=st.none() | st.floats(0.1, 100.0)), max_size=30)


@given(ROWS, st.booleans())
def test_jobs_without_a_value_come_last_in_either_direction(rows: list[Row], descending: bool) -> None:
    got = sorted_rows(rows, "period", descending=descending)
    assert sorted(map(id, got)) == sorted(map(id, rows))
    values = [each.period_s for each in got]
    there = [value for value in values if value is not None]
    assert values[len(there) :] == [None] * (len(values) - len(there))
    assert there == sorted(there, reverse=descending)


def test_each_word_of_a_search_is_found_somewhere() -> None:
    rows = [
        row("Sim-1", user="ann", command="/apps/lmp -in x"),
        row("other", user="bob"),
        row("sim-2", state="ended", name="Melt"),
    ]
    assert [each.job for each in matching_rows(rows, "SIM")] == ["Sim-1", "sim-2"]
    assert [each.job for each in matching_rows(rows, "ann lmp")] == ["Sim-1"]
    assert [each.job for each in matching_rows(rows, "ended")] == ["sim-2"]
    assert [each.job for each in matching_rows(rows, "melt")] == ["sim-2"]
    assert matching_rows(rows, "  ") == rows
    assert matching_rows(rows, "ann bob") == []


def test_viewer_sees_own_jobs_alone() -> None:
    rows = [row("a", user="ann"), row("b", user="bob"), row("c")]
    assert [each.job for each in visible_rows(rows, Viewer("x", "ann"), {})] == ["a"]
    assert visible_rows(rows, Viewer("x", sees_all=True), {}) == rows
    assert count_states(rows) == {"running": 3}


def test_viewer_sees_jobs_of_own_projects() -> None:
    rows = [row("a", user="ann"), row("b", user="bob"), row("c", user="bob"), row("d", user="eve")]
    viewer = Viewer("x", "ann", frozenset({"sea"}))
    assert [each.job for each in visible_rows(rows, viewer, {"b": "sea", "d": "sky"})] == ["a", "b"]


def test_row_as_it_is_answered() -> None:
    told = fleet_job(row("a", command="x" * 1000, bandwidth=3.0), [1.0], 2)
    assert (len(told.command), told.bandwidth, told.recent, told.alerts) == (200, 3.0, [1.0], 2)


class Ticking:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now_s = NOW_S

    def __call__(self) -> float:
        return self.now_s


def with_jobs(clock: Callable[[], float], count: int) -> Aggregator:
    aggregator = Aggregator(AggregatorSettings(), clock, clock)
    for number in range(count):
        aggregator.opened(f"s{number}", StreamInfo(job=f"j{number}", source="test", user="ann", host="n1"))
        feed(aggregator, number, clock())
    return aggregator


def feed(aggregator: Aggregator, number: int, now_s: float) -> None:
    start = int((now_s - 1) * 1e9)
    columns = {"start": start, "duration": 10**8, "bytes": 10**7, "kind": int(Kind.WRITE)}
    aggregator.batch(f"s{number}", make_batch(1, columns), Definitions())


async def test_rows_of_jobs_that_did_not_change_are_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Ticking()
    aggregator = with_jobs(clock, 3)
    fleet = Fleet(aggregator, clock)
    monkeypatch.setattr(module, "_REFRESH_S", 0.0)
    monkeypatch.setattr(module, "_SHARE", float("inf"))
    before = {each.job: each for each in await fleet.rows()}
    assert [each.bandwidth for each in before.values()] == [1e6] * 3
    clock.now_s += 60  # long after the last event
    quiet = {each.job: each for each in await fleet.rows()}
    assert [each.bandwidth for each in quiet.values()] == [0.0] * 3
    feed(aggregator, 1, clock())
    after = {each.job: each for each in await fleet.rows()}
    assert after["j0"] is quiet["j0"]
    assert after["j1"].bandwidth == 1e6
    assert sum(fleet.recent("j1")) == pytest.approx(2e7 / 4, rel=0.01)  # of both events
    assert fleet.recent("none") == []


async def test_concurrent_requests_share_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Ticking()
    aggregator = with_jobs(clock, 5)

    def moving() -> float:
        clock.now_s += 0.001  # triggers a new row of an active job
        return clock.now_s

    fleet = Fleet(aggregator, moving)
    monkeypatch.setattr(module, "_REFRESH_S", 3600.0)
    first, *others = await asyncio.gather(*(fleet.rows() for _ in range(8)))
    assert len(first) == 5
    for rows in others:
        assert all(one is other for one, other in zip(first, rows, strict=True))


async def test_work_of_other_tasks_is_not_in_the_share_of_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Ticking()
    fleet = Fleet(with_jobs(clock, 5), clock)
    await fleet._refresh()
    monkeypatch.setattr(module, "SLICE_S", -1.0)  # a pause after each row
    own_s, others_s = 0.0, 0

    def thread_time() -> float:
        nonlocal own_s
        own_s += 0.001
        return own_s + others_s

    async def work() -> None:
        nonlocal others_s
        while True:
            others_s += 1
            await asyncio.sleep(0)

    monkeypatch.setattr(time, "thread_time", thread_time)
    task = asyncio.create_task(work())
    spent_s = await fleet._refresh()
    task.cancel()
    assert 0 < spent_s < 1
    assert others_s >= 5
