from __future__ import annotations

import math

import pytest
from iotide.cli.demo import own_clock


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
