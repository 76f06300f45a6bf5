from __future__ import annotations

import numpy as np
import pytest
from iotide.analyzers.periodicity.upcoming.clock import grid_of

PERIOD = 40.0


def _errors_of_the_next(starts: list[np.ndarray], expected: list[float]) -> tuple[float, float]:
    """Returns the root mean square error of the grid's next start, and of the last start plus a mean interval."""
    ours, plain = [], []
    for start, true in zip(starts, expected, strict=True):
        period = float(np.diff(start).mean())
        grid = grid_of(start, period)
        plain.append(float(start[-1]) + period - true)
        ours.append(plain[-1] if grid is None else float(start[-1]) - grid.late + grid.step - true)
    return float(np.sqrt(np.mean(np.square(ours)))), float(np.sqrt(np.mean(np.square(plain))))


def test_starts_that_deviate_independently_keep_a_grid() -> None:
    rng = np.random.default_rng(1)
    starts = [PERIOD * np.arange(25) + rng.normal(0, 2, 25) for _ in range(100)]
    ours, plain = _errors_of_the_next(starts, [PERIOD * 25] * 100)
    assert ours < 0.6 * plain


def test_starts_that_depend_on_the_one_before_hardly_ever_keep_a_grid() -> None:
    rng = np.random.default_rng(2)
    starts = [np.cumsum(PERIOD + rng.normal(0, 2, 25)) for _ in range(200)]
    found = [grid_of(start, float(np.diff(start).mean())) is not None for start in starts]
    assert sum(found) < 0.15 * len(found)
    following = [float(start[-1]) + PERIOD + rng.normal(0, 2) for start in starts]
    ours, plain = _errors_of_the_next(starts, following)
    assert ours < 1.1 * plain


def test_a_missed_phase_and_an_outlier_do_not_move_the_grid() -> None:
    rng = np.random.default_rng(3)
    start = np.delete(PERIOD * np.arange(26), 12) + rng.normal(0, 0.5, 25)
    start[-1] -= 5.0
    grid = grid_of(start, PERIOD)
    assert grid is not None
    assert grid.step == pytest.approx(PERIOD, abs=0.2)
    assert grid.late == pytest.approx(-5.0, abs=1.0)


def test_two_late_starts_move_the_grid() -> None:
    rng = np.random.default_rng(4)
    start = PERIOD * np.arange(25) + rng.normal(0, 0.5, 25)
    start[-2:] += 6.0
    grid = grid_of(start, PERIOD)
    assert grid is None or abs(grid.late) < 2.0


def test_starts_after_a_pause_need_five_intervals() -> None:
    start = PERIOD * np.arange(25.0)
    start[-4:] += 17.0
    assert grid_of(start, PERIOD) is None
