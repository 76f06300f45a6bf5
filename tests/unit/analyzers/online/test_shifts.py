"""A program that works in shifts: the phase after a shift's last one is predicted after the rest."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from iotide.analyzers.online.predictor import Predictor
from iotide.analyzers.periodicity.tuning import TUNING
from iotide.events import Kind, make_batch

TYPES = np.zeros(0, np.uint8)
KNOWN_FROM = 3  # complete shifts


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_starts_of_shifts_are_predicted(seed: int) -> None:
    rng = np.random.default_rng(900 + seed)
    period, each = float(np.exp(rng.uniform(np.log(2), np.log(2000)))), int(rng.integers(4, 15))
    rest, count = float(rng.uniform(2, min(9, 2.2 * each))), 8 * each
    steps = rng.normal(1, 0.005, count)
    steps[each::each] = rest * rng.normal(1, 0.004, len(steps[each::each]))
    start_s = period * np.cumsum(steps)
    requests, length_s = 8, float(rng.uniform(0.05, 0.35)) * period
    predictor = Predictor("job")
    predictor.update(make_batch(1, {"start": 0}), TYPES)
    right: dict[bool, list[bool]] = {False: [], True: []}
    for number, (at_s, next_s) in enumerate(itertools.pairwise(start_s)):
        columns = {
            "start": np.rint(1e9 * (at_s + length_s * np.arange(requests) / requests)).astype(np.int64),
            "duration": round(0.95e9 * length_s / requests),
            "bytes": round(1e6 * period),
            "kind": int(Kind.WRITE),
        }
        predictor.update(make_batch(requests, columns), TYPES)
        for share in (0.45, 0.8):
            found = predictor.predict(round(1e9 * (at_s + share * period)))
            if number < KNOWN_FROM * each or found.next_phase is None:
                continue
            off = abs(found.next_phase.start_s.value - next_s) / period
            right[(number + 1) % each == 0].append(off <= TUNING.tolerances.on_time)
    assert np.mean(right[True]) >= 0.9
    assert np.mean(right[False]) >= 0.95
    assert found.period_s is not None
    assert found.period_s.value == pytest.approx(period, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 7))
def test_rests_of_any_length_between_equal_shifts_leave_the_period_of_the_phases(seed: int) -> None:
    """The window does not reach back over a long rest, and the history has too few phases before it."""
    rng = np.random.default_rng(seed)
    steps = rng.normal(1, 0.01, 164)
    steps[::20] += rng.uniform(3, 40, len(steps[::20]))
    start_s = 2 + 10.0 * np.cumsum(steps)
    predictor = Predictor("job")
    right = []
    for number, at_s in enumerate(start_s):
        columns = {
            "start": np.rint(1e9 * (at_s + 0.1 * np.arange(8))).astype(np.int64),
            "duration": round(1e8),
            "bytes": 10**7,
            "kind": int(Kind.WRITE),
        }
        predictor.update(make_batch(8, columns), TYPES)
        found = predictor.predict(round(1e9 * (at_s + 0.85)))
        if number >= 40:
            sure = found.period_s is not None and found.confidence >= TUNING.tolerances.min_confidence
            right.append(sure and found.period_s is not None and abs(found.period_s.value / 10 - 1) < 0.05)
    assert np.mean(right) > 0.8
