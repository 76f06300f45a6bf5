"""Members that are one program in turn.

They are processes of a loop, or ranks or files that alternate between phases.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ..periodicity.tuning import TUNING
from .member_keys import IDENTITY_STEPS, Key, common_identity
from .member_phases import Shape, phased_of, shape_of

_GROUPING: Final = TUNING.grouping

Volumes = Sequence[npt.NDArray[Any]]
Units = list[list[int]]


def merge_members_in_turn(volumes: Volumes, keys: Sequence[Key]) -> tuple[Units, list[Shape]]:
    """Merge members that have their phases in turn.

    A shell loop creates one process per phase: none of them has a period, but together they have one. If ranks
    alternate between phases, each has a multiple of the period.

    Args:
        volumes: bytes of each member in the bins of each level, coarsest first.
        keys: identity of each member.

    Returns:
        The members of each unit, and the shapes of the units at each level.
    """
    units: Units = [[member] for member in range(len(keys))]
    shapes = [shape_of(volume) for volume in volumes]
    of_files = [(common_identity(keys[unit[0]], 0).command, keys[unit[0]].files) for unit in units]
    related = _grouped_by_identity(np.ones(len(units), np.bool_), of_files)
    in_turn = [each for each in related if _take_turns(volumes, units, each)]
    units, shapes = _merge_units(volumes, units, shapes, in_turn)
    for step in range(IDENTITY_STEPS):
        related = _grouped_by_identity(~phased_of(shapes), [common_identity(keys[unit[0]], step) for unit in units])
        units, shapes = _merge_units(volumes, units, shapes, [each for each in related if len(each) > 1])
    return units, shapes


def _grouped_by_identity(chosen: npt.NDArray[np.bool_], identities: Sequence[object]) -> Units:
    """Group the chosen units, by number, that have equal identities."""
    groups: dict[object, list[int]] = {}
    for unit in np.flatnonzero(chosen).tolist():
        groups.setdefault(identities[unit], []).append(unit)
    return list(groups.values())


def _merge_units(volumes: Volumes, units: Units, shapes: list[Shape], together: Units) -> tuple[Units, list[Shape]]:
    """Merge the given units; return all units and their shapes."""
    if not together:
        return units, shapes
    merged = {unit for each in together for unit in each}
    made = [unit for number, unit in enumerate(units) if number not in merged]
    made += [sorted(member for unit in each for member in units[unit]) for each in together]
    return made, [shape_of(_sums(volume, made)) for volume in volumes]


def _take_turns(volumes: Volumes, units: Units, related: list[int]) -> bool:
    """Return whether units have about equally many phases, never simultaneously, at even distances."""
    if len(related) < 2:
        return False
    parts = [units[unit] for unit in related]
    parts.append([member for part in parts for member in part])
    return any(_is_turn(shape_of(_sums(volume, parts))) for volume in volumes)


def _is_turn(shape: Shape) -> bool:
    """Return whether the rows except the last take turns; the last row is their sum."""
    counts, together = shape.counts[:-1], int(shape.counts[-1])
    if not shape.clear[-1] or together < (1 - _GROUPING.turn_tolerance) * counts.sum():
        return False
    if counts.max() - counts.min() > max(1.0, _GROUPING.turn_tolerance * counts.max()):
        return False
    distances = np.diff(np.flatnonzero(np.diff(shape.within[-1].astype(np.int8), prepend=0) > 0))
    return bool(distances.std() <= _GROUPING.turn_distance_deviation * distances.mean())


def _sums(volume: npt.NDArray[Any], units: Units) -> npt.NDArray[Any]:
    return np.array([volume[unit[0]] if len(unit) == 1 else volume[unit].sum(axis=0) for unit in units])
