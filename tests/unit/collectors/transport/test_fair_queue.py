"""Order of sent batches: in order per job, and no job waits for all batches of another."""

from __future__ import annotations

from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st
from iotide.collectors.transport.fair_queue import FairQueue


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
