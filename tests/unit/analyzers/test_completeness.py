"""Completeness of a window: received events, and gaps due to losses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.analyzers.completeness import Completeness
from iotide.analyzers.pipeline.snapshots import restore, snapshot

SECOND = 10**9


def test_nothing_lost_is_complete() -> None:
    made = Completeness()
    assert made.share(0, 10) == 1.0
    made.add_received(5 * SECOND, 100, 1000)
    assert made.share(0, 10 * SECOND) == 1.0


def test_only_windows_that_a_hole_reaches_into_lack_calls() -> None:
    made = Completeness()
    for second in range(1, 11):
        made.add_received(second * SECOND, 100, 0)
    made.add_lost(4 * SECOND, 5 * SECOND, 100, 0)
    assert made.share(0, 10 * SECOND) == pytest.approx(1000 / 1100)
    assert made.share(6 * SECOND, 10 * SECOND) == 1.0
    assert made.share(3 * SECOND, 5 * SECOND) == pytest.approx(200 / 300)


def test_bytes_tell_where_few_large_calls_are_lost() -> None:
    made = Completeness()
    made.add_received(SECOND, 1_000_000, 1000)
    made.add_lost(0, SECOND, 1, 1000)
    assert made.share(0, SECOND) == pytest.approx(0.5)


def test_hole_of_zero_length_is_in_its_window() -> None:
    made = Completeness()
    made.add_received(SECOND, 1, 0)
    made.add_lost(SECOND, SECOND, 1, 0)
    assert made.share(0, SECOND) == 0.5
    assert made.share(SECOND + 1, 2 * SECOND) == 1.0


@given(
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 100)), max_size=1500),
    st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**5), st.integers(1, 100)), min_size=1, max_size=600),
)
def test_whole_run_has_the_exact_share_however_much_was_merged(
    seen: list[tuple[int, int]], lost: list[tuple[int, int, int]]
) -> None:
    made = Completeness()
    for until, events in seen:
        made.add_received(until, events, 0)
    for start, length, events in lost:
        made.add_lost(start, start + length, events, 0)
    arrived, missing = sum(events for _, events in seen), sum(events for _, _, events in lost)
    assert made.share(-1, 2 * 10**6) == pytest.approx(arrived / (arrived + missing))


def test_restored_marks_give_the_same_shares() -> None:
    made = Completeness()
    for second in range(1, 11):
        made.add_received(second * SECOND, second, 2**62)
    made.add_lost(4 * SECOND, 5 * SECOND, 7, 2**40)
    restored: Completeness = restore(snapshot(made))
    for each in (made, restored):
        each.add_received(11 * SECOND, 5, 1)
    windows = [(low * SECOND // 2, high * SECOND // 2) for low in range(24) for high in range(low, 24)]
    assert [restored.share(*window) for window in windows] == [made.share(*window) for window in windows]
    assert made.__getstate__()["_sums"][1] == (3, 2**63 - 1)  # type: ignore[index]
