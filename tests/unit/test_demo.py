from __future__ import annotations

import pytest
from iotide.cli.demo import own_clock, usual_period
from iotide.events.models import Estimate, OtherRhythm
from support.results import make_prediction


def test_own_clock_is_the_mean_with_and_without_repetitions_that_were_held_up() -> None:
    line = "raw times: 2.0 sec, 3.6 sec, 1.9 sec, 2.1 sec\n\n1 loop, best of 4: 1.9 sec per loop\n"
    clock = own_clock(f"setup\n{line}")
    assert clock == (pytest.approx(2.0), pytest.approx(2.4), 1)
    assert clock.error_of(2.2) == 0
    assert clock.error_of(1.9) == pytest.approx(0.05)
    assert clock.error_of(3.0) == pytest.approx(0.25)


def test_own_clock_takes_all_even_repetitions() -> None:
    clock = own_clock("raw times: 1.7 sec, 1.9 sec, 2.4 sec")
    assert clock == (pytest.approx(2.0), pytest.approx(2.0), 0)
    assert clock.error_of(2.1) == pytest.approx(0.05)


def test_period_that_most_repetitions_had_counts() -> None:
    now = make_prediction("demo", period_s=3.2)
    assert usual_period(now) == pytest.approx(3.2)
    span = {"confidence": 0.9, "start_s": 0.0, "end_s": 24.0}
    before = OtherRhythm(relation="earlier", period_s=Estimate(value=1.8, low=1.7, high=1.9), phases=13, **span)
    assert usual_period(now.model_copy(update={"others": [before]})) == pytest.approx(1.8)
    few = before.model_copy(update={"phases": 4})
    assert usual_period(now.model_copy(update={"others": [few]})) == pytest.approx(3.2)
