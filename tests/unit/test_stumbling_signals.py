"""Signals that are hardly interrupted."""

from __future__ import annotations

import numpy as np
import pytest
from iotide.analyzers.rhythm.estimators.tide import estimate
from iotide.analyzers.rhythm.view import Rhythm, View
from iotide.analyzers.settings import DetectSettings


def rhythm_of(start: list[float], length: list[float], volume: float) -> Rhythm:
    """Looks at phases of one volume, in bins of a second."""
    until = start[-1] + length[-1]
    edges = np.arange(np.ceil(until) + 1)
    moved = np.zeros(len(edges))
    for begin, lasts in zip(start, length, strict=True):
        moved += volume * np.clip((edges - begin) / lasts, 0, 1)
    view = View(np.diff(moved), 1.0, 0.0, float(edges[-1]))
    return estimate(view, DetectSettings())


@pytest.mark.parametrize("period", [9.3, 14.1, 21.7])
def test_even_phases_with_pauses_shorter_than_a_bin_are_sure(period: float) -> None:
    start = [3 + period * number for number in range(24)]
    found = rhythm_of(start, [period - 0.8] * 24, 1e9)
    assert found.period_s is not None
    assert found.period_s.value == pytest.approx(period, rel=0.01)
    assert found.confidence > 0.9
