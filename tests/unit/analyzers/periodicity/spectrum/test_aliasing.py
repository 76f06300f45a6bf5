"""Regular requests shorter than a bin: an aliased period is not reported as the job's."""

from __future__ import annotations

import numpy as np
import pytest
from iotide.analyzers.offline.trace import detect, examine
from iotide.analyzers.periodicity.aliasing import is_alias
from iotide.analyzers.settings import DetectSettings
from iotide.events import EventBatch, Kind, make_batch

NO_TYPES = np.zeros(0, np.uint8)
START_NS = 1_700_000_000 * 10**9


def requests(at_s: np.ndarray, duration_s: float) -> EventBatch:
    return make_batch(
        len(at_s),
        {
            "start": START_NS + np.rint(at_s * 1e9).astype(np.int64),
            "duration": np.full(len(at_s), round(duration_s * 1e9)),
            "bytes": np.full(len(at_s), 4096),
            "kind": int(Kind.WRITE),
        },
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spacing_s", "count"), [(0.11, 200), (0.037, 2_000), (0.03, 20_000), (0.37, 20_000), (0.5, 20_000), (1.7, 2_000)]
)
def test_even_stream_of_requests_has_their_own_period(spacing_s: float, count: int) -> None:
    batch = requests(np.arange(count) * spacing_s, 0.1 * spacing_s)
    found = detect([(batch, NO_TYPES)], DetectSettings(), "job").period_s
    assert found is not None
    assert found.value == pytest.approx(spacing_s, rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize(("spacing_s", "count"), [(50e-6, 2_000), (1.3e-3, 20_000), (3.7e-3, 2_000), (12.3e-3, 20_000)])
def test_even_stream_that_no_bin_resolves_has_no_period(spacing_s: float, count: int) -> None:
    batch = requests(np.arange(count) * spacing_s, 0.1 * spacing_s)
    found = detect([(batch, NO_TYPES)], DetectSettings(), "job")
    assert found.period_s is None
    assert found.confidence == 0


@pytest.mark.parametrize("frequency_hz", [0.4, 1.0])
def test_given_sampling_frequency_that_is_too_low_finds_nothing(frequency_hz: float) -> None:
    batch = requests(np.arange(2_000) * 0.37, 0.037)
    settings = DetectSettings(sampling_frequency_hz=frequency_hz)
    assert detect([(batch, NO_TYPES)], settings, "job").period_s is None


def test_bursts_of_requests_are_no_alias() -> None:
    at = np.concatenate([10.0 * burst + 0.05 * np.arange(20) for burst in range(30)])
    batch = requests(at, 0.04)
    found, view = examine([(batch, NO_TYPES)], DetectSettings(), "job")
    assert found.period_s is not None
    assert not is_alias([(batch.start, batch.end, batch.bytes)], view, found.period_s.value)
