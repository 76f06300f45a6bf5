"""Checkpoints beside the lines of a log: the period is that of the bytes, however even the lines are."""

from __future__ import annotations

import numpy as np
import pytest
from iotide.analyzers.online.predictor import Predictor
from iotide.events import Kind, make_batch
from support.jobs.periodic_jobs import TYPES, UNIX_S

_PHASES = 16


def _wrong_periods(seed: int) -> list[float]:
    """Predicts a job of checkpoints and of even lines of a log; returns the periods that are not the checkpoints'."""
    rng = np.random.default_rng(seed)
    period_s, per_period = float(np.exp(rng.uniform(1, 5))), float(rng.uniform(8, 40))
    checkpoints = period_s * np.cumsum(rng.normal(1, 0.01, _PHASES))
    lines = period_s / per_period * np.cumsum(rng.normal(1, 0.02, int(_PHASES * per_period)))
    parts = 0.05 * period_s * np.linspace(0, 1, 16, endpoint=False)
    start_s = np.concatenate([(checkpoints[:, None] + parts).ravel(), lines])
    columns = {
        "start": np.rint((UNIX_S + start_s) * 1e9).astype(np.int64),
        "duration": np.repeat([round(3e6 * period_s), 20_000], [16 * _PHASES, len(lines)]),
        "bytes": np.repeat([4_000_000, 200], [16 * _PHASES, len(lines)]),
    }
    end_s = start_s + columns["duration"] / 1e9
    predictor, seen_s, wrong = Predictor("job"), 0.0, []
    for moment in np.sort(rng.uniform(4.5, _PHASES, 25)) * period_s:
        rows = (end_s > seen_s) & (end_s <= moment)
        seen_s = moment
        part = {name: column[rows] for name, column in columns.items()}
        predictor.update(make_batch(int(rows.sum()), {**part, "kind": int(Kind.WRITE)}), TYPES)
        found = predictor.predict(round((UNIX_S + moment) * 1e9))
        if found.period_s is not None and found.confidence >= 0.5 and abs(found.period_s.value / period_s - 1) > 0.1:
            wrong.append(found.period_s.value / period_s)
    return wrong


@pytest.mark.parametrize("seed", [4, 10, 13, 17])
def test_lines_of_a_log_are_not_the_period(seed: int) -> None:
    assert _wrong_periods(seed) == []


@pytest.mark.parametrize("bursts_s", [[0.0], [0.0, 9.0], [0.0, 13.0, 31.0]], ids=["one", "two", "three"])
def test_a_log_after_a_few_large_bursts_is_the_period(bursts_s: list[float]) -> None:
    """The initial data of a job are no period beside which its later I/O is a log."""
    predictor = Predictor("job")
    for at in bursts_s:
        burst = {"start": round((UNIX_S + at) * 1e9), "duration": 10**9, "bytes": 10**10, "kind": int(Kind.READ)}
        predictor.update(make_batch(1, burst), TYPES)
    for number in range(10, 41):
        line = {"start": round((UNIX_S + 4 * number) * 1e9), "duration": 20_000, "bytes": 200, "kind": int(Kind.WRITE)}
        predictor.update(make_batch(1, line), TYPES)
        found = predictor.predict(round((UNIX_S + 4 * number + 0.5) * 1e9))
    assert found.period_s is not None
    assert abs(found.period_s.value / 4 - 1) < 0.05
