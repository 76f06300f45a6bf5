"""Which members do I/O together: groups by when their phases are."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from ..rhythm.tuning import TUNING
from .sketch import Sketch

_GROUPING: Final = TUNING.grouping

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class _Shape(Struct, frozen=True, eq=False):
    """The phases of all members at one level.

    Attributes:
        clear: whether a member's phases show, bool[members].
        counts: how many there are, int64[members].
        alike: correlation of being within a phase, float64[members, members].
    """

    clear: npt.NDArray[np.bool_]
    counts: Ints
    alike: Floats


def groups_of(sketch: Sketch, members: int) -> list[list[int]]:
    """Returns the members that have phases in groups that have them together, the one with the most bytes first.

    Two members are compared at the coarsest level where the phases of both show. Where there is none, but each has
    phases, they are of different orders, and of different groups. Members without phases are a group.

    Args:
        sketch: the signals.
        members: how many there are.
    """
    shapes = [_shape(sketch.each(level)[:members]) for level in range(sketch.levels - 1, -1, -1)]
    alike, known = np.zeros((members, members)), np.zeros((members, members), np.bool_)
    for shape in shapes:
        fresh = np.logical_and.outer(shape.clear, shape.clear) & ~known
        if fresh.any():
            counts = np.log(np.maximum(shape.counts, 1))
            same = np.abs(np.subtract.outer(counts, counts)) <= math.log(_GROUPING.like_counts)
            alike[fresh] = np.where(same, shape.alike, 0.0)[fresh]
            known |= fresh
    phased = np.logical_or.reduce([shape.clear for shape in shapes])
    made = [] if not phased.any() else _joined(np.flatnonzero(phased), alike)
    rest = np.flatnonzero(~phased).tolist()
    if rest and made and (like := _like(sketch, made, rest)) is not None:
        made[like] += rest
        rest = []
    volume = sketch.each(sketch.levels - 1)[:members].sum(axis=1)
    return sorted([*made, rest] if rest else made, key=lambda group: -float(volume[group].sum()))


def _like(sketch: Sketch, groups: list[list[int]], rest: list[int]) -> int | None:
    """Returns the group in whose phases the members without clear phases do I/O together; None: in those of none."""
    likeness = np.full(len(groups), -1.0)
    for level in range(sketch.levels - 1, -1, -1):
        each = sketch.each(level)
        shape = _shape(np.array([each[group].sum(axis=0) for group in (*groups, rest)]))
        likeness = np.where((likeness < 0) & shape.clear[:-1], np.maximum(shape.alike[-1, :-1], 0.0), likeness)
    best = int(likeness.argmax())
    return best if likeness[best] >= _GROUPING.shared else None


def _shape(volume: npt.NDArray[Any]) -> _Shape:
    """Finds where each member's signal is above its mean."""
    total = volume.sum(axis=1, keepdims=True)
    within = volume > total / volume.shape[1]
    count = within.sum(axis=1)
    runs = (within[:, 1:] & ~within[:, :-1]).sum(axis=1) + within[:, 0]
    share = np.where(within, volume, 0.0).sum(axis=1) / np.maximum(total[:, 0], 1e-30)
    clear = (runs >= _GROUPING.phases) & (share - count / volume.shape[1] >= _GROUPING.contrast)
    centred = within - count[:, None] / volume.shape[1]
    norm = np.sqrt((centred**2).sum(axis=1))
    centred /= np.maximum(norm, 1e-12)[:, None]
    return _Shape(clear, runs, centred @ centred.T)


def _joined(members: Ints, alike: Floats) -> list[list[int]]:
    """Joins the two groups whose sums are most alike, until none are alike enough.

    Members that each come with a delay of their own are hardly alike, but many of them are like many others.
    """
    within = alike[np.ix_(members, members)].copy()
    np.fill_diagonal(within, 1.0)
    groups = [[member] for member in members.tolist()]
    while len(groups) > 1:
        norm = np.sqrt(np.maximum(within.diagonal(), 1e-12))
        between = within / np.multiply.outer(norm, norm)
        np.fill_diagonal(between, -1.0)
        one, other = divmod(int(between.argmax()), len(groups))
        if between[one, other] < _GROUPING.together:
            break
        within[one] += within[other]
        within[:, one] += within[:, other]
        within = np.delete(np.delete(within, other, 0), other, 1)
        groups[one] += groups[other]
        del groups[other]
    return [sorted(group) for group in groups]
