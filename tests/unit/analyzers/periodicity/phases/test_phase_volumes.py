from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from iotide.analyzers.periodicity.phases.phase_volumes import (
    volume_similarity,
    with_background_volume,
    with_trailing_requests,
)
from iotide.analyzers.periodicity.phases.phases import Segmenter


def signal(starts: list[int], width: int, length: int) -> npt.NDArray[np.float64]:
    values = np.zeros(length)
    for start in starts:
        values[start : start + width] += 5.0
    return values


def test_trickle_belongs_to_the_phase_before_it() -> None:
    values = signal([10, 60, 110], 20, 160)
    values[35:40] = 0.5
    segmenter = Segmenter(values)
    volume = with_background_volume(segmenter, segmenter.segment(50.0))
    assert volume.tolist() == [102.5, 100.0, 100.0]


def test_phases_that_are_alike_only_with_their_stragglers_have_them() -> None:
    rng = np.random.default_rng(1)
    values = np.zeros(520)
    late = rng.integers(1, 15, 10)
    for start, trickling in zip(range(10, 510, 50), late, strict=True):
        values[start : start + 20 - trickling] = 5.0
        values[start + 20 - trickling : start + 20 + 4 * trickling : 5] = 5.0 * trickling / trickling
    segmenter = Segmenter(values)
    phases = segmenter.refined(segmenter.segment(50.0))
    assert volume_similarity(segmenter, phases).count in (9, 10)
    whole = with_trailing_requests(segmenter, phases)
    assert (whole.end >= phases.end).all()
    assert whole.volume.sum() == pytest.approx(values.sum())
    assert (whole.end[:-1] <= whole.start[1:]).all()


def test_even_phases_have_no_stragglers() -> None:
    segmenter = Segmenter(signal([10, 60, 110, 160], 20, 210))
    likeness = volume_similarity(segmenter, segmenter.segment(50.0))
    assert (likeness.spread, likeness.count, likeness.trailing) == (0.0, 4, False)


def test_phase_that_still_runs_is_not_compared() -> None:
    segmenter = Segmenter(signal([10, 60, 110, 160], 20, 165))
    likeness = volume_similarity(segmenter, segmenter.segment(50.0))
    assert likeness.spread < 1e-12
    assert likeness.count == 3
