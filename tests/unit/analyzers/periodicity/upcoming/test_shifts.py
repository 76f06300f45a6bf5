"""Phases of two levels: equal shifts of phases, with a rest after the last phase of each."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.analyzers.periodicity.estimator import KnownPhases
from iotide.analyzers.periodicity.phases.phases import Floats, Phases
from iotide.analyzers.periodicity.phases.regularity import regularity
from iotide.analyzers.periodicity.tuning import TUNING
from iotide.analyzers.periodicity.upcoming.clock import Clock, clock_of
from iotide.analyzers.periodicity.upcoming.next_phase import following_of
from iotide.analyzers.periodicity.upcoming.next_start import NextStart, next_start_of
from iotide.analyzers.periodicity.upcoming.shifts import shifts_of, with_earlier
from msgspec.structs import replace

PERIOD = 50.0
REST = 300.0


def starts(*shifts: int, rest: float = REST) -> Floats:
    """Return starts of shifts with these numbers of phases."""
    intervals = [interval for count in shifts for interval in [*[PERIOD] * (count - 1), rest]]
    return 10 + np.append(0.0, np.cumsum(intervals[:-1]))


def expected(start: Floats, now: float) -> tuple[NextStart, Clock]:
    first = np.floor(start).astype(np.int64)
    phases = Phases(start, start + 5, np.ones(len(start)), first, first + 5)
    measured = regularity(phases)
    assert measured is not None
    clock = replace(clock_of(measured, start), shifts=shifts_of(start, measured.period, cut=False))
    return next_start_of(phases, measured, clock, measured.period, now), clock


@pytest.mark.parametrize("shifts", [(6, 6), (6, 6, 6, 6), (5, 12, 12, 12, 12, 12)])
def test_the_last_phase_of_a_shift_is_followed_by_a_rest(shifts: tuple[int, ...]) -> None:
    start = starts(*shifts, shifts[-1])
    found, _ = expected(start, start[-1] + 10)
    assert found.start == pytest.approx(start[-1] + REST, abs=2)
    assert found.low <= start[-1] + REST <= found.high
    assert found.rest > 0.5


@pytest.mark.parametrize("phases", [1, 3, 5])
def test_other_phases_of_a_shift_are_followed_by_a_phase(phases: int) -> None:
    start = starts(6, 6, 6, phases)
    found, _ = expected(start, start[-1] + 10)
    assert found.start == pytest.approx(start[-1] + PERIOD, abs=1)
    assert found.in_time > 0.9
    assert found.rest < 0.1


def test_one_rest_does_not_show_shifts() -> None:
    start = starts(6, 6)
    found, _ = expected(start, start[-1] + 10)
    assert found.start == pytest.approx(start[-1] + PERIOD, abs=1)
    assert found.rest < 0.5
    late, _ = expected(start, start[-1] + 2 * PERIOD)
    assert late.rest > 0.5
    assert late.start == pytest.approx(start[-1] + REST, rel=0.05)


def test_rests_at_random_are_not_foreseen() -> None:
    start = starts(3, 9, 5, 14, 7, 11, 9)
    found, clock = expected(start, start[-1] + 10)
    assert clock.shifts is not None
    assert clock.shifts.equal < 0.1
    assert found.start == pytest.approx(start[-1] + PERIOD, abs=1)


def test_phases_after_the_next_one_are_those_of_the_next_shift() -> None:
    start = starts(6, 6, 6, 6, 4)
    found, clock = expected(start, start[-1] + 10)
    following = following_of(found, clock, np.full(20, PERIOD), 0.0, PERIOD)
    ahead = np.cumsum([PERIOD, PERIOD, REST, PERIOD, PERIOD, PERIOD])[1:]
    assert [each.start - start[-1] for each in following] == pytest.approx(ahead, abs=2)
    assert all(each.low <= each.start <= each.high for each in following)


def known(start: Floats, until: float, *, cut: bool = False, period: float = PERIOD) -> KnownPhases:
    return KnownPhases(start, period, float(start[0]) - 10, until, cut)


def test_phases_that_left_the_history_show_shifts() -> None:
    start = starts(6, 6, 6, 6)
    earlier, later = known(start[:14], start[13] + 10), known(start[10:], start[-1] + 10, cut=True)
    joined = with_earlier(later, earlier)
    assert joined.starts_s == pytest.approx(start)
    assert not joined.cut
    assert shifts_of(joined.starts_s, PERIOD, cut=joined.cut) == shifts_of(start, PERIOD, cut=False)


@pytest.mark.parametrize(
    "earlier",
    [
        known(starts(6, 6, 6)[:10], 650.0, period=2 * PERIOD),
        known(starts(6, 6, 6)[:10], 600.0),
    ],
    ids=["another period", "phases between may be unknown"],
)
def test_earlier_phases_do_not_count_if(earlier: KnownPhases) -> None:
    later = known(starts(6, 6, 6)[10:], 2000.0, cut=True)
    assert with_earlier(later, earlier) is later


def test_the_number_of_known_phases_is_bounded() -> None:
    start, later = starts(*[8] * 20), starts(*[8] * 20)[-20:]
    joined = with_earlier(known(later, start[-1] + 10), known(start[:-15], start[-16] + 10))
    assert len(joined.starts_s) == TUNING.next_phase.max_shift_phases
    assert joined.cut


@given(st.lists(st.floats(1, 1e4), min_size=1, max_size=60), st.floats(0.5, 1e4), st.booleans())
def test_probabilities_are_probabilities_whatever_came(intervals: list[float], period: float, cut: bool) -> None:
    found = shifts_of(10 + np.append(0.0, np.cumsum(intervals)), period, cut=cut)
    if found is None:
        assert max(intervals) <= 2 * period
        return
    assert 0 <= found.equal <= 1
    assert 0 <= found.rests <= 1
    assert 1 <= found.phases <= len(intervals) + 1
    assert found.rest > 0
    assert found.deviation >= 0
    assert len(found.rests_after_next(5, 0.0)) == 5
