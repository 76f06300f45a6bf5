"""One predictor without a sampling frequency finds periods from a twentieth of a second to a day."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from iotide.analyzers.offline.trace import detect
from iotide.analyzers.online.predictor import Predictor
from iotide.analyzers.settings import DetectSettings
from iotide.analyzers.signal.bandwidth import Resolutions
from iotide.events import EventBatch, Kind, make_batch
from iotide.results.prediction import Prediction
from support.jobs.changing_period import Change, changing_job, predictions_during
from support.jobs.periodic_jobs import TYPES, UNIX_S

PERIODS_S = (0.05, 0.2, 1.0, 7.0, 60.0, 900.0, 3600.0, 86_400.0)


def steady(period_s: float, phases: int = 16, jitter: float = 0.03) -> Change:
    return changing_job(period_s, period_s, phases=(phases, 0), jitter=jitter, seed=1)


def writes(at_s: np.ndarray, duration_s: float = 0.002) -> EventBatch:
    start = np.rint((UNIX_S + np.sort(at_s)) * 1e9).astype(np.int64)
    columns = {"start": start, "duration": round(duration_s * 1e9), "bytes": 1 << 20, "kind": int(Kind.WRITE)}
    return make_batch(len(start), columns)


def asked(batch: EventBatch, until_s: float, every_s: float) -> list[Prediction]:
    return predictions_during(Predictor("job"), Change(batch, np.zeros(0), 0.0), every_s)[: int(until_s / every_s)]


def test_levels_reach_from_seconds_to_days() -> None:
    chosen = Resolutions.of(DetectSettings())
    assert [chosen.of_span(int(span * 1e9)) for span in (1, 20, 21, 300, 86_400, 3e5, 1e7)] == [0, 0, 1, 2, 7, 7, 8]
    for period_s in (0.4, 3.0, 50.0, 4000.0):
        level = chosen.of_period(period_s)
        assert 32 <= period_s * 1e9 / chosen.length_ns(level) < 128
        assert chosen.of_period(1.2 * period_s, level) in (level, level + 1)
        assert chosen.of_period(8 * period_s, level) > level
        assert chosen.of_period(period_s / 8, level) < level or level == 0


def test_given_frequency_means_one_resolution() -> None:
    assert Resolutions.of(DetectSettings(sampling_frequency_hz=2.0, ring_bins=100)) == Resolutions(500_000_000, 100, 1)
    assert Resolutions.of(DetectSettings(method="reference")).levels == 1


@pytest.mark.slow
@pytest.mark.parametrize("period_s", PERIODS_S)
def test_period_is_found_online_within_five_phases_and_stays(period_s: float) -> None:
    program = steady(period_s)
    rows = predictions_during(Predictor("job"), program, max(period_s / 3, 0.05))
    for row in rows:
        if np.sum(program.starts_s <= row.made_at_s) >= 5:
            assert row.period_s is not None
            assert row.period_s.value == pytest.approx(period_s, rel=0.06)
            assert row.window.samples <= 2048
    assert rows[-1].confidence > 0.9


@pytest.mark.slow
@pytest.mark.parametrize("period_s", [*PERIODS_S, 0.03])
def test_period_of_a_finished_trace_is_found(period_s: float) -> None:
    program = steady(period_s)
    row = detect([(program.batch, TYPES)], DetectSettings(), "trace")
    assert row.period_s is not None
    assert row.period_s.value == pytest.approx(float(np.diff(program.starts_s).mean()), rel=0.005)
    assert row.window.samples <= 2**20


def test_fast_period_of_a_long_trace_is_found_within_the_bound_of_memory() -> None:
    program = steady(1.0, phases=3000)
    row = detect([(program.batch, TYPES)], DetectSettings(trace_bins=40_000), "trace")
    assert row.period_s is not None
    assert row.period_s.value == pytest.approx(1.0, rel=0.01)
    assert row.window.samples <= 40_000


@pytest.mark.slow
def test_fast_period_after_hours_of_other_work_is_found() -> None:
    for period_s, within in ((2.0, 12), (30.0, 8)):
        program = steady(period_s, phases=30)
        predictor = Predictor("job")
        predictor.update(make_batch(1, {"start": round((UNIX_S - 40_000) * 1e9)}), TYPES)
        rows = predictions_during(predictor, program, period_s / 2)
        for row in rows:
            if np.sum(program.starts_s <= row.made_at_s) >= within:
                assert row.period_s is not None
                assert row.period_s.value == pytest.approx(period_s, rel=0.06)


@pytest.mark.slow
def test_writes_within_a_burst_do_not_pass_for_the_period_once_that_is_known() -> None:
    chunks = np.arange(0, 2.0, 0.2)[:, None] + np.linspace(0, 0.1, 10, endpoint=False)
    at = (3.0 + 10.0 * np.arange(15)[:, None] + chunks.ravel()).ravel()
    rows = asked(writes(at), 150.0, 0.7)
    known = [row for row in rows if row.made_at_s > UNIX_S + 35]
    assert len(known) > 100
    for row in known:
        assert row.period_s is not None
        assert row.period_s.value == pytest.approx(10.0, rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize(("before_s", "after_s"), [(0.2, 20.0), (20.0, 0.2), (3.0, 300.0)])
def test_period_of_another_order_is_noticed(before_s: float, after_s: float) -> None:
    program = changing_job(before_s, after_s, phases=(20, max(12, int(40 / after_s))), jitter=0.02)
    rows = predictions_during(Predictor("job"), program, max(before_s / 5, 0.5), max(after_s / 5, 0.5))
    assert rows[-1].period_s is not None
    assert rows[-1].period_s.value == pytest.approx(after_s, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("mean_s", [0.5, 10.0])
def test_random_bursts_are_hardly_ever_called_periodic_at_any_resolution(mean_s: float) -> None:
    sure = made = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        starts = np.cumsum(rng.exponential(mean_s, 40))
        at = (starts[:, None] + np.linspace(0, mean_s / 20, 20, endpoint=False)).ravel()
        rows = asked(writes(at), float(starts[-1]), 0.9 * mean_s)
        sure += sum(row.period_s is not None and row.confidence > 0.5 for row in rows)
        made += len(rows)
    assert made > 200
    assert sure <= 0.02 * made


def test_state_stays_small_over_days() -> None:
    predictor = Predictor("job")
    for day in range(6):
        at = 86_400.0 * day + np.concatenate([np.arange(0, 86_400, 37.0), np.arange(0, 30, 0.01)])
        predictor.update(writes(at), TYPES)
        predictor.predict(round((UNIX_S + 86_400 * (day + 1)) * 1e9))
    assert len(pickle.dumps(predictor)) < 150_000


@pytest.mark.slow
def test_answer_depends_little_on_how_often_it_was_asked_for() -> None:
    program = steady(5.0, phases=30)
    often, seldom = (predictions_during(Predictor("job"), program, every)[-1] for every in (0.5, 5.0))
    assert often.period_s is not None
    assert seldom.period_s is not None
    assert often.period_s.value == pytest.approx(seldom.period_s.value, rel=0.02)


@pytest.mark.slow
def test_trace_without_a_period_shows_the_candidates_of_the_first_look() -> None:
    rng = np.random.default_rng(2)
    row = detect([(writes(rng.uniform(0, 300, 3000)), TYPES)], DetectSettings(), "trace")
    assert row.period_s is None
    assert row.dominant
    assert 500 < row.window.samples <= 2048


@pytest.mark.slow
@pytest.mark.parametrize("distance_s", [0.0013, 0.0037, 0.0123, 0.037, 0.11, 0.5, 1.7])
def test_even_stream_of_requests_has_no_period_but_its_own(distance_s: float) -> None:
    at = np.arange(0, min(4000 * distance_s, 120.0), distance_s)
    rows = asked(writes(at), float(at[-1]), float(at[-1]) / 60)
    wrong = [
        row
        for row in rows
        if row.period_s is not None and row.confidence > 0.5 and abs(row.period_s.value / distance_s - 1) > 0.05
    ]
    assert len(wrong) <= 1, [(row.period_s, row.confidence) for row in wrong]
