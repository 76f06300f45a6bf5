"""The whole computation of ``iotide detect``."""

from __future__ import annotations

import numpy as np
import pytest
from iotide.analyzers.offline.detection import AnalysisOptions, analyse
from iotide.analyzers.offline.requests import Requests
from iotide.analyzers.offline.trace import signal_of_requests
from iotide.analyzers.periodicity.estimators.ftio_reference import automatic_frequency, samples_within
from iotide.analyzers.settings import DetectSettings
from iotide.events import EventBatch, Kind, concatenate, make_batch
from support.jobs.periodic_jobs import TYPES, checkpointing


def trace() -> EventBatch:
    program = checkpointing(phases=20, period_s=2.0, zero_s=0.0)
    start = np.rint(np.arange(0.3, 40, 0.7) * 1e9).astype(np.int64)
    reads = make_batch(
        len(start), {"start": start, "duration": 50_000_000, "bytes": 10_000, "kind": Kind.READ, "file": 1}
    )
    return concatenate([program.batch, reads])


def test_period_comes_with_the_time_that_it_was_valid_and_nothing_that_was_not_asked_for() -> None:
    prediction, analysis, *_ = analyse([(trace(), TYPES)], DetectSettings(mode="write"), "job", AnalysisOptions())
    assert prediction.period_s is not None
    assert analysis.validity is not None
    assert analysis.validity.period_s == prediction.period_s.value
    assert analysis.validity.share > 0.9
    assert (analysis.wavelet, analysis.autocorrelation, analysis.reconstruction) == (None, None, None)
    assert (analysis.modes, analysis.grouping) == (None, None)


@pytest.mark.slow
def test_all_that_is_wanted_is_there() -> None:
    wanted = AnalysisOptions(autocorrelation=True, strongest=3, wavelet=True, all_modes=True)
    prediction, analysis, *_ = analyse([(trace(), TYPES)], DetectSettings(), "job", wanted)
    assert analysis.wavelet is not None
    assert analysis.autocorrelation is not None
    assert not analysis.autocorrelation.merged
    assert analysis.reconstruction is not None
    assert len(analysis.reconstruction.waves) == 3
    assert analysis.reconstruction.start_s == prediction.window.start_s
    assert analysis.modes is not None
    assert [row.mode for row in analysis.modes] == ["read", "write", "both"]
    assert analysis.modes[2] == prediction
    periods = [row.period_s.value for row in analysis.modes[:2] if row.period_s is not None]
    assert periods == pytest.approx([0.7, 2.0], rel=0.02)


def test_reference_merges_the_autocorrelation() -> None:
    settings = DetectSettings(method="reference", mode="write")
    alone, *_ = analyse([(trace(), TYPES)], settings, "job", AnalysisOptions())
    merged, analysis, *_ = analyse([(trace(), TYPES)], settings, "job", AnalysisOptions(autocorrelation=True))
    assert analysis.autocorrelation is not None
    assert analysis.autocorrelation.merged
    if alone.period_s is not None:
        expected = (1 + min(alone.dominant, key=lambda row: row.frequency_hz).confidence) / 3
        assert merged.confidence == pytest.approx(expected + analysis.autocorrelation.confidence / 3)
    else:
        assert merged.confidence == pytest.approx(analysis.autocorrelation.confidence / 3)


def test_empty_trace_has_no_analyses() -> None:
    wanted = AnalysisOptions(autocorrelation=True, strongest=3, wavelet=True, all_modes=True)
    prediction, analysis, *_ = analyse([], DetectSettings(), "job", wanted)
    assert prediction.period_s is None
    assert analysis.validity is None
    assert analysis.wavelet is None


@pytest.mark.parametrize("length_ns", [4_194_307_777, 814_000_000_001, 86_400 * 10**9 + 13])
def test_samples_that_memory_allows_fit_the_bins_wherever_they_are_rounded(length_ns: int) -> None:
    """Requests that may not fit are all needed at once."""
    settings = DetectSettings()
    frequency = automatic_frequency([np.array([0, 1, length_ns])], samples_within(settings.trace_bins))
    assert frequency is not None
    settings = settings.model_copy(update={"sampling_frequency_hz": min(frequency, 1e6)})
    assert 0.998 * settings.trace_bins < length_ns // settings.bin_ns < settings.trace_bins - 1


def test_reference_samples_twice_in_the_shortest_time_between_changes() -> None:
    changes = np.array([0, 10**9, 10**9, 2 * 10**9, 25 * 10**8])
    for cut in range(len(changes) + 1):
        pieces = [changes[:cut], changes[cut:]]
        assert automatic_frequency(pieces, 10**6) == pytest.approx(4.0)
        assert automatic_frequency(pieces, 5) == pytest.approx(2.0)
    assert automatic_frequency([], 5) is None
    assert automatic_frequency([changes[:1], changes[:1]], 5) is None


@pytest.mark.parametrize("method", ["tide", "reference"])
@pytest.mark.parametrize("sampling", ["volume", "point"])
def test_trace_that_moves_nothing_is_observed_where_it_is(method: str, sampling: str) -> None:
    batch = make_batch(20, {"start": 10**18 + np.arange(20) * 10**9, "duration": 10**7, "kind": int(Kind.OTHER)})
    settings = DetectSettings.model_validate({"method": method, "sampling": sampling})
    wanted = AnalysisOptions(autocorrelation=True, strongest=3, wavelet=True, all_modes=True)
    prediction, *_ = analyse([(batch, np.zeros(0, np.uint8))], settings, "job", wanted)
    assert prediction.period_s is None
    assert prediction.window.start_s == 1e9
    length_s = prediction.window.end_s - prediction.window.start_s
    assert length_s == pytest.approx(19.01 if (method, sampling) == ("tide", "volume") else 0.0, abs=0.011)


@pytest.mark.parametrize("stray_s", [10.0, 2e9])
def test_stamp_that_is_off_by_years_does_not_stretch_the_window(stray_s: float) -> None:
    start = np.append(1.7e9 + 5.0 * np.arange(20), stray_s)
    batch = make_batch(
        21, {"start": (start * 1e9).astype(np.int64), "duration": 3 * 10**8, "bytes": 10**6, "kind": int(Kind.WRITE)}
    )
    prediction, *_ = analyse([(batch, np.zeros(0, np.uint8))], DetectSettings(), "job", AnalysisOptions())
    assert prediction.window.end_s - prediction.window.start_s == pytest.approx(95.3, abs=0.1)
    assert prediction.period_s is not None
    assert prediction.period_s.value == pytest.approx(5.0, rel=1e-3)


@pytest.mark.parametrize("seed", [19, 20, 22, 29])
def test_period_that_shrinks_is_told_as_it_is_where_the_first_bins_join_the_last_phases(seed: int) -> None:
    rng = np.random.default_rng(seed)
    distance = rng.uniform(2.2, 2.5) * 0.9855 ** np.arange(59)
    start = 2.5 + np.append(0, np.cumsum(distance * rng.normal(1, 0.006, 59)))
    edges = np.rint((start[:, None] + np.linspace(0, 1, 13) * rng.uniform(0.03, 0.4)) * 1e9).astype(np.int64)
    begin, lasts = edges[:, :-1].ravel(), np.diff(edges, axis=1).ravel()
    columns = {"start": begin, "duration": lasts, "bytes": 1_000_000, "kind": Kind.WRITE}
    prediction, *_ = analyse([(make_batch(len(begin), columns), TYPES)], DetectSettings(), "job", AnalysisOptions())
    assert prediction.drift is not None
    assert prediction.drift.period_s.value == pytest.approx(distance[-1], rel=0.05)


@pytest.mark.parametrize("trace_bins", [16, 40, 200, 5000])
def test_newest_bins_of_many_requests_are_those_of_few(trace_bins: int) -> None:
    """Pauses of 30 s and of days separate groups of requests; the largest group is not the last one."""
    rng = np.random.default_rng(7)
    begin = np.repeat([0, 60, 90, 10**6, 10**6 + 45, 2 * 10**6], [300, 200, 900, 700, 100, 250]) * 10**9
    start = begin + rng.integers(0, 4 * 10**9, len(begin))
    lasts = np.where(rng.random(len(begin)) < 0.1, 10**9, 1)
    size = 1 << 20
    batches = [
        (make_batch(len(at), {"start": start[at], "duration": lasts[at], "bytes": size, "kind": Kind.WRITE}), TYPES)
        for at in np.array_split(rng.permutation(len(begin)), 9)
    ]
    settings = DetectSettings(trace_bins=trace_bins, sampling_frequency_hz=10.0)
    few, many = (
        signal_of_requests(Requests(batches, "write", on_clock=False, most_held=most), round(1e8), settings)
        for most in (10**6, 0)
    )
    assert (few.first_ns, few.last_ns) == (many.first_ns, many.last_ns)
    one, other = (signal.read(0, signal.last_ns or 0) for signal in (few, many))
    assert one.first_ns == other.first_ns
    assert one.volume.sum() > 0
    np.testing.assert_allclose(other.volume, one.volume, rtol=1e-12, atol=1e-3)
