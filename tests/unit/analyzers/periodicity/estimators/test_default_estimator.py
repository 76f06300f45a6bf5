from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from iotide.analyzers.periodicity.estimator import PeriodEstimate, SignalWindow
from iotide.analyzers.periodicity.estimators.default_estimator import estimate
from iotide.analyzers.periodicity.spectrum.spectral_peak import dominant_peak
from iotide.analyzers.settings import DetectSettings

BIN_S = 0.1
Signal = npt.NDArray[np.float64]


def found(values: Signal, **view: float) -> PeriodEstimate:
    end = len(values) * BIN_S
    return estimate(SignalWindow(values, bin_s=BIN_S, start_s=0.0, now_s=end, **view), DetectSettings())  # type: ignore[arg-type]


def bursts(starts: npt.ArrayLike, width: float, length: int) -> Signal:
    edges = np.arange(length + 1.0)
    values = np.zeros(length)
    for start in np.asarray(starts, float):
        values += np.diff(np.clip(edges, start, start + width))
    return values * 1e6


def periodic_ones(period: float, width: float, length: int, jitter: float = 0.0, seed: int = 0) -> tuple[Signal, float]:
    """A signal and the mean interval between its bursts, in bins."""
    rng = np.random.default_rng(seed)
    count = int((length - 5) / period)
    starts = 3.3 + np.concatenate([[0.0], np.cumsum(period * (1 + jitter * rng.standard_normal(count)))])
    starts = starts[starts + width < length]
    return bursts(starts, width, length), float(np.diff(starts).mean())


@pytest.mark.parametrize("period", [11.3, 37.77, 100.0, 213.9])
@pytest.mark.parametrize("duty", [0.06, 0.3, 0.7])
def test_even_bursts_give_the_period_below_a_bin(period: float, duty: float) -> None:
    values, truth = periodic_ones(period, duty * period, 1500)
    periodicity = found(values)
    assert periodicity.period_s is not None
    assert periodicity.period_s.value == pytest.approx(truth * BIN_S, rel=0.003)
    assert periodicity.confidence > 0.7
    assert periodicity.dominant[0].period_s == periodicity.period_s.value


def test_wave_gives_its_frequency_amplitude_and_phase() -> None:
    at = np.arange(800) * BIN_S
    values = 5e6 + 2e6 * np.cos(2 * np.pi * at / 7.31 + 0.5)
    periodicity = found(values)
    assert periodicity.period_s is not None
    assert periodicity.period_s.value == pytest.approx(7.31, rel=0.005)
    assert periodicity.confidence > 0.8
    assert periodicity.dominant[0].amplitude == pytest.approx(2e6, rel=0.05)
    assert periodicity.dominant[0].phase_rad == pytest.approx(0.5, abs=0.3)


@pytest.mark.parametrize("seed", range(5))
def test_jittered_bursts_give_the_mean_interval(seed: int) -> None:
    values, truth = periodic_ones(60, 6, 1200, jitter=0.1, seed=seed)
    periodicity = found(values)
    assert periodicity.period_s is not None
    assert periodicity.period_s.value == pytest.approx(truth * BIN_S, rel=0.02)
    assert periodicity.period_s.low <= truth * BIN_S <= periodicity.period_s.high


@pytest.mark.parametrize("seed", range(5))
def test_noise_below_the_bursts_does_not_move_the_period(seed: int) -> None:
    values, truth = periodic_ones(80, 20, 1200, jitter=0.03, seed=seed)
    noise = np.random.default_rng(seed).exponential(0.1e6, len(values))
    periodicity = found(values + noise)
    assert periodicity.period_s is not None
    assert periodicity.period_s.value == pytest.approx(truth * BIN_S, rel=0.02)


def test_sharp_bursts_give_the_fundamental_and_not_a_harmonic() -> None:
    pairs = np.sort(np.concatenate([5 + 60.0 * np.arange(15), 5 + 60.0 * np.arange(15) + 20]))
    values = bursts(pairs[::2], 2, 910) + 0.4 * bursts(pairs[1::2], 2, 910)
    periodicity = found(values)
    assert periodicity.period_s is not None
    assert periodicity.period_s.value == pytest.approx(6.0, rel=0.01)


def test_phases_of_many_requests_count_once() -> None:
    starts = [10 + 100.0 * k + 6 * j for k in range(8) for j in range(5)]
    periodicity = found(bursts(starts, 2, 820))
    assert periodicity.period_s is not None
    assert periodicity.period_s.value == pytest.approx(10.0, rel=0.01)


@pytest.mark.parametrize("seed", range(8))
def test_phases_of_very_unlike_bandwidth_give_their_period_and_volumes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    starts = 3.3 + 40.0 * np.arange(8)
    rates = rng.lognormal(0.0, 1.0, len(starts))
    values = np.sum([rate * bursts([start], 10.0, 330) for start, rate in zip(starts, rates, strict=True)], axis=0)
    periodicity = found(values)
    assert periodicity.period_s is not None
    assert periodicity.period_s.value == pytest.approx(4.0, rel=0.01)
    assert periodicity.confidence > 0.5
    assert periodicity.next_phase is not None
    # the signal is clipped to find phases, not to measure them
    assert periodicity.next_phase.volume_bytes.value == pytest.approx(rates.mean() * 10.0 * BIN_S * 1e6, rel=0.35)


@pytest.mark.parametrize("pause", [150.0, 777.0, 1210.0])
def test_pause_of_the_program_is_none_of_its_period(pause: float) -> None:
    starts = 3.3 + 40.0 * np.arange(24)
    starts[12:] += pause
    periodicity = found(bursts(starts, 5.0, int(starts[-1]) + 30))
    assert periodicity.period_s is not None
    assert periodicity.period_s.value == pytest.approx(4.0, rel=0.01)
    assert periodicity.confidence > 0.8


@pytest.mark.parametrize("growth", [-0.01, 0.01, 0.02])
def test_next_start_follows_the_drift_of_the_period_which_is_a_mean_all_the_same(growth: float) -> None:
    rng = np.random.default_rng(7)
    periods = 60.0 * (1 + growth) ** np.arange(20)
    starts = 3.3 + np.concatenate([[0.0], np.cumsum(periods[:-1] * rng.normal(1, 0.004, 19))])
    periodicity = found(bursts(starts, 6.0, int(starts[-1]) + 25))
    assert periodicity.period_s is not None
    assert periods.min() < periodicity.period_s.value / BIN_S < periods.max()
    assert periodicity.next_phase is not None
    assert periodicity.next_phase.start_s.value == pytest.approx((starts[-1] + periods[-1]) * BIN_S, abs=0.1)


def test_next_start_keeps_to_the_end_of_a_phase_that_took_longer() -> None:
    length = np.tile([5.0, 5.0, 5.0, 20.0], 6)
    starts = 3.3 + np.concatenate([[0.0], np.cumsum(30.0 + length[:-1])])
    end = starts[-1] + length[-1]
    edges = np.arange(int(end) + 12.0)
    values = np.zeros(len(edges) - 1)
    for start, stop in zip(starts, starts + length, strict=True):
        values += np.diff(np.clip(edges, start, stop)) * 1e6 * 5.0 / (stop - start)
    periodicity = found(values)
    assert periodicity.next_phase is not None
    assert periodicity.next_phase.start_s.value == pytest.approx((end + 30.0) * BIN_S, abs=0.15)
    assert periodicity.confidence > 0.8


def test_next_phase_of_a_job_that_skips_some_is_as_sure_as_they_come_and_reckons_with_a_period_more() -> None:
    rng = np.random.default_rng(5)
    steps = np.where(rng.uniform(size=50) < 0.15, 2, 1)
    starts = 3.3 + 40.0 * np.cumsum(steps)
    periodicity = found(bursts(starts, 5.0, int(starts[-1]) + 20))
    assert periodicity.period_s is not None
    assert periodicity.period_s.value == pytest.approx(4.0, rel=0.01)
    assert periodicity.confidence > 0.9
    assert periodicity.next_phase is not None
    assert periodicity.next_phase.confidence == pytest.approx((steps[1:] == 1).mean(), abs=0.05)
    start_s = periodicity.next_phase.start_s
    assert start_s.value == pytest.approx((starts[-1] + 40.0) * BIN_S, abs=0.1)
    assert start_s.high == pytest.approx((starts[-1] + 80.0) * BIN_S, abs=0.2)


def test_start_up_burst_does_not_move_the_period() -> None:
    values = bursts(12 + 20.0 * np.arange(6), 1, 120)
    values[:4] += 0.4e6
    periodicity = found(values)
    assert periodicity.period_s is not None
    assert periodicity.period_s.value == pytest.approx(2.0, rel=0.03)


def noise_like(kind: str, rng: np.random.Generator) -> Signal:
    n = int(rng.integers(60, 1500))
    at = np.arange(n, dtype=float)
    makers: dict[str, Callable[[], Signal]] = {
        "white noise": lambda: rng.exponential(1.0, n),
        "noise on a level": lambda: 10 + rng.standard_normal(n),
        "ramp": lambda: at,
        "noisy ramp": lambda: 5 * at / n + rng.exponential(1.0, n),
        "one burst": lambda: bursts([rng.integers(0, n - 40)], float(rng.integers(1, 30)), n),
        "one long write": lambda: np.where((at > 0.2 * n) & (at < 0.8 * n), 5 + 0.3 * rng.random(n), 0.0),
        "constant": lambda: np.full(n, 3.0),
        "two bursts": lambda: bursts(rng.integers(0, n - 10, 2), 8, n),
        "silence": lambda: np.zeros(n),
    }
    return makers[kind]()


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind",
    ["noise on a level", "ramp", "noisy ramp", "one burst", "one long write", "constant", "silence"],
)
def test_signal_without_period_has_no_period(kind: str) -> None:
    rng = np.random.default_rng(5)
    calls = [found(noise_like(kind, rng)) for _ in range(40)]
    assert sum(call.period_s is not None for call in calls) <= 1
    assert all(call.confidence < 0.5 for call in calls)


def test_two_bursts_give_their_distance_as_a_guess() -> None:
    periodicity = found(bursts([30, 130], 8, 170))
    assert periodicity.period_s is not None
    assert periodicity.period_s.value == pytest.approx(10.0)
    assert 0.1 < periodicity.confidence < 0.4


def test_phases_that_ran_together_are_told_by_their_volume() -> None:
    starts = np.array([10, 60, 90, 120, 190, 260, 310, 380.0])
    values = bursts(starts, 30, 450)  # the second to the fourth are adjacent, and two later ones too
    periodicity = found(values)
    assert periodicity.period_s is not None
    assert periodicity.period_s.value == pytest.approx(float(np.diff(starts).mean()) * BIN_S, rel=0.01)


def test_irregular_phases_have_a_mean_interval_but_little_confidence() -> None:
    rng = np.random.default_rng(4)
    starts = 5 + np.cumsum(20 + rng.exponential(30, 20))
    periodicity = found(bursts(starts, 15, int(starts[-1]) + 40))
    assert periodicity.period_s is not None
    assert periodicity.period_s.value == pytest.approx(float(np.diff(starts).mean()) * BIN_S, rel=0.01)
    assert periodicity.confidence < 0.5


@pytest.mark.slow
def test_white_noise_and_random_bursts_are_hardly_ever_called_periodic() -> None:
    rng = np.random.default_rng(6)
    noise = [found(noise_like("white noise", rng)).confidence for _ in range(100)]
    random = [found(bursts(rng.uniform(0, 990, rng.poisson(12) + 1), 5, 1000)).confidence for _ in range(100)]
    assert sum(confidence > 0 for confidence in noise) <= 5
    assert sum(confidence > 0.5 for confidence in noise + random) <= 4


@pytest.mark.parametrize("length", [0, 1, 5, 11, 12, 13, 20])
def test_short_signals_are_answered(length: int) -> None:
    rng = np.random.default_rng(length)
    for _ in range(20):
        periodicity = found(rng.exponential(1.0, length) * (rng.random(length) < 0.4))
        assert 0 <= periodicity.confidence <= 1


def test_next_phase_continues_the_period() -> None:
    values = bursts(5 + 40.0 * np.arange(8), 6, 310)
    periodicity = found(values)
    assert periodicity.next_phase is not None
    start = periodicity.next_phase.start_s
    assert start.value == pytest.approx((5 + 320) * BIN_S, abs=0.05)
    assert start.low <= start.value <= start.high
    assert periodicity.next_phase.duration_s.value == pytest.approx(0.6, abs=0.05)
    assert periodicity.next_phase.volume_bytes.value == pytest.approx(6 * 1e6 * BIN_S, rel=0.01)


def test_late_phase_is_expected_soon_and_a_skipped_one_a_period_later() -> None:
    starts = 5 + 40.0 * np.arange(8)
    varied = starts + np.array([0, 3, -4, 5, -2, 4, -5, 0])
    late = found(bursts(varied, 6, 331))  # by no more than others were
    assert late.next_phase is not None
    assert 33.1 <= late.next_phase.start_s.value < 34.5
    assert 0.3 < late.next_phase.confidence < 0.9
    skipped = found(bursts(starts, 6, 350))
    assert skipped.next_phase is not None
    assert skipped.next_phase.start_s.value == pytest.approx((5 + 360) * BIN_S, abs=0.05)


def test_phase_in_progress_is_not_predicted_again() -> None:
    periodicity = found(bursts(5 + 40.0 * np.arange(8), 10, 290))  # the last one is half complete
    assert periodicity.next_phase is not None
    assert periodicity.next_phase.start_s.value == pytest.approx((5 + 320) * BIN_S, abs=0.1)
    assert periodicity.next_phase.volume_bytes.value == pytest.approx(10 * 1e6 * BIN_S, rel=0.01)


def test_confidence_fades_when_the_phases_stay_out() -> None:
    starts = 5 + 40.0 * np.arange(8)
    confidence = [found(bursts(starts, 6, 300 + silence)).confidence for silence in (20, 60, 100, 250)]
    assert confidence == sorted(confidence, reverse=True)
    assert confidence[0] > 0.9
    assert confidence[-1] < 0.2


def test_history_before_the_window_tells_how_regular_the_phases_are() -> None:
    values = bursts(5 + 40.0 * np.arange(12), 6, 485)
    alone = found(values[365:])
    informed = found(values, begin=365, expected_s=4.0)
    assert informed.confidence > max(alone.confidence, 0.9)
    assert informed.period_s is not None
    assert informed.period_s.value == pytest.approx(4.0, rel=0.005)


def test_history_of_another_period_is_ignored() -> None:
    starts = np.concatenate([5 + 25.0 * np.arange(12), 305 + 50.0 * np.arange(6)])
    values = bursts(starts, 4, 600)
    periodicity = found(values, begin=330, expected_s=2.5)
    assert periodicity.period_s is not None
    assert periodicity.period_s.value == pytest.approx(5.0, rel=0.02)


def test_line_is_refined_below_the_resolution_of_the_window() -> None:
    at = np.arange(400)
    line, _ = dominant_peak(1 + np.cos(2 * np.pi * at / 47.3))
    assert line is not None
    assert line.period == pytest.approx(47.3, rel=0.01)  # adjacent bins are 13 % apart
    assert line.support > 0.8


@pytest.mark.parametrize("frequency", [9, 10, 11, 13, 20])
@pytest.mark.parametrize("shift_s", [0.0, 0.01, 0.05])
def test_answer_does_not_depend_on_the_sampling_frequency_or_the_window_start(frequency: int, shift_s: float) -> None:
    period_s, bin_s = 3.17, 1 / frequency
    starts = (1.0 + shift_s + period_s * np.arange(10)) / bin_s
    values = bursts(starts, 0.5 / bin_s, int(33 / bin_s))
    periodicity = estimate(SignalWindow(values, bin_s=bin_s, start_s=0.0, now_s=len(values) * bin_s), DetectSettings())
    assert periodicity.period_s is not None
    assert periodicity.period_s.value == pytest.approx(period_s, rel=0.003)


@pytest.mark.parametrize("spacing", [0.13, 0.37])
def test_ripple_of_bins_that_hold_a_request_more_or_less_is_not_clearly_periodic(spacing: float) -> None:
    bins = (np.arange(int(500 / spacing)) * spacing).astype(int)
    assert found(np.bincount(bins) * 1e6).confidence < 0.6


def test_short_pauses_between_phases_are_no_ripple() -> None:
    values = np.where(np.arange(500) % 4 < 2, 1e8, 0.0)
    periodicity = found(values)
    assert periodicity.period_s is not None
    assert periodicity.confidence > 0.9


@pytest.mark.parametrize("each", [2, 4, 5])
@pytest.mark.parametrize("slower", [2, 5])
def test_phases_that_others_hold_up_are_phases_and_the_period_is_their_mean_distance(each: int, slower: int) -> None:
    rng = np.random.default_rng(each)
    length = 15 * np.where(np.arange(30) % each == 1, slower, 1) * rng.normal(1, 0.03, 30)
    starts = 8.4 + np.append(0.0, np.cumsum(40 * rng.normal(1, 0.01, 29) + length[:-1]))
    total = int(starts[-1] + length[-1] + 8)
    values = sum((bursts([at], wide, total) * (15 / wide) for at, wide in zip(starts, length, strict=True)))
    periodicity = found(np.asarray(values), ended=True)
    assert periodicity.period_s is not None
    assert periodicity.period_s.value == pytest.approx(float(np.diff(starts).mean()) * BIN_S, rel=0.03)
    assert periodicity.confidence > 0.9


def test_a_rhythm_of_little_io_does_not_replace_that_of_similar_but_irregular_phases() -> None:
    rng = np.random.default_rng(34)
    starts = 20 + np.cumsum(15 + rng.exponential(60, 24))
    total = int(starts[-1] + 40)
    noise = 0.05 * (np.arange(total) % 50 < 25)
    periodicity = found(bursts(starts, 12, total) + noise * bursts([20.0], 12, total).max(), ended=True)
    assert periodicity.period_s is not None
    assert periodicity.period_s.value == pytest.approx(float(np.diff(starts).mean()) * BIN_S, rel=0.05)


def test_second_bursts_right_behind_others_do_not_shorten_the_period() -> None:
    starts = 5.3 + 50 * np.arange(40.0)
    starts = np.sort(np.append(starts, starts[[6, 17, 30, 36]] + 4))
    periodicity = found(bursts(starts, 3, 2030), ended=True)
    assert periodicity.period_s is not None
    assert periodicity.period_s.value == pytest.approx(5, rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("ended", [False, True])
def test_no_period_is_told_that_would_be_read_as_nought_percent(ended: bool) -> None:
    rng = np.random.default_rng(11)
    for _ in range(60):
        length = int(rng.integers(200, 1600))
        starts = np.sort(rng.uniform(0, length - 5, int(rng.integers(4, 40))))
        values = bursts(starts, float(rng.uniform(0.2, 4)), length) * rng.uniform(0.1, 1, length)
        answer = found(values, ended=ended)
        assert answer.period_s is None or answer.confidence >= 0.005
        assert answer.period_s is not None or answer.next_phase is None


@pytest.mark.parametrize("seed", [9100061, 9100279, 9100440])
def test_few_phases_of_random_length_have_no_period_however_many_readings_are_tried(seed: int) -> None:
    edges = np.cumsum(np.random.default_rng(seed).uniform(2, 40, 60))
    edges = edges[edges < 600]
    edges = edges[: len(edges) // 2 * 2]
    at = np.arange(np.floor(edges[0]), np.ceil(edges[-1]) + 1)
    signal = np.diff(np.interp(at, edges, np.cumsum(np.diff(edges, prepend=0.0) * (np.arange(len(edges)) % 2))))
    whole = SignalWindow(1e8 * signal, bin_s=1.0, start_s=0.0, now_s=float(len(signal)), ended=True)
    assert estimate(whole, DetectSettings()).confidence < 0.5


def changing_intervals(seed: int, period: float, spread: float, count: int) -> Signal:
    """Return intervals of equal work on a node whose other load changes slowly, bins."""
    rng = np.random.default_rng(seed)
    level = np.empty(count)
    level[0] = rng.normal(0, spread)
    for number in range(1, count):
        level[number] = 0.7 * level[number - 1] + rng.normal(0, spread * np.sqrt(1 - 0.7**2))
    return np.asarray(np.rint(period * np.exp(level)))


@pytest.mark.parametrize("seed", range(5))
def test_lines_of_a_program_start_and_end_do_not_shorten_the_period_of_its_log(seed: int) -> None:
    at = np.cumsum([8.0, *changing_intervals(seed, 180, 0.25, 30)]).astype(int)
    values = np.zeros(at[-1] + 20)
    values[at] = 75.0
    values[[0, 3]] = 1300.0, 190.0
    values[[at[-1] + 3, at[-1] + 4]] = 900.0, 300.0
    periodicity = found(values, ended=True)
    assert periodicity.period_s is not None
    assert periodicity.period_s.value == pytest.approx(float(np.diff(at).mean()) * BIN_S, rel=0.04)


@pytest.mark.parametrize("seed", range(5))
def test_two_files_in_neighbouring_bins_are_one_phase(seed: int) -> None:
    rng = np.random.default_rng(seed)
    at = np.cumsum([13.0, *changing_intervals(seed, 40, 0.25, 37)]).astype(int)
    values = np.zeros(at[-1] + 20)
    values[at] = 620.0
    values[at[::3] + (rng.random(len(at[::3])) < 0.2)] += 970.0
    periodicity = found(values, ended=True)
    assert periodicity.period_s is not None
    assert periodicity.period_s.value == pytest.approx(float(np.diff(at).mean()) * BIN_S, rel=0.02)


@pytest.mark.parametrize("each", [2, 3, 6])
def test_shifts_whose_phases_have_a_pattern_of_volumes_are_no_phases(each: int) -> None:
    steps = np.full(30, 12.6)
    steps[6::6] += 56
    at = 2 + np.cumsum(np.append(0.0, steps[1:])) + np.random.default_rng(each).normal(0, 0.6, 30)
    total = int(at[-1]) + 15
    values = sum(bursts([start], 1, total) * (4 if number % each == each - 1 else 1) for number, start in enumerate(at))
    periodicity = found(np.asarray(values), ended=True)
    assert periodicity.period_s is not None
    assert periodicity.period_s.value == pytest.approx(12.6 * BIN_S, rel=0.03)
    assert periodicity.shifts is not None
    assert periodicity.shifts.phases == 6
