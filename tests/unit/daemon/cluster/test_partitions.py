"""A job's partition is fixed; partitions are distributed evenly, and few move."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from iotide.daemon.cluster.members import Member, Worker, without_stale_claims
from iotide.daemon.cluster.partitions import ended_partitions, partition_of, plan

NAMES = st.lists(st.text("abcdefgh", min_size=1, max_size=4), min_size=1, max_size=7, unique=True)


def served(parts: dict[str, object]) -> dict[str, frozenset[int]]:
    return {name: part.serves for name, part in parts.items()}  # type: ignore[attr-defined]


def test_a_jobs_partition_is_the_same_in_every_version() -> None:
    assert [partition_of(job, 16) for job in ("4711", "4712", "a/b", "lärm")] == [2, 6, 0, 12]
    assert len({partition_of(f"{number}", 8) for number in range(200)}) == 8


@given(NAMES, st.integers(1, 40))
def test_each_partition_is_served_once_and_evenly(names: list[str], count: int) -> None:
    parts = plan({name: set() for name in names}, count)
    numbers = [number for part in parts.values() for number in part.serves]
    assert sorted(numbers) == list(range(count))
    sizes = [len(part.serves) for part in parts.values()]
    assert max(sizes) - min(sizes) <= 1
    for part in parts.values():
        assert not part.serves & part.standby
    standing_by = sorted(number for part in parts.values() for number in part.standby)
    assert standing_by == (list(range(count)) if len(names) > 1 else [])


@given(NAMES, st.integers(1, 40))
def test_a_plan_that_was_carried_out_stays(names: list[str], count: int) -> None:
    now = served(plan({name: set() for name in names}, count))
    assert served(plan(now, count)) == now


@given(NAMES, st.integers(1, 40))
def test_no_more_move_than_a_member_that_joins_or_leaves_needs(names: list[str], count: int) -> None:
    before = served(plan({name: set() for name in names}, count))
    after = served(plan({**before, "new": set()}, count))
    assert sum(len(before[name] - after[name]) for name in names) == len(after["new"]) == count // (len(names) + 1)
    left = {name: numbers for name, numbers in after.items() if name != "new"}
    again = served(plan(left, count))
    assert all(left[name] <= again[name] for name in names)


def test_a_partition_that_two_members_say_they_have_is_planned_once() -> None:
    parts = plan({"a": {0, 1}, "b": {1}}, 2)
    assert sorted(number for part in parts.values() for number in part.serves) == [0, 1]


def test_a_claim_that_another_process_has_overtaken_does_not_count() -> None:
    def member(**epochs: int) -> Member:
        serves = {int(name[1:]): Worker(ingest="i", started="s", epoch=epoch) for name, epoch in epochs.items()}
        return Member(http=None, serves=serves)

    found = without_stale_claims({"a": member(p0=3, p1=1), "b": member(p0=2, p2=1), "c": member(p1=2)})
    assert {name: sorted(each.serves) for name, each in found.items()} == {"a": [0], "b": [2], "c": [1]}


def test_partition_taken_over_while_the_claim_of_its_stalled_owner_was_read_goes_on() -> None:
    part = plan({"a": {0}, "b": {1}}, 2)["a"]  # b's process has lost partition 1, and its entry does not show this yet
    assert ended_partitions({0, 1}, {0, 1}, {0}, part, {1}) == set()
    assert ended_partitions({0, 1}, {0, 1}, {0, 1}, part, {1}) == {1}  # b takes it over in order
    assert ended_partitions({0, 1}, {0, 1}, {0, 1}, part, set()) == set()
    assert ended_partitions({0, 1}, {0}, {0}, part, {1}) == set()  # it stands by
