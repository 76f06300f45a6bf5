"""A job without a period is analysed less often, and a period that begins late is found."""

from __future__ import annotations

import numpy as np
import pytest
from iotide.analyzers.online.predictor import Predictor
from iotide.events import Kind, make_batch
from iotide.results.prediction import Prediction
from support.jobs.periodic_jobs import TYPES, UNIX_S


def _predictions(starts_s: np.ndarray) -> list[Prediction]:
    """Predict after each second of a job that writes 64 requests at each of these times."""
    predictor, predictions, fed = Predictor("job"), [], 0
    for now in range(1, int(starts_s[-1]) + 2):
        due = int(np.searchsorted(starts_s, now))
        start = ((UNIX_S + np.repeat(starts_s[fed:due], 64)) * 1e9).astype(np.int64)
        columns = {"start": start, "duration": 10**6, "bytes": 1 << 20, "kind": int(Kind.WRITE)}
        predictor.update(make_batch(len(start), columns), TYPES)
        predictions.append(predictor.predict(round(UNIX_S + now) * 10**9))
        fed = due
    return predictions


@pytest.mark.slow
def test_searches_of_an_aperiodic_job_become_rare() -> None:
    starts = np.cumsum(np.random.default_rng(7).lognormal(1.0, 1.5, 100))
    late = [row for row in _predictions(starts)[200:] if row.period_s is None]
    assert len(late) > 100
    assert len({row.window.end_s for row in late}) < len(late) / 2


@pytest.mark.slow
def test_a_period_that_begins_late_is_found() -> None:
    before = np.cumsum(np.random.default_rng(7).lognormal(1.0, 1.5, 60))
    after = before[-1] + 5.0 * np.arange(1, 25)
    found = [row for row in _predictions(np.concatenate([before, after])) if row.made_at_s > UNIX_S + after[12]]
    near = [row for row in found if row.period_s is not None and abs(row.period_s.value / 5.0 - 1) < 0.02]
    assert len(near) > 0.8 * len(found)
