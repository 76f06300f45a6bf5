"""Batches that wait to be sent: their order by jobs, and their bounds in memory and files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.collectors.transport.backlog import Backlog, FairQueue
from iotide.collectors.transport.spool_files import SpoolFiles
from iotide.events import Definitions, EventBatch, make_batch


class Item(NamedTuple):
    job: str
    number: int


@given(st.lists(st.one_of(st.sampled_from("abc"), st.booleans()), max_size=200))
def test_each_job_has_its_order_and_nothing_is_lost(steps: list[str | bool]) -> None:
    """A letter adds an item of that job, True takes one out, False drops the oldest."""
    queue: FairQueue[Item] = FairQueue()
    put: list[Item] = []
    taken: list[Item] = []
    for step in steps:
        if isinstance(step, str):
            put.append(Item(step, len(put)))
            queue.append(put[-1])
        elif len(queue):
            oldest = next(iter(queue))
            taken.append(queue.take() if step else queue.take_oldest())
            assert step or taken[-1] == oldest
        assert [item for item in put if item not in taken] == list(queue)
        assert len(queue) == len(put) - len(taken)
    while len(queue):
        taken.append(queue.take())
    assert sorted(taken, key=lambda item: item.number) == put
    for job in "abc":
        assert [item for item in taken if item.job == job] == [item for item in put if item.job == job]


@given(st.integers(1, 20), st.integers(1, 50))
def test_job_that_keeps_up_waits_for_few_of_one_that_catches_up(live: int, rounds: int) -> None:
    """For any backlog, all live jobs are served within twice as many turns as there are live jobs."""
    queue: FairQueue[Item] = FairQueue()
    for number in range(10_000):
        queue.append(Item("behind", number))
    for number in range(rounds):
        for job in range(live):
            queue.append(Item(f"live {job}", number))
        taken = [queue.take() for _ in range(2 * live + 1)]
        assert {item.job for item in taken if item.number == number} >= {f"live {job}" for job in range(live)}
        assert sum(item.job == "behind" for item in taken) >= live


def test_job_that_sends_without_end_does_not_keep_another_from_it() -> None:
    queue: FairQueue[Item] = FairQueue()
    for number in range(1000):
        queue.append(Item("behind", number))
    queue.append(Item("slow", 0))
    for number in range(20):
        queue.append(Item("fast", number))
    assert Item("slow", 0) in [queue.take() for _ in range(5)]


def batch_of(first: int, count: int) -> EventBatch:
    return make_batch(count, {"start": first + np.arange(count), "offset": first * np.arange(count), "call": 1})


@settings(deadline=None)
@given(
    steps=st.lists(st.integers(-3, 400), max_size=60),
    memory=st.integers(1000, 40_000),
    disk=st.sampled_from([0, 5_000, 50_000, 1 << 30]),
)
def test_all_that_waits_comes_out_in_order_or_is_said_to_have_gone(steps: list[int], memory: int, disk: int) -> None:
    spool = SpoolFiles(disk)
    backlog = Backlog(memory, spool)
    given_in: list[int] = []
    seen: list[int] = []
    number = waiting = 0
    for step in steps:
        if step > 0:
            number += 1
            given_in.append(number)
            gone = backlog.push("s", batch_of(1000 * number, step), Definitions([(number, "")]), 0.0, 0)
            seen += [each.definitions.strings[0][0] for each in gone]
            waiting += step - sum(each.events for each in gone)
        elif len(backlog):
            oldest, batch = backlog.pop()
            at = oldest.definitions.strings[0][0]
            assert batch is not None
            assert batch.start.tolist() == list(range(1000 * at, 1000 * at + oldest.events))
            assert batch.offset.tolist() == [1000 * at * each for each in range(oldest.events)]
            seen.append(at)
            waiting -= oldest.events
        assert backlog.events == waiting
        assert spool.bytes <= disk
    while len(backlog):
        seen.append(backlog.pop()[0].definitions.strings[0][0])
    assert seen == given_in
    assert (backlog.events, backlog.bytes, spool.bytes, spool.failures) == (0, 0, 0, 0)
    backlog.close()


def test_memory_is_within_its_bound_while_files_take_the_rest() -> None:
    backlog = Backlog(10_000, SpoolFiles(1 << 30))
    for number in range(100):
        assert not backlog.push("s", batch_of(1000 * number, 100), Definitions(), 0.0, 0)
    assert backlog.bytes <= 10_000
    assert backlog.events == 10_000
    backlog.close()


def test_damaged_file_costs_its_batches_alone() -> None:
    spool = SpoolFiles(1 << 30)
    places = [spool.append(batch_of(1000 * number, 50)) for number in range(3)]
    assert all(places)
    damaged = places[1]
    assert damaged is not None
    os.pwrite(damaged.file.descriptor, bytes(20), damaged.at)
    found = [spool.read(place) for place in places if place is not None]
    assert [batch is None for batch in found] == [False, True, False]
    assert spool.failures == 1
    spool.close()


def test_disk_that_takes_nothing_costs_what_memory_has_no_room_for(tmp_path: Path) -> None:
    backlog = Backlog(10_000, SpoolFiles(1 << 30, tmp_path / "missing"))
    gone = [each for number in range(20) for each in backlog.push("s", batch_of(number, 100), Definitions(), 0.0, 0)]
    assert gone
    assert backlog.events == 100 * (20 - len(gone))


@pytest.mark.parametrize("size", [1, 5000])
def test_files_have_no_name(tmp_path: Path, size: int) -> None:
    spool = SpoolFiles(1 << 30, tmp_path)
    assert spool.append(batch_of(0, size)) is not None
    assert not list(tmp_path.iterdir())
    spool.close()
