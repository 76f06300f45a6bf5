from __future__ import annotations

import numpy as np
import pytest
from iotide.analyzers.periodicity.phases.phases import Phases, Segmenter
from iotide.analyzers.periodicity.phases.ramps import with_ramps
from iotide.analyzers.periodicity.phases.regularity import Regularity, regularity


def signal(starts: np.ndarray, lengths: np.ndarray, length: int, steepness: float) -> np.ndarray:
    """Bins of phases whose bandwidth grows exponentially by ``steepness`` in total."""
    at = np.linspace(0, length, 20 * length, endpoint=False)
    values = np.zeros(len(at))
    for start, wide in zip(starts, lengths, strict=True):
        inside = (at >= start) & (at < start + wide)
        values[inside] = steepness ** ((at[inside] - start) / wide)
    return np.asarray(values.reshape(length, 20).mean(axis=1))


def measured(values: np.ndarray, period: float) -> tuple[Segmenter, Phases, Regularity]:
    segmenter = Segmenter(values)
    phases = segmenter.refined(segmenter.segment(period))
    found = regularity(phases)
    assert found is not None
    return segmenter, phases, found


@pytest.mark.parametrize(("share", "steepness"), [(0.2, 50.0), (0.5, 15.0), (0.5, 50.0)])
def test_a_phase_whose_bandwidth_rises_begins_where_it_began_to_rise(share: float, steepness: float) -> None:
    rng = np.random.default_rng(5)
    starts = 7.3 + 60 * np.arange(12) + rng.normal(0, 0.6, 12)
    lengths = 60 * share * rng.normal(1, 0.08, 12)
    segmenter, phases, before = measured(signal(starts, lengths, 760, steepness), 60)
    assert float(np.median(phases.start - starts)) > 1
    risen, after = with_ramps(segmenter, phases, before, 0.0)
    assert abs(float(np.median(risen.start - starts))) < 0.5
    assert after.spread <= before.spread
    assert risen.first is phases.first


def test_volumes_of_rising_phases_are_those_of_the_clipped_signal() -> None:
    segmenter = Segmenter(signal(7.3 + 60 * np.arange(12), np.full(12, 30.0), 760, 50.0)).levelled(0.5)
    phases = segmenter.refined(segmenter.segment(60))
    before = regularity(phases)
    assert before is not None
    risen, _ = with_ramps(segmenter, phases, before, 0.0)
    assert risen is not phases
    assert float(risen.volume.sum()) <= segmenter.total * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_other_io_before_phases_is_no_rise(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = signal(5.4 + 40 * np.arange(15), np.full(15, 6.0), 620, 1.0)
    noise = np.repeat(rng.uniform(size=124) < 0.5, 5)
    segmenter, phases, before = measured(values + 0.05 * noise, 40)
    found = with_ramps(segmenter, phases, before, 0.0)
    assert found[0] is phases
    assert found[1] is before


def test_a_rise_that_would_make_starts_less_regular_moves_them_all_alike() -> None:
    rng = np.random.default_rng(3)
    starts, tail = 20.5 + 50 * np.arange(14), 10 + rng.integers(-2, 3, 14)
    values = signal(starts, np.full(14, 8.0), 740, 1.0)
    for start, wide in zip(starts, tail, strict=True):
        values[int(start) - int(wide) : int(start)] += 0.1
    segmenter, phases, before = measured(values, 50)
    risen, after = with_ramps(segmenter, phases, before, 0.0)
    assert np.ptp(phases.start - risen.start) < 1e-9
    assert float((phases.start - risen.start)[0]) == pytest.approx(10, abs=1)
    assert after.period == before.period
