"""Replay of a finished trace as if it were live."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from iotide.analyzers.offline.phase_signal import phases_of, signal_of
from iotide.analyzers.offline.plot_data import panels_of, replay_of
from iotide.analyzers.offline.replay import (
    MAX_MOMENTS,
    evaluate_predictions,
    in_order,
    prediction_times,
    predictions_at,
    span_of,
)
from iotide.analyzers.offline.trace import detect
from iotide.analyzers.online.predictor import Predictor
from iotide.analyzers.settings import DetectSettings
from iotide.cli.traces.ordered_columns import OrderedColumns
from iotide.events import ConfigError, EventBatch, Kind, concatenate, empty_batch, make_batch
from iotide.results.traces.plot_data import PhaseColumns
from msgspec.structs import replace
from support.jobs.periodic_jobs import TYPES, Program, checkpointing
from support.jobs.result_factories import around, make_prediction

SETTINGS = DetectSettings()


def shuffled(batch: EventBatch, parts: int = 3, seed: int = 1) -> list[tuple[EventBatch, np.ndarray]]:
    rows = np.random.default_rng(seed).permutation(len(batch))
    return [(batch.select(np.sort(part)), TYPES) for part in np.array_split(rows, parts)]


def phases_at(*starts_s: float) -> PhaseColumns:
    start = np.array(starts_s)
    return PhaseColumns(start, start + 0.5, np.full(len(start), 1e6))


def with_start(made_at_s: float, low: float, value: float, high: float):  # type: ignore[no-untyped-def]
    made = make_prediction(made_at_s=made_at_s)
    assert made.next_phase is not None
    start = around(value).model_copy(update={"low": low, "high": high})
    return made.model_copy(update={"next_phase": made.next_phase.model_copy(update={"start_s": start})})


def test_replay_equals_a_manually_driven_predictor() -> None:
    program = checkpointing(phases=9, jitter=0.05, start_up=True, background=True)
    moments = np.rint((program.starts_s + 0.4) * 1e9).astype(np.int64)
    replayed = predictions_at(in_order(shuffled(program.batch)), SETTINGS, "job", moments)
    predictor = Predictor("job", SETTINGS)
    since = 0.0
    for moment, found in zip(moments.tolist(), replayed, strict=True):
        predictor.update(program.until(moment / 1e9, since), TYPES)
        since = moment / 1e9
        by_hand = predictor.predict(moment)
        assert found.window == by_hand.window
        assert (found.period_s is None) == (by_hand.period_s is None)
        if found.period_s and by_hand.period_s:
            assert found.period_s.value == pytest.approx(by_hand.period_s.value, rel=1e-6)


def test_nothing_is_fed_before_it_ended() -> None:
    batch = make_batch(2, {"start": [0, 10**9], "duration": [5 * 10**9, 10**8], "bytes": 100, "kind": int(Kind.WRITE)})
    events = in_order([(batch, TYPES)])
    (whole,) = events
    assert whole.end.tolist() == [11 * 10**8, 5 * 10**9]
    early, late = predictions_at(events, SETTINGS, "job", np.array([2 * 10**9, 6 * 10**9]))
    assert early.window.start_s == 1.0
    assert late.window.start_s == 0.0


def test_events_that_do_not_count_still_start_the_observation() -> None:
    program = checkpointing(phases=4)
    opened = make_batch(
        3, {"start": program.batch.start.min() - np.array([10**9, 10**9 - 5, 100]), "kind": int(Kind.CREATE)}
    )
    (events,) = in_order([(program.batch, TYPES), (opened, TYPES)])
    assert len(events) == len(program.batch) + 1
    assert int(events.start.min()) == int(opened.start.min())


@pytest.mark.slow
def test_events_that_wait_in_a_file_are_those_in_memory() -> None:
    program = checkpointing(phases=12, jitter=0.05, background=True)
    opened = make_batch(40, {"start": program.batch.start.min() - np.arange(40) * 10**7, "kind": int(Kind.CREATE)})
    batches = [*shuffled(program.batch, 7), (opened, TYPES)]
    in_a_file = partial(OrderedColumns, most_held=len(program.batch) // 3)
    (whole,) = in_order(batches)
    pieces = concatenate(list(in_order(batches, in_a_file)))
    assert {name: column.tolist() for name, column in pieces.columns().items()} == {
        name: column.tolist() for name, column in whole.columns().items()
    }
    prediction = detect(batches, SETTINGS, "job")
    expected = replay_of(batches, SETTINGS, prediction)
    assert replay_of(batches, SETTINGS, prediction, ordering=in_a_file) == expected
    assert expected.answered


@pytest.mark.parametrize("length", [1, 5, 64])
def test_predictions_do_not_depend_on_how_events_are_cut(length: int) -> None:
    program = checkpointing(phases=6, jitter=0.05)
    (whole,) = in_order([(program.batch, TYPES)])
    pieces = [whole.select(slice(at, at + length)) for at in range(0, len(whole), length)]
    moments = np.rint((program.starts_s + 0.4) * 1e9).astype(np.int64)
    assert span_of(pieces) == span_of([whole])
    cut, expected = (predictions_at(events, SETTINGS, "job", moments) for events in (pieces, [whole]))
    assert [row.window for row in cut] == [row.window for row in expected]
    for one, other in zip(cut, expected, strict=True):
        assert (one.period_s is None) == (other.period_s is None)
        if one.period_s is not None and other.period_s is not None:
            assert one.period_s.value == pytest.approx(other.period_s.value, rel=1e-6)


def test_moments_follow_the_phases_and_are_bounded() -> None:
    events = make_batch(2, {"start": [0, 4_000 * 10**9], "bytes": 1, "kind": int(Kind.WRITE)})
    phases = phases_at(*np.arange(0.0, 4000.0, 2.0))
    span = span_of([events])
    moments = prediction_times(span, phases, None, bin_ns=10**8)
    assert len(moments) == MAX_MOMENTS
    assert np.all(np.diff(moments) > 0)
    assert np.allclose(moments[:20] / 1e9, phases.end_s[:20] + 0.1)
    assert moments[-1] / 1e9 == pytest.approx(phases.end_s[-1] + 0.1)
    evenly = prediction_times(span, phases, 0.001, bin_ns=10**8)
    assert len(evenly) <= MAX_MOMENTS
    assert len(set(np.diff(evenly).tolist())) == 1
    assert prediction_times(span, phases_at(), None, bin_ns=10**8)[0] >= 10**9


def test_truth_is_the_first_phase_after_the_prediction() -> None:
    phases = phases_at(1.0, 11.0, 21.0)
    made = [with_start(2.0, 10.0, 12.0, 12.5), with_start(12.0, 20.0, 20.5, 20.9), with_start(22.0, 30.0, 31.0, 32.0)]
    result = evaluate_predictions("job", made, phases, 10.0)
    assert [step.phases_seen for step in result.steps] == [1, 2, 3]
    assert [step.came_s for step in result.steps] == [11.0, 21.0, None]
    assert [step.error for step in result.steps] == [pytest.approx(0.1), pytest.approx(-0.05), None]
    assert [step.covered for step in result.steps] == [True, False, None]
    assert result.compared == 2
    assert result.coverage == 0.5
    assert result.median_error == pytest.approx(0.075)
    assert result.phases_until_answer == 1


def test_unanswered_predictions_are_not_compared() -> None:
    made = [make_prediction(made_at_s=2.0, period_s=None), with_start(12.0, 20.0, 21.0, 22.0)]
    result = evaluate_predictions("job", made, phases_at(1.0, 11.0, 21.0), 10.0)
    assert result.answered == result.compared == 1
    assert result.phases_until_answer == 2
    nothing = evaluate_predictions("job", made[:1], phases_at(), None)
    assert nothing.median_error is nothing.coverage is nothing.phases_until_answer is None


def replayed(program: Program):  # type: ignore[no-untyped-def]
    batches = shuffled(program.batch)
    prediction = detect(batches, SETTINGS, "job")
    return prediction, replay_of(batches, SETTINGS, prediction)


def test_steady_period_is_foreseen_and_covered() -> None:
    prediction, result = replayed(checkpointing(phases=20))
    assert prediction.period_s is not None
    assert result.phases == 20
    assert result.median_error is not None
    assert result.median_error < 0.02
    assert result.coverage == 1.0
    assert result.phases_until_answer is not None
    assert result.phases_until_answer <= 4


def test_phases_are_those_of_the_program() -> None:
    program = checkpointing(phases=15, jitter=0.1, background=True)
    batches = shuffled(program.batch)
    prediction = detect(batches, SETTINGS, "job")
    signal = signal_of(batches, SETTINGS, prediction)
    phases = phases_of(signal, prediction)
    assert np.abs(phases.start_s - program.starts_s).max() < 0.15
    assert phases.volume_bytes == pytest.approx(np.full(15, 256 * 65536), rel=0.01)
    assert float(signal.total.sum()) * signal.bin_s == pytest.approx(float(program.batch.bytes.sum()))


def test_reads_and_writes_are_kept_apart_and_the_mode_is_heeded() -> None:
    program = checkpointing(phases=6, start_up=True)
    batches = [(program.batch, TYPES)]
    writes = DetectSettings(mode="write")
    both = signal_of(batches, SETTINGS, detect(batches, SETTINGS, "job"))
    only = signal_of(batches, writes, detect(batches, writes, "job"))
    assert both.read.sum() > 0
    assert only.read.sum() == 0
    assert only.written.sum() == pytest.approx(both.written.sum())


def test_empty_trace_has_empty_panels() -> None:
    batches = [(empty_batch(), TYPES)]
    panels = panels_of(batches, SETTINGS, detect(batches, SETTINGS, "job"))
    assert panels.replay is not None
    assert panels.replay.steps == []
    assert len(panels.phases) == 0


def test_point_sampling_has_no_replay_and_panels_report_it() -> None:
    batches = [(checkpointing().batch, TYPES)]
    settings = DetectSettings(method="reference", sampling="point")
    prediction = detect(batches, settings, "job")
    with pytest.raises(ConfigError, match="finished trace"):
        replay_of(batches, settings, prediction)
    panels = panels_of(batches, settings, prediction)
    assert panels.replay is None
    assert "No replay" in panels.notes[0]


@pytest.mark.slow
def test_spectrum_marks_candidates_apart_from_harmonics() -> None:
    at = np.arange(600)
    seconds = 1.0 + 0.5 * np.cos(2 * np.pi * at / 20) + 0.48 * np.cos(2 * np.pi * at / 10)
    batch = make_batch(
        600, {"start": at * 10**8, "duration": 10**8, "bytes": np.rint(seconds * 1e6), "kind": int(Kind.WRITE)}
    )
    batch = replace(batch, bytes=batch.bytes.astype(np.int64))
    at_10_hz = DetectSettings(sampling_frequency_hz=10)
    spectrum = panels_of([(batch, TYPES)], at_10_hz, detect([(batch, TYPES)], at_10_hz, "job")).spectrum
    assert spectrum.frequency_hz[spectrum.candidates] == pytest.approx([0.5])
    assert spectrum.frequency_hz[spectrum.harmonics] == pytest.approx([1.0])
    assert spectrum.power[spectrum.candidates].min() > spectrum.threshold
    assert spectrum.autocorrelation[0] == pytest.approx(1.0)
    assert spectrum.autocorrelation[20] > 0.9


def test_replay_gives_up_a_period_within_phases_when_they_are_over() -> None:
    begins = 300.0 * np.arange(1, 16)[:, None] + 3.75 * np.arange(4)[None, :]
    start = np.rint(begins.ravel() * 1e9).astype(np.int64)
    columns = {"start": start, "duration": 3_300_000_000, "kind": int(Kind.WRITE), "bytes": 10**6}
    batches = [(make_batch(len(start), columns), TYPES)]
    replayed = replay_of(batches, SETTINGS, detect(batches, SETTINGS, "job"))
    assert replayed.phases == 15
    assert replayed.median_error is not None
    assert replayed.median_error < 0.05
    late = [step.prediction.period_s for step in replayed.steps[4:]]
    assert [None if period is None else round(period.value, -1) for period in late] == [300.0] * len(late)
