"""The last checkpoint before a job is killed, and the lost work."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import click
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.time_limit import Written, time_limit_of
from iotide.cli.common.job_end import end_of_job, parse_end
from iotide.clients.text.prediction_text import prediction_lines, time_limit_text
from iotide.collectors.settings import CollectorSettings
from iotide.collectors.source import Changed, Opened
from iotide.collectors.transport.shipper import Shipper
from iotide.daemon.jobs.job_summary import summary_of
from iotide.daemon.jobs.session import JobSession
from iotide.daemon.settings import AggregatorSettings
from iotide.events import Interner, StreamInfo
from iotide.events.network.wire import Heartbeat, Hello, decode, encode
from iotide.results.base import Estimate
from iotide.results.prediction import Drift, NextPhase, Pattern, Prediction, TimeLimit, Window, WorkShifts
from iotide.results.upcoming import distances_of
from support.servers.running_aggregator import PERIOD_S, periodic_batch

NOW = 1_700_000_000.0
PERIOD, LASTS = 100.0, 20.0


def about(value: float, spread: float = 0.0) -> Estimate:
    return Estimate(value=value, low=value - 1.645 * spread, high=value + 1.645 * spread)


def prediction_of(
    next_in_s: float, *, period_spread: float = 0.0, start_spread: float = 0.0, **facts: object
) -> Prediction:
    made = Prediction(
        job="j",
        made_at_s=NOW,
        mode="both",
        method="tide",
        window=Window(start_s=NOW - 10 * PERIOD, end_s=NOW, samples=1000),
        sampling_frequency_hz=1.0,
        period_s=about(PERIOD, period_spread),
        confidence=1.0,
        dominant=[],
        next_phase=NextPhase(
            confidence=1.0,
            start_s=about(NOW + next_in_s, start_spread),
            duration_s=about(LASTS),
            volume_bytes=about(1e9),
        ),
    )
    return made.model_copy(update=facts)


def written(until_s: float = NOW - 30, share: float = 1.0) -> Written:
    return Written(NOW - 10 * PERIOD, until_s, share)


@pytest.mark.parametrize(
    ("ends_in_s", "ahead", "start_in_s", "lost_s", "cut_off"),
    [
        (270.0, 3, 250.0, 20.0, 0.0),
        (269.0, 2, 150.0, 119.0, 1.0),
        (249.0, 2, 150.0, 99.0, 0.0),
        (75.0, 1, 50.0, 25.0, 0.0),
    ],
)
def test_clockwork_has_its_last_checkpoint_just_before_the_end(
    ends_in_s: float, ahead: int, start_in_s: float, lost_s: float, cut_off: float
) -> None:
    told = time_limit_of(prediction_of(50.0), NOW + ends_in_s + 1e-6, written())
    assert told.last_checkpoint is not None
    assert told.last_checkpoint.ahead == ahead
    assert told.last_checkpoint.start_s.value == pytest.approx(NOW + start_in_s)
    assert told.last_checkpoint.end_s.value == pytest.approx(NOW + start_in_s + LASTS)
    assert told.last_checkpoint.fits == 1.0
    assert told.lost_s is not None
    assert told.lost_s.value == pytest.approx(lost_s, abs=1e-3)
    assert told.cut_off == cut_off
    assert told.saved_at_s == pytest.approx(NOW - 50.0)
    assert told.begin_by_s == pytest.approx(NOW + ends_in_s - LASTS)


def test_checkpoint_under_way_counts_when_it_still_fits() -> None:
    under_way = prediction_of(90.0)
    fits = time_limit_of(under_way, NOW + 11.0, written(NOW))
    assert fits.last_checkpoint is not None
    assert (fits.last_checkpoint.ahead, fits.last_checkpoint.start_s.value) == (0, pytest.approx(NOW - 10.0))
    assert fits.lost_s is not None
    assert fits.lost_s.value == pytest.approx(21.0)
    assert fits.begin_by_s is None
    cut = time_limit_of(under_way, NOW + 9.0, written(NOW))
    assert cut.last_checkpoint is None
    assert cut.cut_off == 1.0
    assert cut.saved_at_s == pytest.approx(NOW - 110.0)
    assert cut.lost_s is not None
    assert cut.lost_s.value == pytest.approx(119.0)


def test_without_a_whole_checkpoint_all_work_is_lost() -> None:
    first = Written(NOW - 30.0, NOW - 30.0, 1.0)
    told = time_limit_of(prediction_of(50.0), NOW + 60.0, first)
    assert told.saved_at_s is None
    assert told.lost_s is not None
    assert told.lost_s.value == pytest.approx(90.0)


def test_periods_that_grow_are_followed() -> None:
    grows = prediction_of(50.0, drift=Drift(period_s=about(PERIOD), per_phase=0.5))
    told = time_limit_of(grows, NOW + 395.0, written())
    assert told.last_checkpoint is not None
    assert told.last_checkpoint.start_s.value == pytest.approx(NOW + 50 + 150)
    assert told.lost_s is not None
    assert told.lost_s.value == pytest.approx(195.0)


def in_shifts(next_in_s: float, left: int | None, **changes: object) -> Prediction:
    """A prediction of shifts of 3 phases, with 400 s from the last start of a shift to the first of the next."""
    shifts = WorkShifts(phases=3, rest_s=about(400.0 - LASTS), seen=4, probability=0.99, left=left)
    return prediction_of(next_in_s, **changes).model_copy(update={"shifts": shifts})


@pytest.mark.parametrize(
    ("left", "ends_in_s", "last_in_s"),
    [
        (2, 395.0, 150.0),
        (2, 580.0, 550.0),
        (3, 395.0, 250.0),
        (1, 445.0, 50.0),
        (1, 575.0, 550.0),
        (None, 395.0, 350.0),
    ],
)
def test_rests_between_shifts_have_no_checkpoints(left: int | None, ends_in_s: float, last_in_s: float) -> None:
    told = time_limit_of(in_shifts(50.0, left), NOW + ends_in_s, written())
    assert told.last_checkpoint is not None
    assert told.last_checkpoint.start_s.value == pytest.approx(NOW + last_in_s)
    assert told.lost_s is not None
    assert told.lost_s.value == pytest.approx(ends_in_s - last_in_s)


def test_work_is_saved_at_the_end_of_the_last_shift_while_the_job_rests() -> None:
    told = time_limit_of(in_shifts(250.0, 3), NOW + 100.0, written(NOW - 150 + LASTS))
    assert told.saved_at_s == pytest.approx(NOW - 150)
    assert told.lost_s is not None
    assert told.lost_s.value == pytest.approx(250.0)


@given(
    st.integers(1, 9),
    st.integers(0, 40),
    st.none() | st.integers(1, 9),
    st.lists(st.floats(1, 500), min_size=2, max_size=9),
)
def test_distances_follow_shifts_or_a_pattern(phases: int, count: int, left: int | None, values: list[float]) -> None:
    prediction = prediction_of(50.0)
    left = None if left is None else min(left, phases)
    shifts = WorkShifts(phases=phases, rest_s=about(380.0), seen=4, probability=0.9, left=left)
    found = distances_of(prediction.model_copy(update={"shifts": shifts}), count)
    assert found is not None
    starts = np.append(0.0, np.cumsum(found.after))
    assert len(found.after) == len(found.rests) == count
    assert set(found.after) <= {PERIOD, 380.0 + LASTS}
    if left is not None:
        in_shift = (np.arange(len(starts)) + phases - left) % phases
        assert [each == 0 for each in in_shift[1:]] == found.rests
        assert (found.before > PERIOD) == (left == phases)
    pattern = Pattern(of="intervals", values=values)
    found = distances_of(prediction.model_copy(update={"patterns": [pattern]}), count)
    assert found is not None
    assert [found.before, *found.after] == [values[at % len(values)] for at in range(count + 1)]


@pytest.mark.parametrize(
    ("prediction", "seen", "ends_in_s", "why"),
    [
        (prediction_of(50.0), written(), -1.0, "passed"),
        (prediction_of(50.0, completeness=0.5), written(), 200.0, "missing"),
        (prediction_of(50.0, confidence=0.4), written(), 200.0, "no period"),
        (prediction_of(50.0, next_phase=None), written(), 200.0, "no period"),
        (prediction_of(50.0), written(share=0.2), 200.0, "no writes"),
        (prediction_of(50.0, mode="read"), written(), 200.0, "no writes"),
    ],
)
def test_unknown_limits_are_reported_with_the_reason_only(
    prediction: Prediction, seen: Written, ends_in_s: float, why: str
) -> None:
    told = time_limit_of(prediction, NOW + ends_in_s, seen)
    assert why in told.unknown
    assert told.model_copy(update={"unknown": ""}) == TimeLimit(ends_at_s=NOW + ends_in_s, left_s=ends_in_s)


def test_far_end_has_no_last_checkpoint_but_what_a_period_costs() -> None:
    told = time_limit_of(prediction_of(50.0), NOW + 1000 * PERIOD, written())
    assert told.last_checkpoint is None
    assert "not known yet" in told.unknown
    assert told.lost_s is not None
    assert told.lost_s.value == pytest.approx(LASTS + PERIOD / 2)


@settings(deadline=None, max_examples=150)
@given(
    next_in_s=st.floats(0, 200),
    ends_in_s=st.floats(0.001, 1e5),
    quiet_s=st.floats(0, 1000),
    spread=st.floats(0, 50),
    confidence=st.floats(0.51, 1),
    growth=st.floats(-0.3, 0.3),
)
def test_reported_values_are_consistent(
    next_in_s: float, ends_in_s: float, quiet_s: float, spread: float, confidence: float, growth: float
) -> None:
    drift = Drift(period_s=about(PERIOD, spread), per_phase=growth) if growth else None
    prediction = prediction_of(next_in_s, start_spread=spread, period_spread=spread / 3, confidence=confidence)
    seen = written(NOW - quiet_s)
    told = time_limit_of(prediction.model_copy(update={"drift": drift}), NOW + ends_in_s, seen)
    assert told.lost_s is not None
    assert 0 <= told.lost_s.low <= told.lost_s.high
    assert told.lost_s.low <= told.lost_s.value <= told.lost_s.high
    assert told.lost_s.high <= max(told.ends_at_s - seen.first_s, 2 * PERIOD) + 1e-6
    assert told.saved_at_s is None or seen.first_s <= told.saved_at_s <= NOW
    if (last := told.last_checkpoint) is not None:
        assert last.fits >= 0.5
        assert last.start_s.low <= last.end_s.low
        assert last.start_s.high - last.start_s.low <= PERIOD * 1.001
    assert time_limit_text(told)


@pytest.mark.parametrize("jitter_s", [1.0, 5.0])
def test_intervals_and_probabilities_are_calibrated(jitter_s: float) -> None:
    chance, periods = np.random.default_rng(7), 10
    inside, fitted, sure = 0, 0, 0.0
    for _ in range(300):
        mean_s = PERIOD + jitter_s / periods**0.5 * chance.standard_normal()  # an error of the prediction
        gaps = mean_s + jitter_s * chance.standard_normal(12)
        starts = NOW + 50 + np.concatenate([[0], np.cumsum(gaps)]) + jitter_s * chance.standard_normal()
        end = NOW + float(chance.uniform(100, 900))
        spread = {"start_spread": jitter_s, "period_spread": jitter_s / periods**0.5}
        told = time_limit_of(prediction_of(50.0, **spread), end, written())
        lost = end - max((float(each) for each in starts if each + LASTS <= end), default=NOW - 50)
        assert told.lost_s is not None
        inside += told.lost_s.low - 1e-6 <= lost <= told.lost_s.high + 1e-6
        if told.last_checkpoint is not None:
            sure += told.last_checkpoint.fits
            fitted += float(starts[told.last_checkpoint.ahead - 1]) + LASTS <= end
    assert 0.84 <= inside / 300 <= 0.98
    assert fitted == pytest.approx(sure, abs=20)


def session_with(info: StreamInfo) -> JobSession:
    session, interner = JobSession("j", AggregatorSettings(), NOW - 60), Interner()
    session.open_stream("s", info, NOW - 60)
    session.update("s", periodic_batch(interner, until_s=NOW), interner.take_fresh(), NOW)
    return session


def test_session_tells_with_each_prediction_while_its_end_is_known() -> None:
    session = session_with(StreamInfo(job="j", source="test", ends_at_s=NOW + 8 * PERIOD_S))
    prediction = session.predict(NOW)
    assert prediction is not None
    told = prediction.time_limit
    assert told is not None
    assert told.last_checkpoint is not None
    assert told.lost_s is not None
    assert 0 < told.lost_s.value < 2 * PERIOD_S
    assert summary_of(session, NOW).ends_at_s == NOW + 8 * PERIOD_S
    assert any("ends in" in line for line in prediction_lines(prediction))
    whole = session.predict(NOW, whole=True)
    assert whole is not None
    assert whole.time_limit is None


def test_session_without_an_end_tells_none() -> None:
    prediction = session_with(StreamInfo(job="j", source="test")).predict(NOW)
    assert prediction is not None
    assert prediction.time_limit is None


def test_trace_with_its_own_clock_has_no_end() -> None:
    session = session_with(StreamInfo(job="j", source="test", clock_offset_ns=None, ends_at_s=NOW + 40))
    prediction = session.predict(NOW)
    assert prediction is not None
    assert prediction.time_limit is None


@pytest.mark.parametrize(("job", "ends"), [("", NOW), ("4711", NOW), ("another", 0.0)])
def test_collector_reports_the_end_of_its_job(job: str, ends: float) -> None:
    shipper = Shipper("c", CollectorSettings(ends_at_s=NOW, ends_job=job))
    info = StreamInfo(job="4711", source="test")
    shipper.receive(encode(Heartbeat()), 0.0)
    shipper.take([Opened("s", info), Changed("s", info)], 0.0)
    sent = [decode(frames)[0] for frames in shipper.outgoing(0.0)]
    assert [message.info.ends_at_s for message in sent if isinstance(message, Hello)] == [ends]


def test_end_is_the_options_else_that_of_the_batch_system() -> None:
    said: list[str] = []
    coming_s = float(round(time.time()) + 3600)
    date = datetime.fromtimestamp(coming_s, UTC).isoformat()
    assert end_of_job(coming_s, {"SLURM_JOB_END_TIME": "1731000000"}, said.append) == coming_s
    assert end_of_job(None, {"SLURM_JOB_END_TIME": str(coming_s)}, said.append) == coming_s
    assert end_of_job(None, {}, said.append) == end_of_job(None, {"SLURM_JOB_END_TIME": "0"}, said.append) == 0.0
    assert end_of_job(None, {"SLURM_JOB_END_TIME": date}, said.append) == coming_s
    assert end_of_job(None, {"SLURM_JOB_END_TIME": "NONE"}, said.append) == 0.0
    assert not said
    assert end_of_job(None, {"SLURM_JOB_END_TIME": "3600"}, said.append) == 0.0
    assert len(said) == 1


@pytest.mark.parametrize(("option", "variable"), [("1731000000", "0"), (None, "1731000000"), (None, "2001-01-01")])
def test_end_in_the_past_is_told_and_unknown(option: str | None, variable: str) -> None:
    """It must not keep the command from starting, nor a collector that its service manager restarts."""
    said: list[str] = []
    end = parse_end(click.Context(click.Command("x")), click.Option(["--ends-at"]), option)
    assert end_of_job(end, {"SLURM_JOB_END_TIME": variable}, said.append) == 0.0
    (message,) = said
    assert message.startswith("--ends-at is " if option else "SLURM_JOB_END_TIME is ")
    assert "which has passed: the job's end is not known" in message


@settings(deadline=None)
@given(text=st.text(min_size=1, max_size=60))
def test_any_value_of_the_batch_system_is_a_time_or_is_told(text: str) -> None:
    said: list[str] = []
    found = end_of_job(None, {"SLURM_JOB_END_TIME": text}, said.append)
    assert 0 <= found < 2**33
    assert not (said and found)


@pytest.mark.parametrize("text", ["+0", "+x", "-5", "12.5", "tomorrow", "+1e99", "nan", "+nan"])
def test_end_that_is_no_moment_is_refused(text: str) -> None:
    option = click.Option(["--ends-at"])
    with pytest.raises(click.BadParameter, match=r"is no end|is not a point in time"):
        parse_end(click.Context(click.Command("x")), option, text)


def test_end_may_be_given_from_now_on() -> None:
    option = click.Option(["--ends-at"])
    before = time.time()
    found = parse_end(click.Context(click.Command("x")), option, "+60")
    assert found is not None
    assert before + 60 <= found <= time.time() + 60
