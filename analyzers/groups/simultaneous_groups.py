"""Groups of members that do I/O together, from the times of their phases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ..common.sorting import sorted_distinct
from ..periodicity.tuning import TUNING
from .member_keys import Key
from .member_phases import Floats, phased_of, shape_of
from .member_signals import MemberSignals
from .turns import merge_members_in_turn

_GROUPING: Final = TUNING.grouping

Ints = npt.NDArray[np.int64]


def simultaneous_groups(signals: MemberSignals, keys: Sequence[Key]) -> list[list[int]]:
    """Return groups of members with simultaneous phases, by descending bytes.

    Two members are compared at the coarsest level at which both have clear phases. Members with phases, but without
    such a level, are of different orders and in different groups. Members without phases form one group.

    Args:
        signals: signals of the members.
        keys: identity of each member.
    """
    volumes = [signals.bins_of_members(level)[: len(keys)] for level in range(signals.levels - 1, -1, -1)]
    units, shapes = merge_members_in_turn(volumes, keys)
    count = len(units)
    alike, known = np.zeros((count, count)), np.zeros((count, count), np.bool_)
    for shape in shapes:
        fresh = np.logical_and.outer(shape.clear, shape.clear) & ~known
        if fresh.any():
            counts = np.log(np.maximum(shape.counts, 1))
            same = np.abs(np.subtract.outer(counts, counts)) <= math.log(_GROUPING.max_count_ratio)
            alike[fresh] = np.where(same, shape.correlations(), 0.0)[fresh]
            known |= fresh
    phased = phased_of(shapes)
    joined = [] if not phased.any() else _merge_similar(np.flatnonzero(phased), alike)
    made = [sorted(member for unit in group for member in units[unit]) for group in joined]
    made = _merge_partial_groups(volumes, made)
    rest = sorted(member for unit in np.flatnonzero(~phased).tolist() for member in units[unit])
    if rest and made and (similar_group := _group_with_similar_phases(volumes, made, rest)) is not None:
        made[similar_group] += rest
        rest = []
    total = volumes[0].sum(axis=1)
    return sorted([*made, rest] if rest else made, key=lambda group: -float(total[group].sum()))


def _merge_partial_groups(volumes: Sequence[npt.NDArray[Any]], groups: list[list[int]]) -> list[list[int]]:
    """Merge groups into those in whose phases they do I/O irregularly.

    They take part neither in all nor in every n-th phase.

    Ranks that sometimes have nothing to write do not form a separate group.
    """
    kept = sorted(groups, key=lambda group: -float(volumes[0][group].sum()))
    for part in kept[::-1]:
        whole = next((group for group in kept if group is not part and _is_partial_group(volumes, part, group)), None)
        if whole is not None:
            kept.remove(part)
            whole += part
    return [sorted(group) for group in kept]


def _is_partial_group(volumes: Sequence[npt.NDArray[Any]], part: list[int], whole: list[int]) -> bool:
    """Return whether a group skips phases of another at random. It must do no I/O between them."""
    for volume in volumes:
        signals = np.array([volume[group].sum(axis=0) for group in (whole, part)])
        shape = shape_of(signals)
        if not shape.clear[0]:
            continue
        within, own = shape.within
        share = float(within.mean())
        inside = float(signals[1][within].sum()) / max(float(signals[1].sum()), 1e-30)
        if inside - share < _GROUPING.min_inside_share * (1 - share):
            return False
        number = np.cumsum(np.diff(within.astype(np.int8), prepend=0) > 0)
        skipped = np.diff(sorted_distinct(number[within & own]))
        return bool(len(skipped) > 1 and np.bincount(skipped).max() < _GROUPING.max_equal_distance_share * len(skipped))
    return False


def _group_with_similar_phases(
    volumes: Sequence[npt.NDArray[Any]], groups: list[list[int]], rest: list[int]
) -> int | None:
    """Return the group whose phases contain the I/O of the members without clear phases.

    Returns None if there is none.
    """
    likeness = np.full(len(groups), -1.0)
    for each in volumes:
        shape = shape_of(np.array([each[group].sum(axis=0) for group in (*groups, rest)]))
        likeness = np.where((likeness < 0) & shape.clear[:-1], np.maximum(shape.correlations()[-1, :-1], 0.0), likeness)
    best = int(likeness.argmax())
    return best if likeness[best] >= _GROUPING.min_unclear_correlation else None


def _merge_similar(members: Ints, alike: Floats) -> list[list[int]]:
    """Merge the two groups with the most similar sums, until none are similar enough.

    Members with individual delays are hardly similar to one another, but many of them are similar to many others.
    """
    within = alike[np.ix_(members, members)].copy()
    np.fill_diagonal(within, 1.0)
    groups = [[member] for member in members.tolist()]
    while len(groups) > 1:
        norm = np.sqrt(np.maximum(within.diagonal(), 1e-12))
        between = within / np.multiply.outer(norm, norm)
        np.fill_diagonal(between, -1.0)
        one, other = divmod(int(between.argmax()), len(groups))
        if between[one, other] < _GROUPING.min_group_correlation:
            break
        within[one] += within[other]
        within[:, one] += within[:, other]
        within = np.delete(np.delete(within, other, 0), other, 1)
        groups[one] += groups[other]
        del groups[other]
    return [sorted(group) for group in groups]
