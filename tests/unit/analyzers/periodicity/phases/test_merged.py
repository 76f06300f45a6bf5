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
