"""Remaining duration of an ongoing phase."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.analyzers.periodicity.upcoming.running_phase import endings

LENGTHS = np.array([10.0, 10.4, 9.7, 40.0, 10.2, 9.9, 10.1, 39.0])


def test_phase_as_long_as_most_were_has_ended_once_nothing_comes() -> None:
    ended, *longer = endings(LENGTHS, 10.0, 8.0)
    assert ended.odds > 0.95
    assert ended.length == 10.0
    assert ended.deviation == 0.0
    assert sum(each.odds for each in longer) == pytest.approx(1 - ended.odds)


def test_phase_that_has_just_begun_is_as_long_as_one_of_those_before() -> None:
    ended, short, long = endings(LENGTHS, 2.0, 0.5)
    assert ended.odds < 0.01
    assert short.odds == pytest.approx(0.75, abs=0.02)
    assert short.length == pytest.approx(10.05, abs=0.3)
    assert long.length == pytest.approx(39.5, abs=0.5)


def test_phase_longer_than_most_is_one_of_the_long_ones() -> None:
    assert max(endings(LENGTHS, 20.0, 0.5)).length == pytest.approx(39.5, abs=0.5)


@given(
    st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=40),
    st.floats(0, 1e7),
    st.floats(0, 1e7),
)
def test_odds_sum_to_one_and_no_end_is_in_the_past(lengths: list[float], length: float, since: float) -> None:
    found = endings(np.array(lengths), length, since)
    assert sum(each.odds for each in found) == pytest.approx(1)
    assert all(each.length >= length * (1 - 1e-6) for each in found if each.odds > 1e-6)
