from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.file_groups import READS, WRITES
from iotide.analyzers.offline.trace import detect
from iotide.analyzers.online.predictor import Predictor
from iotide.analyzers.settings import DetectSettings
from iotide.events import ConfigError, EventBatch, empty_batch, make_batch
from iotide.results.prediction import Prediction
from support.jobs.batches import batches
from support.jobs.changing_period import changing_job, predictions_during
from support.jobs.periodic_jobs import TYPES, UNIX_S, Program, checkpointing


def online(program: Program, predictor: Predictor, *, until_s: float, every_s: float = 1.0) -> list[Prediction]:
    """Feed a program's events in order and predict every second."""
    begin = program.batch.start[0] / 1e9
    predictions, since = [], 0.0
    for now in np.arange(begin + every_s, begin + until_s, every_s):
        predictor.update(program.until(now, since), TYPES)
        predictions.append(predictor.predict(int(now * 1e9)))
        since = now
    return predictions


@pytest.mark.parametrize("period_s", [1.5, 2.2, 3.0])
@pytest.mark.parametrize("seed", range(3))
def test_period_is_right_within_five_percent_after_five_phases(period_s: float, seed: int) -> None:
    program = checkpointing(period_s=period_s, jitter=0.03, start_up=True, background=True, seed=seed)
    predictions = online(program, Predictor("job"), until_s=0.7 + 12 * period_s)
    seen = [int(np.sum(program.starts_s < row.made_at_s)) for row in predictions]
    judged = [row for row, phases in zip(predictions, seen, strict=True) if phases >= 5]
    assert len(judged) > 8
    for row in judged:
        assert row.period_s is not None, row.made_at_s
        recent = np.diff(program.starts_s[program.starts_s < row.made_at_s])
        near = [recent[-k:].mean() for k in range(2, len(recent) + 1)]
        assert min(abs(row.period_s.value / truth - 1) for truth in [program.period_s, *near]) < 0.03
        assert abs(row.period_s.value / program.period_s - 1) < 0.06
    assert abs(judged[-1].period_s.value / program.period_s - 1) < 0.05  # type: ignore[union-attr]
    assert judged[-1].confidence > 0.8


def test_next_phase_is_predicted_before_it_comes() -> None:
    program = checkpointing(period_s=2.0, jitter=0.02, phases=16, seed=4)
    errors = []
    for row in online(program, Predictor("job"), until_s=28.0):
        coming = program.starts_s[program.starts_s > row.made_at_s]
        if row.next_phase is not None and len(coming):
            assert row.next_phase.start_s.low >= row.made_at_s
            assert row.next_phase.start_s.value >= row.made_at_s
            errors.append(abs(row.next_phase.start_s.value - coming[0]))
            assert row.next_phase.volume_bytes.value == pytest.approx(256 * 65536, rel=0.1)
    assert len(errors) > 15
    assert np.median(errors) < 0.1


def test_window_is_cut_to_three_periods_after_three_hits_and_comes_back_after_a_miss() -> None:
    program = checkpointing(period_s=2.0, phases=12)
    predictor = Predictor("job")
    rows = online(program, predictor, until_s=24.0)
    found = [row.period_s is not None for row in rows]
    first = found.index(True)
    assert found[first : first + 4] == [True] * 4
    assert [row.window.adapted for row in rows[first : first + 4]] == [False, False, False, True]
    cut = rows[first + 3].window
    assert cut.end_s - cut.start_s == pytest.approx(6.0, abs=0.2)
    now = int(rows[-1].made_at_s * 1e9)
    assert predictor.predict(now + 40 * 10**9).period_s is None  # silence
    back = predictor.predict(now + 41 * 10**9).window
    assert not back.adapted
    assert back.end_s - back.start_s > 60


def test_whole_observation_can_be_asked_for_and_changes_nothing() -> None:
    program = checkpointing(period_s=2.0, phases=12)
    predictor = Predictor("job")
    last = online(program, predictor, until_s=24.0)[-1]
    assert last.window.adapted
    now = int(last.made_at_s * 1e9)
    whole = predictor.predict(now, whole=True)
    assert not whole.window.adapted
    assert whole.window.samples > 200
    assert predictor.predict(now).window == last.window


def test_window_reaches_from_the_first_event_of_any_kind_until_now() -> None:
    predictor = Predictor("job")
    predictor.update(make_batch(1, {"start": 5 * 10**9}), TYPES)
    predictor.update(make_batch(1, {"start": 9 * 10**9, "bytes": 8, "kind": 8}), TYPES)
    window = predictor.predict(20 * 10**9).window
    assert (window.start_s, window.end_s) == (5.0, 20.0)


def test_only_bytes_that_count_change_a_job() -> None:
    predictor = Predictor("job")
    pipe = np.array([0, READS | WRITES], np.uint8)
    predictor.update(empty_batch(), TYPES)
    predictor.update(make_batch(1, {"start": 10**9, "bytes": 8, "kind": 8, "file": 1}), pipe)
    assert not predictor.changed
    predictor.update(make_batch(1, {"start": 10**9, "bytes": 8, "kind": 8, "file": 1}), TYPES)
    assert predictor.changed
    version = predictor.version
    predictor.predict(2 * 10**9)
    assert not predictor.changed
    assert predictor.version == version


def test_modes_look_at_their_direction_only() -> None:
    program = checkpointing(period_s=2.0, start_up=True)
    volumes = {}
    for mode in ("read", "write", "both"):
        predictor = Predictor("job", DetectSettings.model_validate({"mode": mode}))
        predictor.update(program.batch, TYPES)
        row = predictor.predict(int(program.batch.end[-1]))
        volumes[mode] = row.period_s is not None
        assert row.mode == mode
    assert volumes == {"read": False, "write": True, "both": True}


def test_series_has_reads_and_writes_apart() -> None:
    predictor = Predictor("job")
    predictor.update(make_batch(2, {"start": np.array([0, 10**9]), "bytes": 50, "kind": np.array([7, 8])}), TYPES)
    series = predictor.series(0, 2 * 10**9)
    assert series.bin_s == 0.01
    assert len(series.read) == len(series.written) == 200
    assert series.read[0] == series.written[100] == pytest.approx(5000)
    assert sum(series.read) == sum(series.written) == pytest.approx(5000)


@pytest.mark.slow
@given(st.lists(st.integers(0, 3000), max_size=6), st.booleans())
@settings(deadline=None, max_examples=25)
def test_batching_does_not_change_the_answer(cuts: list[int], shuffled: bool) -> None:
    program = checkpointing(period_s=2.0, jitter=0.05, seed=9)
    now = int(program.batch.end[-1])
    whole = Predictor("job")
    whole.update(program.batch, TYPES)
    parts = Predictor("job")
    edges = sorted({0, len(program.batch), *cuts})
    slices = [slice(low, high) for low, high in itertools.pairwise(edges)]
    for part in slices[::-1] if shuffled else slices:
        parts.update(program.batch.select(part), TYPES)
    one, other = whole.predict(now), parts.predict(now)
    assert one.period_s is not None
    assert other.period_s is not None
    assert other.period_s.value == pytest.approx(one.period_s.value)
    assert other.confidence == pytest.approx(one.confidence)


def test_snapshot_goes_on_as_the_original() -> None:
    program = checkpointing(period_s=2.0, jitter=0.05, seed=2)
    predictor = Predictor("job")
    middle = UNIX_S + 15
    online(program, predictor, until_s=15.0)
    copy = pickle.loads(pickle.dumps(predictor))
    for each in (predictor, copy):
        each.update(program.until(1e12, middle), TYPES)
    now = int(program.batch.end[-1])
    assert copy.predict(now) == predictor.predict(now)


def test_memory_and_window_are_bounded_by_the_ring() -> None:
    predictor = Predictor("job", DetectSettings(sampling_frequency_hz=10, ring_bins=300))
    for hour in range(3):
        program = checkpointing(period_s=2.0, zero_s=UNIX_S + 100 * hour, phases=40)
        predictor.update(program.batch, TYPES)
    assert len(pickle.dumps(predictor)) < 12_000
    row = predictor.predict(int(program.batch.end[-1]), whole=True)
    assert row.window.samples <= 300
    assert row.period_s is not None
    assert row.period_s.value == pytest.approx(2.0, rel=0.02)


def test_period_that_changes_is_followed() -> None:
    first = checkpointing(period_s=1.5, phases=12)
    second = checkpointing(period_s=3.0, phases=10, zero_s=first.starts_s[-1] + 1.5 - 0.7)
    predictor = Predictor("job")
    online(first, predictor, until_s=18.0)
    rows = online(second, predictor, until_s=28.0)
    assert rows[-1].period_s is not None
    assert rows[-1].period_s.value == pytest.approx(3.0, rel=0.05)


def test_clock_ahead_of_now_moves_the_window_along() -> None:
    program = checkpointing(period_s=2.0)
    predictor = Predictor("job")
    predictor.update(program.batch, TYPES)
    row = predictor.predict(int(program.batch.start[0]))
    assert row.period_s is not None
    assert row.window.end_s == pytest.approx(program.batch.end[-1] / 1e9, abs=0.2)


def test_points_cannot_be_sampled_online() -> None:
    with pytest.raises(ConfigError, match="finished trace"):
        Predictor("job", DetectSettings(sampling="point"))


def test_job_without_data_has_no_period() -> None:
    row = Predictor("job").predict(int(UNIX_S * 1e9))
    assert row.period_s is None
    assert row.window.samples == 0
    assert row.dominant == []


@pytest.mark.parametrize("zero_s", [0.0, UNIX_S])
@pytest.mark.parametrize("method", ["tide", "reference"])
def test_finished_trace_is_detected_on_any_clock(zero_s: float, method: str) -> None:
    program = checkpointing(period_s=2.5, zero_s=zero_s)
    row = detect([(program.batch, TYPES)], DetectSettings.model_validate({"method": method}), "trace")
    assert row.period_s is not None
    assert row.period_s.value == pytest.approx(2.5, rel=0.01 if method == "tide" else 0.1)
    assert row.made_at_s == pytest.approx(program.batch.end[-1] / 1e9, abs=0.1)
    assert row.scores is not None
    assert row.scores.periodicity > 0.9


def test_trace_of_many_streams_is_one_signal() -> None:
    program = checkpointing(period_s=2.5, zero_s=0.0)
    halves = [program.batch.select(slice(k, None, 2)) for k in range(2)]
    row = detect([(half, TYPES) for half in halves], DetectSettings(), "trace")
    assert row.period_s is not None
    assert row.period_s.value == pytest.approx(2.5, rel=0.01)


def test_stray_stamp_does_not_hide_the_period_of_a_trace() -> None:
    program = checkpointing(period_s=2.5)
    stray = make_batch(1, {"start": 2**61, "bytes": 10, "kind": 8})
    settings = DetectSettings()
    row = detect([(program.batch, TYPES), (stray, TYPES)], settings, "trace")
    assert row.period_s is not None
    assert row.period_s.value == pytest.approx(2.5, rel=0.01)


def test_point_samples_of_an_endless_trace_are_refused() -> None:
    batch = make_batch(2, {"start": np.array([0, 2**60]), "duration": 5, "bytes": 1, "kind": 8})
    with pytest.raises(ConfigError, match="lower the sampling frequency"):
        detect([(batch, TYPES)], DetectSettings(sampling="point"), "trace")


@pytest.mark.slow
@pytest.mark.parametrize(("frequency_hz", "bins"), [(10.0, 500), (None, 2048)])
@given(parts=st.lists(batches(), max_size=4), now_ns=st.integers(0, 2**62), known=st.booleans())
@settings(deadline=None, max_examples=40)
def test_any_valid_events_are_answered(
    frequency_hz: float | None, bins: int, parts: list[EventBatch], now_ns: int, known: bool
) -> None:
    for window in ("hits", "change", "flushes"):
        values = {"sampling_frequency_hz": frequency_hz, "ring_bins": 500, "window": window}
        predictor = Predictor("job", DetectSettings.model_validate(values))
        for part in parts:
            predictor.update(part, TYPES, now_ns if known else None)
        predictor.flush()
        for _ in range(4):
            row = predictor.predict(now_ns)
            assert 0 <= row.confidence <= 1
            assert row.window.samples <= bins
        assert predictor.predict(now_ns, whole=True).window.samples <= bins
        series = predictor.series(0, now_ns)
        assert len(series.read) == len(series.written) <= bins
    for method in ("tide", "reference"):
        chosen = DetectSettings.model_validate(
            {"method": method, "trace_bins": 1000, "sampling_frequency_hz": frequency_hz}
        )
        assert detect([(part, TYPES) for part in parts], chosen, "trace").window.samples <= 1000


def test_stray_stamp_from_long_ago_does_not_hide_the_period() -> None:
    program = checkpointing(period_s=2.0, phases=20)
    predictor = Predictor("job")
    predictor.update(make_batch(1, {"start": 10**9, "bytes": 8, "kind": 8}), TYPES)
    rows = online(program, predictor, until_s=36.0)
    assert rows[-1].period_s is not None
    assert rows[-1].period_s.value == pytest.approx(2.0, rel=0.02)


def settled(period_s: float = 40.0) -> tuple[Predictor, Program, float]:
    """A predictor with a certain period, at a time without a due prediction."""
    program = checkpointing(period_s=period_s, burst_s=2.0, phases=20)
    predictor = Predictor("job")
    now_s = program.starts_s[15] + 0.4 * period_s
    predictor.update(program.until(now_s), TYPES)
    predictor.predict(int((now_s - period_s / 5) * 1e9))
    return predictor, program, now_s


def test_sure_prediction_is_repeated_while_nothing_can_have_changed() -> None:
    predictor, _, now_s = settled()
    first = predictor.predict(int(now_s * 1e9))
    again = predictor.predict(int((now_s + 1) * 1e9))
    assert first.confidence > 0.9
    assert again.made_at_s == pytest.approx(now_s + 1)
    assert again.window == first.window
    assert again.next_phase is not None
    assert again.next_phase.start_s.low >= again.made_at_s or again.next_phase == first.next_phase
    later = predictor.predict(int((now_s + 8) * 1e9))
    assert later.window.end_s > first.window.end_s


@pytest.mark.parametrize("what", ["resumed", "late"])
def test_new_phase_and_late_data_are_looked_at_at_once(what: str) -> None:
    predictor, program, now_s = settled()
    first = predictor.predict(int(now_s * 1e9))
    at = now_s + 0.5 if what == "resumed" else program.starts_s[3] + 10
    row = {"start": int(at * 1e9), "duration": 10**8, "bytes": 10**6, "kind": int(program.batch.kind[0])}
    predictor.update(make_batch(1, row), TYPES)
    assert predictor.predict(int((now_s + 1) * 1e9)).window.end_s > first.window.end_s


def test_phase_of_which_only_the_begin_has_come_in_makes_the_next_one_no_smaller() -> None:
    program = checkpointing(period_s=2.0, phases=7, burst_s=0.2)
    predictor = Predictor("job")
    last_s = float(program.starts_s[-1])
    predictor.update(program.until(last_s + 0.1), TYPES)  # half a phase; the rest has not arrived yet
    phase = predictor.predict(round((last_s + 0.3) * 1e9)).next_phase
    assert phase is not None
    assert phase.volume_bytes.value == pytest.approx(256 * 65536, rel=1e-6)
    assert phase.duration_s.value == pytest.approx(0.2, rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize(("period_s", "silence_s"), [(1.0, 60.0), (10.0, 2000.0), (0.2, 30.0)])
def test_period_is_known_again_with_the_second_phase_after_a_silence(period_s: float, silence_s: float) -> None:
    before, after = (
        checkpointing(period_s=period_s, phases=15, burst_s=period_s / 20, zero_s=zero_s, start_up=False)
        for zero_s in (UNIX_S, UNIX_S + 15 * period_s + silence_s)
    )
    predictor = Predictor("job")
    since_s = UNIX_S
    for now_s in np.arange(UNIX_S, after.starts_s[-1] + period_s / 2, period_s / 2):
        for part in (before, after):
            predictor.update(part.until(now_s, since_s), TYPES)
        since_s = now_s
        row = predictor.predict(round(now_s * 1e9))
        seen = int((after.starts_s < now_s).sum())
        if seen:  # no other period, such as the time since the first phase before the pause
            assert row.period_s is None or row.period_s.value == pytest.approx(period_s, rel=0.05)
        if seen >= 3:
            assert row.period_s is not None
        if seen >= 6:
            assert row.confidence > 0.9
    whole = predictor.predict(round(now_s * 1e9), whole=True)
    assert whole.period_s is not None
    assert whole.period_s.value == pytest.approx(period_s, rel=0.05)
    assert whole.confidence > 0.9


def test_last_word_tells_the_period_before_and_scores_the_present_one() -> None:
    # the second half lasts longer than the window of the finest bins
    program = changing_job(2.0, 1.0, phases=(14, 24), burst=0.05)
    predictor = Predictor("job")
    rows = predictions_during(predictor, program, 0.5)
    whole = predictor.predict(round(rows[-1].made_at_s * 1e9), whole=True)
    assert whole.period_s is not None
    assert whole.period_s.value == pytest.approx(1.0, rel=0.01)
    (earlier,) = (other for other in whole.others if other.relation == "earlier")
    assert earlier.period_s.value == pytest.approx(2.0, rel=0.01)
    assert earlier.phases >= 13
    assert whole.scores is not None
    assert whole.scores.bytes_per_phase == pytest.approx(32 << 20, rel=0.05)
