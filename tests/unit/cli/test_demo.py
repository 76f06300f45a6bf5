from __future__ import annotations

import math
from typing import Literal

import pytest
from iotide.cli.demo import looked_at_s, own_clock
from iotide.results.base import Estimate
from iotide.results.prediction import OtherPeriod, Prediction, Window


def test_own_clock_is_the_mean_with_and_without_repetitions_that_were_held_up() -> None:
    line = "raw times: 2.0 sec, 3.6 sec, 1.9 sec, 2.1 sec\n\n1 loop, best of 4: 1.9 sec per loop\n"
    clock = own_clock(f"setup\n{line}", math.inf)
    assert clock == (pytest.approx(2.0), pytest.approx(2.4), 1, 4)
    assert clock.error_of(2.2) == 0
    assert clock.error_of(1.9) == pytest.approx(0.05)
    assert clock.error_of(3.0) == pytest.approx(0.25)


def test_own_clock_takes_all_even_repetitions() -> None:
    clock = own_clock("raw times: 1.7 sec, 1.9 sec, 2.4 sec", math.inf)
    assert clock == (pytest.approx(2.0), pytest.approx(2.0), 0, 3)
    assert clock.error_of(2.1) == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("window_s", "repetitions", "usual_s"), [(0.5, 1, 1.7), (3.5, 2, 1.75), (5.0, 3, 1.75), (8.0, 4, 2.15)]
)
def test_own_clock_is_that_of_what_the_prediction_looked_at(window_s: float, repetitions: int, usual_s: float) -> None:
    clock = own_clock("raw times: 3.5 sec, 2.5 sec, 2.6 sec, 1.8 sec, 1.7 sec", window_s)
    assert (clock.repetitions, clock.usual_mean_s) == (repetitions, pytest.approx(usual_s))


@pytest.mark.parametrize(("others", "looked_at"), [([], 36.0), ([("within", 30.0)], 36.0), ([("earlier", 22.9)], 15.1)])
def test_repetitions_before_a_change_of_the_period_are_not_compared(
    others: list[tuple[Literal["earlier", "within"], float]], looked_at: float
) -> None:
    even = Estimate(value=2, low=2, high=2)
    listed = [
        OtherPeriod(relation=relation, period_s=even, confidence=1, start_s=2, end_s=end, phases=9)
        for relation, end in others
    ]
    found = Prediction(
        job="demo",
        made_at_s=38,
        mode="both",
        method="tide",
        window=Window(start_s=2, end_s=38, samples=9, adapted=False),
        sampling_frequency_hz=1,
        period_s=even,
        confidence=1,
        dominant=[],
        others=listed,
    )
    assert looked_at_s(found) == pytest.approx(looked_at)
