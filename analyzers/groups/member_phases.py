"""Phases in the signals of members, and whether they are clear."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from ..periodicity.tuning import TUNING

_GROUPING: Final = TUNING.grouping

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Shape(Struct, frozen=True, eq=False):
    """Phases of all members at one level.

    Attributes:
        within: whether each bin is within a phase, bool[members, bins].
        clear: whether a member's phases are clear, bool[members].
        counts: number of phases, int64[members].
    """

    within: npt.NDArray[np.bool_]
    clear: npt.NDArray[np.bool_]
    counts: Ints

    def correlations(self) -> Floats:
        """Return the correlation of the phases of members, float64[members, members]."""
        centred = self.within - self.within.mean(axis=1, keepdims=True)
        centred /= np.maximum(np.sqrt((centred**2).sum(axis=1)), 1e-12)[:, None]
        made: Floats = centred @ centred.T
        return made


def shape_of(volume: npt.NDArray[Any]) -> Shape:
    """Find the bins in which each member's signal is above its mean."""
    total = volume.sum(axis=1, keepdims=True)
    within = volume > total / volume.shape[1]
    count = np.count_nonzero(within, axis=1)
    runs = np.count_nonzero(within[:, 1:] > within[:, :-1], axis=1) + within[:, 0]
    share = (volume * within).sum(axis=1) / np.maximum(total[:, 0], 1e-30)
    clear = (runs >= _GROUPING.min_level_phases) & (share - count / volume.shape[1] >= _GROUPING.min_contrast)
    return Shape(within, clear, runs)


def phased_of(shapes: Sequence[Shape]) -> npt.NDArray[np.bool_]:
    """Return which rows have clear phases at any level."""
    made: npt.NDArray[np.bool_] = np.logical_or.reduce([shape.clear for shape in shapes])
    return made
