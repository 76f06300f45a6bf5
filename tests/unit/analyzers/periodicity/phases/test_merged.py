from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from iotide.analyzers.periodicity.phases.merged import phase_multiples, split_merged
from iotide.analyzers.periodicity.phases.phases import Segmenter


def signal(starts: list[int], width: int, length: int) -> npt.NDArray[np.float64]:
    values = np.zeros(length)
    for start in starts:
        values[start : start + width] += 5.0
    return values


def test_volumes_are_multiples_of_the_most_common_one() -> None:
    volume = np.array([10.1, 9.9, 20.3, 10.0, 29.8, 10.05])
    counts = phase_multiples(volume, volume * 0.5)
    assert counts is not None
    assert counts.tolist() == [1, 1, 2, 1, 3, 1]


def test_unlike_volumes_have_no_unit() -> None:
    rng = np.random.default_rng(3)
    volume = rng.uniform(1, 5, 30)
    assert phase_multiples(volume, volume) is None


def test_larger_phase_that_is_no_longer_stays_one() -> None:
    counts = phase_multiples(np.array([1.0, 1, 2, 1, 1, 2, 1]), np.ones(7))
    assert counts is not None
    assert counts.tolist() == [1] * 7


@pytest.mark.parametrize("gap", [0, 1])
def test_phases_that_touch_are_split_where_one_ends(gap: int) -> None:
    starts = [10, 60, 80 + gap, 140, 200, 260, 280 + gap, 300 + 2 * gap]
    segmenter = Segmenter(signal(starts, 20, 360))
    found = segmenter.segment(60.0)
    assert len(found) == 5
    split = split_merged(segmenter, segmenter.refined(found))
    assert split is not None
    assert split.first.tolist() == starts
    assert split.volume == pytest.approx(np.full(8, 100.0))
    assert (split.stop > split.first).all()


def test_phases_of_one_size_are_left_alone() -> None:
    segmenter = Segmenter(signal([10, 60, 110, 160, 210], 20, 260))
    assert split_merged(segmenter, segmenter.refined(segmenter.segment(50.0))) is None


def multiples_by_trial(volume: npt.NDArray[np.float64]) -> list[int] | None:
    """Return the multiples for the first tolerance that has a unit: each volume is tried as the unit."""
    for tolerance, least_single in ((0.12, 0.4), (0.25, 0.7)):
        tried = []
        for unit in sorted(set(volume.tolist())):
            multiple = [min(max(round(each / unit), 1), 6) for each in volume.tolist()]
            off = [abs(each / unit / count - 1) for each, count in zip(volume.tolist(), multiple, strict=True)]
            fits = [each <= (tolerance if count == 1 else 0.12) for each, count in zip(off, multiple, strict=True)]
            single = sum(fit and count == 1 for fit, count in zip(fits, multiple, strict=True))
            tried.append((single, fits, multiple))
        most = max(single for single, _, _ in tried)
        alike = [each for each in tried if each[0] == most]
        _, fits, multiple = alike[len(alike) // 2]
        if most >= least_single * len(volume) and sum(fits) >= 0.9 * len(volume):
            return [count if fit else 1 for fit, count in zip(fits, multiple, strict=True)]
    return None


@pytest.mark.parametrize("seed", range(60))
def test_unit_is_the_one_that_trying_each_volume_finds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    volume = rng.choice([1, 1, 1, 2, 3], int(rng.integers(5, 40))) * rng.normal(1, rng.uniform(0.01, 0.2))
    volume = np.maximum(volume * rng.normal(1, rng.uniform(0, 0.12), len(volume)), 0.1)
    found = phase_multiples(volume, volume)
    assert (None if found is None else found.tolist()) == multiples_by_trial(volume)


def test_short_phases_across_two_bins_of_a_clipped_signal_are_not_split() -> None:
    at = np.arange(10, 400, 40)
    values = signal(at.tolist(), 1, 420)
    values[at[::4] + 1] = 12.0
    clipped = Segmenter(values).levelled(0.1)
    found = clipped.refined(clipped.segment(40.0))
    assert len(found) == len(at)
    assert split_merged(clipped, found) is None
