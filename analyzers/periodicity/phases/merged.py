"""Phases without a pause between them. They are detected by volumes that are whole multiples of the others.

If the time between phases varies, some follow each other immediately. A program that writes the same state each time
reveals them: their volume and length are two or three times those of the others.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from .. import compiled
from ..compiled import MOST_UNITS
from ..tuning import TUNING
from .memoized import memoized
from .phase_volumes import EQUAL_VOLUMES, with_background_volume
from .phases import Floats, Phases, Positions, Segmenter
from .trend import cycle_of

_MERGED_PHASES: Final = TUNING.merged_phases
_NEARER_TO_TWO: Final = 1.5  # ratio of two volumes from which on the larger one is nearer to two than to one


def split_merged(segmenter: Segmenter, phases: Phases) -> Phases | None:
    """Split phases whose volume and length are whole multiples of the others'. None if there are none.

    If each n-th phase is larger, the program writes more there. Phases follow each other immediately at any place.

    Args:
        segmenter: segmenter of the signal.
        phases: phases of the signal.
    """
    if len(phases) < TUNING.intervals.min_intervals or _count_bins(segmenter, phases):
        return None
    found = compiled.multiples(segmenter.running, phases.columns, _NEARER_TO_TWO)
    multiple = _larger_multiples(segmenter, phases) if found is None else found[0]
    if multiple is None or cycle_of(phases.volume, EQUAL_VOLUMES * float(phases.volume.mean()) ** 2):
        return None
    starts: list[float] = []
    firsts: list[int] = []
    stops: list[int] = []
    ends: list[float] = []
    for row, count in enumerate(multiple.tolist()):
        cuts = [] if count == 1 else _dips(segmenter, int(phases.first[row]), int(phases.stop[row]), count)
        starts += [float(phases.start[row]), *map(float, cuts)]
        ends += [*map(float, cuts), float(phases.end[row])]
        firsts += [int(phases.first[row]), *cuts]
        stops += [*cuts, int(phases.stop[row])]
    volume = np.repeat(phases.volume / multiple, multiple)
    return Phases(np.array(starts), np.array(ends), volume, np.array(firsts, np.int64), np.array(stops, np.int64))


def _count_bins(segmenter: Segmenter, phases: Phases) -> bool:
    """Return whether volumes and lengths are only numbers of bins: of short phases in a clipped signal.

    A phase across the border of two bins would count as two.
    """
    bins = phases.stop - phases.first
    short = int(np.count_nonzero(bins < TUNING.segmentation.edge_bins))
    return segmenter.origin is not segmenter and 2 * short > len(bins)


def _larger_multiples(segmenter: Segmenter, phases: Phases) -> Positions | None:
    """Return the number of equal phases in each phase. Returns None if each is one."""
    length = phases.end - phases.start
    volumes = phases.volume, with_background_volume(segmenter, phases)
    if all(float(volume.max()) < _NEARER_TO_TWO * float(volume.min()) for volume in volumes):
        return None
    multiples = [phase_multiples(volume, length) for volume in volumes]
    multiple = max((each for each in multiples if each is not None), key=lambda each: int(each.sum()), default=None)
    return None if multiple is None or not (multiple > 1).any() else multiple


@memoized
def phase_multiples(volume: Floats, length: Floats) -> Positions | None:
    """Return the number of equal phases in each phase, int64. Returns None if there is no common size.

    Either nearly all volumes are close to whole multiples of one of them, or most volumes are about equal.
    """
    if len(volume) < TUNING.intervals.min_intervals:
        return None
    ordered = np.sort(volume)
    unit = ordered[np.append(True, ordered[1:] != ordered[:-1])]
    if len(unit) > MOST_UNITS:
        unit = unit[np.linspace(0, len(unit) - 1, MOST_UNITS).astype(np.intp)]
    for tolerance, least_single in (
        (_MERGED_PHASES.multiple_tolerance, _MERGED_PHASES.min_single_share),
        (_MERGED_PHASES.loose_multiple_tolerance, _MERGED_PHASES.loose_min_single_share),
    ):
        single = ordered.searchsorted(unit * (1 + tolerance), "right") - ordered.searchsorted(unit * (1 - tolerance))
        most = int(single.max())
        if most / len(volume) < least_single:
            continue
        # of the volumes that equally many phases have, use the middle one
        best = np.flatnonzero(single == most)
        ratio = volume / unit[best[len(best) // 2]]
        whole = np.minimum(np.maximum(np.rint(ratio), 1), _MERGED_PHASES.max_merged)
        is_single = whole == 1
        fits = np.abs(ratio / whole - 1) <= np.where(is_single, tolerance, _MERGED_PHASES.multiple_tolerance)
        if np.count_nonzero(fits) / len(volume) >= _MERGED_PHASES.min_fitting_share:
            return _with_matching_length(length, np.where(fits, whole, 1.0), fits & is_single)
    return None


def _with_matching_length(length: Floats, multiple: Floats, is_single: npt.NDArray[np.bool_]) -> Positions:
    """Keep the multiples of phases that are longer by the same factor than single phases."""
    single = np.sort(length[is_single])
    usual = max(float(single[(len(single) - 1) // 2] + single[len(single) // 2]) / 2, 1e-9)
    fits = np.abs(np.log(np.maximum(length, 1e-9) / usual / multiple)) <= _MERGED_PHASES.length_log_tolerance
    return np.where(fits, multiple, 1).astype(np.int64)


def _dips(segmenter: Segmenter, first: int, stop: int, count: int) -> list[int]:
    """Return the bins at which the second and later phases begin. They are the quietest bins near equal volumes."""
    running = segmenter.running
    volume = (running[stop] - running[first]) / count
    cuts: list[int] = []
    begin = first
    for number in range(1, count):
        due = running[first] + number * volume
        cut = int(np.searchsorted(running, due))
        low, high = np.searchsorted(
            running, [due - _MERGED_PHASES.dip_reach * volume, due + _MERGED_PHASES.dip_reach * volume]
        )
        near = segmenter.values[max(int(low), begin + 1) : min(int(high), stop - 1)]
        if len(near) and float(near.min()) * len(near) < _MERGED_PHASES.max_dip * float(near.sum()):
            cut = max(int(low), begin + 1) + int(near.argmin())
            # the next phase begins in the quiet bin or after it, depending on the quiet share of the bin
            cut += int(segmenter.values[cut] < segmenter.threshold)
        cuts.append(min(max(cut, begin + 1), stop - 1))
        begin = cuts[-1]
    return cuts
