"""Outlier detectors of the spectrum, each against its definition, and against the reference's results on its own
samples.
"""

from __future__ import annotations

import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.offline.trace import detect
from iotide.analyzers.periodicity.spectrum.detectors import find_outliers
from iotide.analyzers.settings import DetectSettings, OutlierName
from iotide.cli.traces.trace_reading import read_traces
from iotide.events import ConfigError, UnavailableError
from iotide.results.prediction import ModeName, Prediction
from support.places import DATA

CLUSTERING: list[OutlierName] = ["dbscan", "isolation-forest", "lof"]
strengths = st.lists(st.integers(0, 1000).map(float), min_size=2, max_size=60).filter(any)


def answer(name: str, mode: ModeName, outlier: OutlierName, spectrum: str) -> Prediction:
    trace = read_traces([DATA / name], format_name=None, job="trace", progress=lambda path, done: None)
    chosen = {"method": "reference", "sampling": "point", "mode": mode, "outlier": outlier, "spectrum": spectrum}
    return detect(trace.batches(), DetectSettings.model_validate({**chosen, "sampling_frequency_hz": 10.0}), "trace")


# Results of the reference at 10 Hz. Its isolation forest has no seed; several runs returned the same result.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "mode", "outlier", "spectrum", "periods_s", "confidence"),
    [
        ("tmio-8ranks.jsonl", "write", "zscore", "power", [1.92667], 0.677441),
        ("tmio-8ranks.jsonl", "write", "zscore", "amplitude", [1.92667], 0.781482),
        ("tmio-8ranks.jsonl", "write", "dbscan", "power", [], 0.0),
        ("tmio-8ranks.jsonl", "write", "dbscan", "amplitude", [], 0.0),
        ("tmio-8ranks.jsonl", "write", "lof", "power", [], 0.0),
        ("tmio-8ranks.jsonl", "write", "lof", "amplitude", [], 0.0),
        ("tmio-8ranks.jsonl", "write", "peaks", "power", [1.92667], 1.0),
        ("tmio-8ranks.jsonl", "write", "peaks", "amplitude", [1.92667, 0.932258], 1.0),
        ("tmio-8ranks.jsonl", "write", "isolation-forest", "power", [1.92667], 1.0),
        ("tmio-8ranks.jsonl", "read", "zscore", "power", [1.892857, 0.464912], 0.472776),
        ("tmio-8ranks.jsonl", "read", "zscore", "amplitude", [1.892857], 0.685478),
        ("tmio-8ranks.jsonl", "read", "dbscan", "power", [], 0.0),
        ("tmio-8ranks.jsonl", "read", "lof", "power", [], 0.0),
        ("tmio-8ranks.jsonl", "read", "peaks", "power", [1.892857, 0.464912], 1.0),
        ("tmio-8ranks.jsonl", "read", "peaks", "amplitude", [], 0.0),
        ("tmio-8ranks.jsonl", "read", "isolation-forest", "power", [1.892857], 1.0),
        ("tmio-custom-ranks.json", "write", "zscore", "power", [2.6875], 1.0),
        ("tmio-custom-ranks.json", "write", "zscore", "amplitude", [2.6875], 1.0),
        ("tmio-custom-ranks.json", "write", "dbscan", "power", [2.6875], 1.0),
        ("tmio-custom-ranks.json", "write", "dbscan", "amplitude", [2.6875], 1.0),
        ("tmio-custom-ranks.json", "write", "lof", "power", [2.6875], 1.0),
        ("tmio-custom-ranks.json", "write", "lof", "amplitude", [], 0.0),
        ("tmio-custom-ranks.json", "write", "peaks", "power", [2.6875], 1.0),
        ("tmio-custom-ranks.json", "write", "isolation-forest", "power", [2.6875], 1.0),
    ],
)
def test_answers_are_those_of_the_reference(
    name: str, mode: ModeName, outlier: OutlierName, spectrum: str, periods_s: list[float], confidence: float
) -> None:
    if outlier in CLUSTERING:
        pytest.importorskip("sklearn", reason="scikit-learn is not installed (extra 'cluster')")
    found = answer(name, mode, outlier, spectrum)
    periods = [] if found.period_s is None else [row.period_s for row in found.dominant]
    assert periods == pytest.approx(periods_s, rel=1e-5)
    assert found.confidence == pytest.approx(confidence, abs=2e-6)


@pytest.mark.slow
@given(strengths, st.floats(0, 1))
@settings(deadline=None)
def test_peaks_are_the_inner_local_maxima_that_are_high_enough(values: list[float], tolerance: float) -> None:
    strength = np.array(values)
    found = np.flatnonzero(find_outliers("peaks", strength, tolerance).found).tolist()
    # a plateau counts once, at its middle
    runs = [0, *(k for k in range(1, len(values)) if values[k] != values[k - 1]), len(values)]
    share = strength / strength.sum()
    expected = [
        (first + stop - 1) // 2
        for first, stop in pairwise(runs)
        if first > 0 and stop < len(values) and values[first - 1] < values[first] > values[stop]
        if share[first] >= tolerance * share.max()
    ]
    assert found == expected


@pytest.mark.slow
@given(strengths, st.floats(0, 1))
@settings(deadline=None, max_examples=50)
def test_dbscan_finds_points_without_neighbours(values: list[float], tolerance: float) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is not installed (extra 'cluster')")
    strength = np.array(values)
    points = np.column_stack([np.arange(1, len(values) + 1) / len(values), strength / strength.sum()])
    reach = np.hypot((1 - tolerance) * np.ptp(points[:, 1]), points[1, 0] - points[0, 0])
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    lonely = (apart <= reach).sum(axis=1) == 1
    # distances equal to the reach up to rounding may count or not
    clear = (np.abs(apart - reach) > 1e-9).all(axis=1)
    found = find_outliers("dbscan", strength, tolerance).found
    assert found[clear].tolist() == lonely[clear].tolist()


@pytest.mark.slow
@pytest.mark.parametrize("outlier", ["isolation-forest", "lof"])
def test_lone_line_is_the_surest_outlier(outlier: OutlierName) -> None:
    pytest.importorskip("sklearn", reason="scikit-learn is not installed (extra 'cluster')")
    strength = np.random.default_rng(1).uniform(0.9, 1.1, 300)
    strength[40] = 60.0
    outliers = find_outliers(outlier, strength, 0.8)
    assert np.flatnonzero(outliers.found).tolist() == [40]
    assert outliers.confidence.argmax() == 40
    assert outliers.confidence[40] == 1.0
    assert outliers.confidence.min() == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("outlier", [*CLUSTERING, "peaks"])
@pytest.mark.parametrize("values", [[], [1.0], [0.0, 0.0, 0.0], [1.0, 1.0], [2.0] * 30])
def test_spectra_without_structure_have_no_outliers(outlier: OutlierName, values: list[float]) -> None:
    if outlier in CLUSTERING:
        pytest.importorskip("sklearn", reason="scikit-learn is not installed (extra 'cluster')")
    outliers = find_outliers(outlier, np.array(values), 0.8)
    assert len(outliers.found) == len(outliers.confidence) == len(values)
    if outlier != "isolation-forest":  # this one marks one bin in a thousand as an outlier, at least one
        assert not outliers.found.any()


def test_spectra_that_are_too_long_for_a_method_are_refused() -> None:
    with pytest.raises(ConfigError, match="lower the sampling frequency"):
        find_outliers("dbscan", np.ones(2**15 + 1), 0.8)


@pytest.mark.parametrize("outlier", CLUSTERING)
def test_missing_scikit_learn_is_reported_with_the_package_to_install(
    outlier: OutlierName, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "sklearn"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(UnavailableError, match=r"iotide\[cluster\]"):
        find_outliers(outlier, np.arange(1.0, 9.0), 0.8)
