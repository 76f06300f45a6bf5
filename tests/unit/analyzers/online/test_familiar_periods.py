"""A period that many predictions found is only measured between searches; changes are still found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from iotide.analyzers.online.job_signal import JobSignal
from iotide.analyzers.online.predictor import Predictor
from iotide.analyzers.online.resolution_search import ResolutionSearch
from iotide.analyzers.periodicity.tuning import TUNING
from iotide.events import Kind, make_batch
from iotide.results.prediction import Prediction
from support.jobs.periodic_jobs import TYPES, UNIX_S


def _after_each(starts_s: np.ndarray) -> list[Prediction]:
    """Predicts after each phase of 16 requests in 0.8 s."""
    predictor, predictions = Predictor("job"), []
    for start_s in starts_s:
        start = ((UNIX_S + start_s + 0.05 * np.arange(16)) * 1e9).astype(np.int64)
        columns = {"start": start, "duration": 50 * 10**6, "bytes": 1 << 20, "kind": int(Kind.WRITE)}
        predictor.update(make_batch(16, columns), TYPES)
        predictions.append(predictor.predict(round((UNIX_S + start_s + 0.9) * 1e9)))
    return predictions


def _share(predictions: list[Prediction], period_s: float) -> float:
    near = [row.period_s is not None and abs(row.period_s.value / period_s - 1) < 0.1 for row in predictions]
    return sum(near) / len(near)


@pytest.mark.slow
def test_another_period_after_a_familiar_uneven_one_is_found() -> None:
    distance = np.random.default_rng(3).normal(1, 0.1, 72) * np.repeat([5.0, 12.0], [60, 12])
    found = _after_each(np.cumsum(distance))
    assert _share(found[20:60], 5.0) > 0.9
    assert _share(found[65:], 12.0) > 0.8


@pytest.mark.slow
def test_two_familiar_programs_are_followed_side_by_side() -> None:
    starts = np.sort(np.concatenate([5 + 8.0 * np.arange(100), 1 + 13.7 * np.arange(58)]))
    found = _after_each(starts)[60:]
    both = [row for row in found if any(abs(each.period_s.value / 13.7 - 1) < 0.02 for each in row.others)]
    assert _share(found, 8.0) > 0.9
    assert len(both) > 0.9 * len(found)


@pytest.mark.slow
@pytest.mark.parametrize("ratio", [3.5, 4, 6])
@pytest.mark.parametrize("jitter", [0.0, 0.02, 0.05])
def test_a_far_shorter_period_is_found_although_its_pauses_were_gaps_within_a_phase(
    ratio: float, jitter: float
) -> None:
    distance = np.random.default_rng(3).normal(1, jitter, 38) * np.repeat([40.0, 40.0 / ratio], [30, 8])
    found = _after_each(np.cumsum(distance))
    assert _share(found[20:30], 40.0) == 1
    assert _share(found[-4:], 40.0 / ratio) == 1


@pytest.mark.parametrize("periods", [3.5, 12, 20, 22.4, 23, 23.5, 24, 26])
def test_a_familiar_period_is_known_two_phases_after_a_pause_of_any_length(periods: float) -> None:
    found = _after_each(np.cumsum([*np.full(30, 10.0), 10 * periods, 10.0, 10.0]))
    assert _share(found[20:30], 10.0) == 1
    assert _share(found[-2:], 10.0) == 1
    assert found[30].period_s is None or found[30].period_s.value < 30


def test_searches_for_alternatives_of_an_unsure_period_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[float] = []
    estimate = JobSignal.estimate

    def counted(signal: JobSignal, *arguments: Any, **named: Any) -> Any:
        expected_s, followed = [*arguments, *[0] * 7][4:7:2]
        if expected_s and not followed:
            searched.append(expected_s)
        return estimate(signal, *arguments, **named)

    monkeypatch.setattr(JobSignal, "estimate", counted)
    rng = np.random.default_rng(4)
    others = rng.uniform(0, 1500, 75)
    predictions = _after_each(np.sort(np.append(10.0 * np.arange(150), others)))
    live = TUNING.live
    most = live.max_earned_searches + len(predictions) / live.predictions_per_new_search
    assert len(predictions) == 225
    assert live.max_earned_searches < len(searched) <= most


@pytest.mark.parametrize("jitter", [0.0, 0.02, 0.05])
@pytest.mark.parametrize(("before_s", "after_s"), [(30.0, 12.0), (25.0, 10.0), (12.0, 30.0), (20.0, 13.0)])
def test_two_intervals_of_a_new_period_are_enough_for_phases_like_those_before(
    jitter: float, before_s: float, after_s: float
) -> None:
    distance = np.random.default_rng(5).normal(1, jitter, 22) * np.repeat([before_s, after_s], [20, 2])
    latest = _after_each(np.cumsum(distance))[-1]
    assert _share([latest], after_s) == 1
    assert latest.next_phase is not None
    assert latest.next_phase.confidence > 0.6


def test_a_state_without_earned_searches_has_those_of_a_new_job() -> None:
    restored = ResolutionSearch.__new__(ResolutionSearch)  # as from a snapshot that lacks the attribute
    assert [restored.spend_search() for _ in range(TUNING.live.max_earned_searches + 1)].count(False) == 1
