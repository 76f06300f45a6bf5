"""The table of jobs: a dormant job is part of it, and is created once, on demand."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.daemon.jobs.accounting.loss_sink import CurrentSums
from iotide.daemon.jobs.job_table import Card, JobTable
from iotide.daemon.jobs.session import JobSession
from iotide.daemon.settings import AggregatorSettings

SETTINGS = AggregatorSettings()


def session(job: str, heard_at_s: float = 0.0) -> JobSession:
    return JobSession(job, SETTINGS, heard_at_s)


def card(heard_at_s: float = 0.0, **sums: float) -> Card:
    return Card("idle", "", heard_at_s, b"{}", sums)


def table_of(awake: dict[str, float], asleep: dict[str, float]) -> tuple[JobTable, Counter[str]]:
    table, woken = JobTable(), Counter[str]()
    for job, heard_at_s in awake.items():
        table[job] = session(job, heard_at_s)

    def wake(job: str) -> JobSession | None:
        woken[job] += 1
        return None if job == "broken" else session(job, asleep[job])

    table.add_sleeping({job: card(heard_at_s, unaccounted=1.0) for job, heard_at_s in asleep.items()}, wake)
    return table, woken


def test_it_holds_both_and_makes_what_is_asked_for_once() -> None:
    table, woken = table_of({"a": 1.0}, {"b": 2.0, "c": 0.5})
    assert (len(table), set(table), "b" in table, "d" in table) == (3, {"a", "b", "c"}, True, False)
    assert table.latest() == ["b", "a", "c"]
    assert not woken
    assert table["b"] is table.get("b") is table.get_or_wake("b")
    assert woken == {"b": 1}
    assert [each.job for each in table.awake] == ["a", "b"]
    assert {each.job for each in table.values()} == {"a", "b", "c"}
    assert (table.get("d"), table.get("d", 5)) == (None, 5)
    with pytest.raises(KeyError):
        table["d"]


def test_unrestorable_session_is_removed() -> None:
    table, woken = table_of({}, {"broken": 1.0})
    assert table.get("broken") is None
    assert table.get("broken") is None
    assert woken == {"broken": 1}
    assert not table


def test_accessed_sessions_count_as_touched_and_peeked_ones_do_not() -> None:
    table, _ = table_of({"a": 1.0, "b": 1.0, "x": 1.0}, {"c": 1.0, "d": 1.0})
    table.touched.clear()
    table.get_existing("a")
    table.get_or_wake("b")
    assert list(table.awake)
    assert not table.touched
    table["a"], table.get("c")
    assert table.touched == {"a", "c"}
    table["e"] = session("e")
    del table["x"], table["d"]
    assert table.touched == {"a", "c", "e"}
    assert set(table) == {"a", "b", "c", "e"}


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(["put", "remove", "lose", "wake"])), max_size=20))
def test_sums_are_those_of_the_jobs_that_are_held(steps: list[tuple[str, str]]) -> None:
    table, _ = table_of({"a": 0.0}, {"b": 0.0, "c": 0.0})
    sums = CurrentSums()
    sums.of(table)
    for job, step in steps:
        if step == "put":
            table[job] = session(job)
        elif step == "wake":
            table.get(job)
        elif job in table and step == "remove":
            del table[job]
        elif (found := table.get(job)) is not None:
            found.ledger.unaccounted += 7
        expected = sum(each.ledger.unaccounted for each in table.awake) + len(table.asleep)
        assert sums.of(table).get("unaccounted", 0) == expected
