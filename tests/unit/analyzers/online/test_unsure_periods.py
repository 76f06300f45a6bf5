"""The rhythm of requests within a phase does not hide the period of the phases while it is unsure."""

from __future__ import annotations

import numpy as np
import pytest
from iotide.analyzers.online.predictor import Predictor
from iotide.analyzers.periodicity.tuning import TUNING
from iotide.events import Kind, make_batch

TYPES = np.zeros(0, np.uint8)
MOMENTS = 30


@pytest.mark.slow
@pytest.mark.parametrize("seed", [9, 10, 31, 35, 42, 43, 45, 57])
def test_rhythm_of_requests_does_not_hide_a_period_that_the_whole_observation_shows(seed: int) -> None:
    """Phases of many requests with short pauses between them: the pauses between phases are hardly longer."""
    rng = np.random.default_rng(seed)
    period = float(np.exp(rng.uniform(np.log(2), np.log(3000))))
    phases, requests = int(rng.integers(15, 40)), int(rng.integers(4, 30))
    busy_s, gap = period * float(rng.uniform(0.8, 0.92)), float(rng.uniform(0.1, 0.25))
    share = rng.uniform(0.5, 1.5, (phases, requests))
    share /= share.sum(axis=1)[:, None]
    starts_s = period * (1 + np.arange(phases) + rng.normal(0, 0.005, phases))
    start_s = (starts_s[:, None] + busy_s * (np.cumsum(share, axis=1) - share)).ravel()
    length_s = (1 - gap) * busy_s * share.ravel()
    predictor = Predictor("job")
    predictor.update(make_batch(1, {"start": 0}), TYPES)
    known = hidden = done = 0
    for now_s in np.sort(rng.uniform(starts_s[3], starts_s[-1], MOMENTS)):
        upto = int(np.searchsorted(start_s + length_s, now_s))
        rows = slice(done, upto)
        columns = {
            "start": np.rint(1e9 * start_s[rows]).astype(np.int64),
            "duration": np.rint(1e9 * length_s[rows]).astype(np.int64),
            "bytes": np.rint(1e9 * length_s[rows] / period).astype(np.int64),
            "kind": int(Kind.WRITE),
        }
        predictor.update(make_batch(upto - done, columns), TYPES)
        done = upto
        found = predictor.predict(round(1e9 * now_s))
        whole = predictor.predict(round(1e9 * now_s), whole=True)
        if whole.period_s is None or whole.confidence < TUNING.tolerances.certain_confidence:
            continue
        if whole.period_s.value == pytest.approx(period, rel=0.05):
            known += 1
            hidden += found.confidence < TUNING.tolerances.min_confidence and (
                found.period_s is not None and found.period_s.value < period / 2
            )
    assert known > MOMENTS / 2
    assert hidden == 0


@pytest.mark.parametrize("seed", range(12))
def test_even_requests_without_pauses_do_not_hide_their_phases(seed: int) -> None:
    """Requests follow each other nearly at once, at sure distances; from the fifth phase on, phases are the period."""
    rng = np.random.default_rng(seed)
    period, requests = float(np.exp(rng.uniform(np.log(5), np.log(300)))), int(rng.integers(12, 40))
    busy_s, gap = period * float(rng.uniform(0.8, 0.94)), float(rng.uniform(0.01, 0.04))
    step_s = busy_s / requests
    predictor = Predictor("job")
    predictor.update(make_batch(1, {"start": 0}), TYPES)
    found = []
    for number in range(8):
        start_s = period * (0.1 + number) + step_s * np.arange(requests)
        for place in range(requests):
            columns = {
                "start": round(1e9 * start_s[place]),
                "duration": round(1e9 * (1 - gap) * step_s),
                "bytes": 10**7,
            }
            predictor.update(make_batch(1, columns | {"kind": int(Kind.WRITE)}), TYPES)
            if place % 4 == 3:
                each = predictor.predict(round(1e9 * (start_s[place] + step_s)))
                found.append((number, None if each.period_s is None else each.period_s.value))
    right = [value is not None and abs(value / period - 1) < 0.02 for number, value in found if number >= 5]
    assert np.mean(right) > 0.8


@pytest.mark.slow
def test_uneven_period_is_not_replaced_by_another_one_of_the_whole_observation() -> None:
    """Distances vary by 15 %: at times the window shows an unsure period, and the whole observation another one."""
    right = []
    for seed in (5, 7, 9, 11):
        rng = np.random.default_rng(seed)
        start_s = np.cumsum(10.0 * np.maximum(rng.normal(1, 0.15, 260), 0.3))
        predictor = Predictor("job")
        predictor.update(make_batch(1, {"start": 0}), TYPES)
        for number, at_s in enumerate(start_s):
            columns = {"start": round(1e9 * at_s) + 125_000_000 * np.arange(8), "duration": 125_000_000, "bytes": 10**7}
            predictor.update(make_batch(8, columns | {"kind": int(Kind.WRITE)}), TYPES)
            found = predictor.predict(round(1e9 * (at_s + 1.05)))
            if number >= 20:
                sure = found.confidence >= TUNING.tolerances.min_confidence
                right.append(sure and found.period_s is not None and abs(found.period_s.value / 10 - 1) < 0.05)
    assert np.mean(right) > 0.85
