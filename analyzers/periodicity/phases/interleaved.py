"""Separation of the phases of two independent programs in one signal."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from .. import compiled
from ..confidence import chance_of
from ..tuning import TUNING
from .missed_phases import RESOLVED
from .phases import Floats, Phases, median

_INTERVALS: Final = TUNING.intervals
_LATEST: Final = 64
"""Number of latest phases examined."""
_ORDERS: Final = 5
"""Maximum distance between successive phases of one program, in phases of both."""
_TRIED: Final = 8
"""Maximum number of distances tried."""
_COMMON: Final = 1 / 4
"""Minimum share of a program's phases with a successor at its distance. Half of them may be hidden."""
_SHIFTED: Final = 1
"""Minimum shift of two programs against each other, in phases."""
_NOTHING: Final = 1e-9

Numbers = npt.NDArray[np.int64]
Links = list[tuple[int, int, int, float]]
"""Pairs of phases at a distance: first phase, hidden phases between them, second phase, deviation in distances."""


class Train(Struct, frozen=True, eq=False):
    """Phases of one program.

    Attributes:
        members: indices of the phases, int64.
        period: mean distance, bins; distances over hidden phases are divided.
        chance: probability to find as many equally regular times among as many random ones.
    """

    members: Numbers
    period: float
    chance: float


def interleaved(phases: Phases) -> tuple[Train, Train] | None:
    """Separate the phases of two programs; None if there are not two.

    Common distances of phases, to the next phase or one of those after it, are tried from the shortest on, as in the
    deinterleaving of radar pulses (Milojevic and Popovic 1992). The least likely sequence of phases at such a distance
    is one program, and that of the remaining phases the other. Phases may be hidden by those of the other program, and
    few may be left over. The programs must have shifted against each other by at least one phase. Otherwise they are
    one program with a pattern, or with two phases per period.

    Args:
        phases: all phases in order of time; the latest 64 are examined.
    """
    skipped = max(len(phases) - _LATEST, 0)
    start = phases.start[skipped:]
    n = len(start)
    if n < 2 * _INTERVALS.min_intervals + 2:
        return None
    one = _best_train(start, np.arange(n))
    if one is None:
        return None
    left = np.ones(n, bool)
    left[one.members] = False
    rest = np.flatnonzero(left)
    other = _best_train(start, rest) if len(rest) >= _INTERVALS.min_intervals else None
    if other is None or n - len(one.members) - len(other.members) > TUNING.tolerances.irregular_spread * n:
        return None
    if not _independent(start, one, other):
        return None
    return replace(one, members=one.members + skipped), replace(other, members=other.members + skipped)


def with_hidden(own: Phases, phases: Phases, period: float) -> Phases:
    """Return a program's phases with those that the other program hides.

    A hidden phase has the usual length and volume.

    Args:
        own: phases of the program.
        phases: phases of both programs.
        period: its period, bins.
    """
    reach = TUNING.tolerances.correct_period * period
    begin, end = phases.start - reach, phases.end + reach

    def covered(at: float) -> bool:
        return bool(((begin <= at) & (at <= end)).any())

    hidden: list[float] = []
    for start, after in pairwise(own.start.tolist()):
        steps = round((after - start) / period)
        hidden += filter(covered, (start + (after - start) * step / steps for step in range(1, steps)))
    last = float(own.start[-1]) + period
    while last <= float(phases.end[-1]) and covered(last):
        hidden.append(last)
        last += period
    if not hidden:
        return own
    start = np.array(hidden)
    end = start + median(own.end - own.start)
    added = Phases(
        start,
        end,
        np.full(len(start), median(own.volume)),
        np.floor(start).astype(np.int64),
        np.ceil(end).astype(np.int64),
    )
    columns = (np.concatenate(each) for each in zip(own.columns, added.columns, strict=True))
    order = np.argsort(np.concatenate([own.start, start]))
    return Phases(*(each[order] for each in columns))


def _best_train(start: Floats, among: Numbers) -> Train | None:
    """Return the sequence of phases that is least likely due to chance."""
    at = start[among]
    trains = compiled.trains(at, orders=_ORDERS, tried=_TRIED, common=_COMMON, resolved=RESOLVED)
    if trains is None:
        distances = _common_distances(at)
        links = _links(at, np.array(distances)) if distances else []
        found = (_train(at, distance, of_it) for distance, of_it in zip(distances, links, strict=True))
        best = min(filter(None, found), key=lambda each: each.chance, default=None)
    else:
        best = min((_rated(len(at), *each) for each in trains), key=lambda each: each.chance, default=None)
    return None if best is None else replace(best, members=among[best.members])


def _common_distances(start: Floats) -> list[float]:
    """Return distances with at least half the count of a regular program, shortest first."""
    n, whole = len(start), float(start[-1] - start[0])
    orders = range(1, min(_ORDERS, n - 1) + 1)
    distances = np.sort(np.concatenate([start[order:] - start[:-order] for order in orders]))
    distances = distances[distances > 0]
    width = 1 + TUNING.tolerances.correct_period
    count = np.searchsorted(distances, distances * width, side="right") - np.arange(len(distances))
    share = count * distances / max(whole, _NOTHING)
    stop, found = np.arange(len(distances)) + count, list[float]()
    mean = np.append(0.0, np.cumsum(distances))
    mean = (mean[stop] - mean[:-1]) / count
    for at in np.flatnonzero(share >= _COMMON).tolist():
        # the largest of these distances is an upper bound of their mean
        if found and distances[stop[at] - 1] <= width * found[-1]:
            continue
        distance = float(mean[at])
        if not found or distance > width * found[-1]:
            found.append(distance)
        if len(found) == _TRIED:
            break
    return found


def _train(at: Floats, distance: float, links: Links) -> Train | None:
    """Return the longest sequence of phases at a distance, of which some may be hidden.

    Returns None if it is too short.
    """
    n = len(at)
    length, steps, before = [1.0] * n, [0] * n, [-1] * n
    for each, hidden, to, off in links:
        # smaller deviations increase the score, hidden phases decrease it
        if (score := length[each] + 1 - hidden - off) > length[to]:
            length[to], before[to], steps[to] = score, each, steps[each] + hidden + 1
    chosen = [max(range(n), key=length.__getitem__)]
    whole = steps[chosen[0]]
    while before[chosen[-1]] >= 0:
        chosen.append(before[chosen[-1]])
    count = len(chosen)
    if count < _INTERVALS.min_intervals or whole >= 2 * count:
        return None
    members = np.array(chosen[::-1])
    taken = at[members]
    intervals = (taken[1:] - taken[:-1]) / np.rint((taken[1:] - taken[:-1]) / distance)
    period = float(taken[-1] - taken[0]) / whole
    spread = math.sqrt(float(np.square(intervals / period - 1).sum()) / (count - 2) + RESOLVED / (period * period))
    return _rated(n, members, period, spread)


def _rated(n: int, members: Numbers, period: float, spread: float) -> Train:
    """Return a sequence of some of ``n`` phases with its chance."""
    count = len(members)
    choices = math.lgamma(n + 1) - math.lgamma(count + 1) - math.lgamma(n - count + 1)
    return Train(members, period, math.exp(min(choices + math.log(chance_of(spread, count - 1) + _NOTHING**9), 0.0)))


def _links(at: Floats, distances: Floats) -> list[Links]:
    """Return the links between phases for each distance.

    They are ordered by the first phase, then by the number of hidden phases.
    """
    times = np.arange(1, _INTERVALS.max_missed + 1)
    wanted = at[:, None] + (times * distances[:, None])[:, None, :]
    after = np.minimum(np.maximum(np.searchsorted(at, wanted), 1), len(at) - 1)
    nearest = np.where(wanted - at[after - 1] < at[after] - wanted, after - 1, after)
    off = np.abs(at[nearest] - wanted) / distances[:, None, None]
    linked = np.nonzero((off < TUNING.tolerances.correct_period) & (nearest > np.arange(len(at))[:, None]))
    links: list[Links] = [[] for _ in distances]
    of_distance, first, hidden = (each.tolist() for each in linked)
    rows = zip(first, hidden, nearest[linked].tolist(), off[linked].tolist(), strict=True)
    for distance, row in zip(of_distance, rows, strict=True):
        links[distance].append(row)
    return links


def _independent(start: Floats, one: Train, other: Train) -> bool:
    """Return whether two programs overlapped in time and shifted against each other.

    The shift is at least one phase.
    """
    began = max(float(start[one.members[0]]), float(start[other.members[0]]))
    ended = min(float(start[one.members[-1]]), float(start[other.members[-1]]))
    together = ended - began
    longer, shorter = max(one.period, other.period), min(one.period, other.period)
    if together < _INTERVALS.min_intervals * longer:
        return False
    times = max(round(longer / shorter), 1)
    return abs(together / shorter - times * together / longer) >= _SHIFTED
