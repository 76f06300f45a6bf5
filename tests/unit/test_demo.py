from __future__ import annotations

import pytest
from iotide.cli.demo import own_clock


def test_own_clock_is_the_mean_of_the_repetitions_that_were_not_held_up() -> None:
    line = "raw times: 2.0 sec, 3.58 sec, 1.9 sec, 2.1 sec\n\n1 loop, best of 4: 1.9 sec per loop\n"
    assert own_clock(f"setup\n{line}") == (pytest.approx(2.0), 1)


def test_own_clock_takes_all_even_repetitions() -> None:
    assert own_clock("raw times: 1.7 sec, 1.9 sec, 2.3 sec") == (pytest.approx(1.9667, abs=1e-3), 0)
