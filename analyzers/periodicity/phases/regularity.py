"""How regularly phases follow one another: since the last change, without pauses, over phases that were missed."""

from __future__ import annotations

import math

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from ..confidence import chance_of
from ..tuning import TUNING
from .phases import Floats, Phases

_REGULAR = TUNING.regular


RESOLVED = 1 / 6
"""Bins squared: no interval is known better."""


class Regularity(Struct, frozen=True, eq=False):
    """How regularly phases follow one another.

    Attributes:
        period: mean interval between starts, bins.
        spread: standard deviation of the intervals, as a share of the period.
        chance: probability that as many intervals between random moments are as regular as these.
        intervals: the intervals, bins; one over a missed phase counts as several of equal length.
        since: number of the first phase that the intervals belong to; the period before was another one.
        missed: how many of them were over phases that were missed.
        astray: how many more there were that are left out, as the program paused.
        drift: by how much each of the latest is longer than the one before, bins; 0 where they keep their length.
    """

    period: float
    spread: float
    chance: float
    intervals: Floats
    since: int = 0
    missed: int = 0
    astray: int = 0
    drift: float = 0.0


def shortest_interval(period: float) -> float:
    """Returns the shortest interval in bins that ``segment`` can find between phases: a bin and a pause."""
    return 1 + max(period * TUNING.cutting.gap, 1.0)


def regularity(phases: Phases, shortest: float = 0.0, *, held_up: bool = True) -> Regularity | None:
    """Measures the intervals between the phases' starts; None for fewer than two phases.

    Those between their ends, or those without the first phase, are taken when they are far more regular: a start-up is
    no phase, and it may run into the first one. Only those since the last change of period are taken. When
    intervals are alike but for a few that are a whole multiple, phases were missed there.

    Args:
        phases: the phases.
        shortest: the shortest interval that their segmentation lets through, bins.
        held_up: whether phases may have been missed, or come late.
    """
    if len(phases) < 2:
        return None
    if len(phases) == 2:
        interval = phases.start[1:] - phases.start[:1]
        return Regularity(float(interval[0]), 1.0, 1.0, interval)
    found = _measure(phases.start[1:] - phases.start[:-1], shortest)
    if found.spread > TUNING.same.even:
        others = [_measure(phases.end[1:] - phases.end[:-1], shortest)]
        if len(phases) > 3:
            others.append(_measure(found.intervals[1:], shortest))
        best = min(others, key=lambda other: other.chance)
        if best.chance < _REGULAR.far_likelier * found.chance and best.spread < TUNING.same.far_less * found.spread:
            found = best
    if (change := last_change(found.intervals)) > 0:
        since = _since(len(phases), found.intervals[change:], shortest)
        # where intervals wander, the latest are always another group
        found = since if since.spread < TUNING.same.near else found
    found = _without_pauses(found, shortest)
    if not held_up:
        return _with_drift(found)
    whole = _over_missed(found, phases, shortest)
    if whole.spread > TUNING.same.even and (rest := _without_late(found, phases, shortest)) is not None:
        rest = _over_missed(rest, phases, shortest)
        whole = rest if rest.spread < TUNING.same.far_less * whole.spread else whole
    return _with_drift(whole)


def without_extras(phases: Phases, before: Regularity, shortest: float = 0.0) -> tuple[Phases, Regularity] | None:
    """Leaves out phases that follow another one closely, where the others are alike without them; None where not.

    Up to one phase in five may be one that a program does a second time, or for something else.

    Args:
        phases: the phases.
        before: the regularity of all of them.
        shortest: the shortest interval that their segmentation lets through, bins.
    """
    intervals = phases.start[1:] - phases.start[:-1]
    if len(intervals) < _REGULAR.fewest:
        return None
    usual = float(np.sort(intervals)[len(intervals) // 2])
    extra = np.append(False, intervals < _REGULAR.close * usual)
    if not extra.any() or int(extra.sum()) > _REGULAR.extras * len(extra):
        return None
    kept = phases.select(~extra)
    after = regularity(kept, shortest)
    if after is None or after.spread >= TUNING.same.far_less * before.spread:
        return None
    return kept, after


def _over_missed(found: Regularity, phases: Phases, shortest: float) -> Regularity:
    """Counts an interval that is a whole multiple of the usual one as several, where that makes them all alike.

    Where the pauses between the phases are more alike still, it was a phase that took longer, and none is missed.
    """
    n = len(found.intervals)
    usual = float(np.sort(found.intervals)[(n - 1) // 2])
    if usual <= 0 or float(found.intervals.max()) < 1.5 * usual:
        return found
    missed = np.maximum(np.rint(found.intervals / usual), 1)
    count = int((missed > 1).sum())
    if float(missed.max()) > _REGULAR.missed or 2 * count >= n:
        return found
    whole = _measure(np.repeat(found.intervals / missed, missed.astype(int)), shortest)
    if whole.spread >= (TUNING.same.irregular if 4 * count <= n else TUNING.same.even):
        return found
    pauses = (phases.start[1:] - phases.end[:-1])[-n:]
    if float(pauses.min()) > 0 and float(pauses.std()) < whole.spread * whole.period:
        return found
    return replace(whole, since=found.since, missed=count, astray=found.astray)


def _with_drift(found: Regularity) -> Regularity:
    """Measures the spread about a line, where the latest intervals far more likely lie about one than a mean."""
    recent = found.intervals[-_REGULAR.drift_over :]
    n = len(recent)
    if n < _REGULAR.fewest or found.missed or found.spread < TUNING.same.even:
        return found
    following, rest = drawn_on(recent)
    off = recent - float(recent.sum()) / n
    whole, left = float(off @ off) + n * RESOLVED, float(rest @ rest) + n * RESOLVED
    if n / 2 * math.log(whole / left) < _REGULAR.drifts or following <= 0:
        return found
    drift = (following - recent[0]) / n
    return replace(found, spread=min(found.spread, math.sqrt(left / (n - 2)) / found.period), drift=float(drift))


def chance_to_wander(intervals: Floats) -> float:
    """Probability that independent intervals are as like the ones before them as these are.

    Those of periodic I/O vary about the period. Where each is near the one before, but far from the mean, there is no
    period. The correlation of the logarithms of neighbours is nearly normal, about -1/n and with a variance of 1/n.
    """
    n = len(intervals)
    level = np.log(np.maximum(intervals, 1e-9))
    level -= float(level.sum()) / n
    square = float(level @ level)
    if not square > 0:
        return 1.0
    return 0.5 * math.erfc((float(level[1:] @ level[:-1]) / square + 1 / n) * math.sqrt(n / 2))


def drawn_on(intervals: Floats) -> tuple[float, Floats]:
    """Returns what follows on intervals that grow by the same length, or the same share, and how far off each is.

    Of the two that which fits better counts.
    """
    slope, rest = line_through(intervals)
    n = len(intervals)
    following = float(intervals.sum()) / n + slope * (n + 1) / 2
    if float(intervals.min()) > 0:
        level = np.log(intervals)
        growth, off = line_through(level)
        others = intervals - np.exp(level - off)
        if float(others @ others) < float(rest @ rest):
            return math.exp(float(level.sum()) / n + growth * (n + 1) / 2), others
    return following, rest


def line_through(intervals: Floats) -> tuple[float, Floats]:
    """Returns the slope of the line through successive values, and what they are off it."""
    n = len(intervals)
    at = np.arange(n) - (n - 1) / 2
    slope = float(at @ intervals) / float(at @ at)
    return slope, intervals - float(intervals.sum()) / n - slope * at


def _without_pauses(found: Regularity, shortest: float) -> Regularity:
    """Leaves out intervals so long that the program paused, where the others are alike without them.

    What fills less of the time than the pauses between is the inside of phases, and after a pause two phases must show
    that the period is back.
    """
    usual = float(np.sort(found.intervals)[len(found.intervals) // 2])
    pauses = found.intervals > (_REGULAR.missed + 0.5) * usual
    if not pauses.any() or pauses[-1] or int(pauses.sum()) > _REGULAR.pauses * len(pauses):
        return found
    paused, whole = float(found.intervals[pauses].sum()), float(found.intervals.sum())
    if paused > _REGULAR.paused * whole:
        return found
    rest = _measure(found.intervals[~pauses], shortest)
    # several long ones among uneven ones are a heavy tail
    most = TUNING.quality.even if int(pauses.sum()) == 1 else TUNING.same.near
    if rest.spread >= min(TUNING.same.far_less * found.spread, most):
        return found
    return replace(rest, since=found.since, astray=int(pauses.sum()))


def _without_late(found: Regularity, phases: Phases, shortest: float) -> Regularity | None:
    """Leaves out intervals that end with a phase which something held up; None where there is none, or there are many.

    Those over missed phases stay, which are whole multiples of those on time.
    """
    n = len(found.intervals)
    usual = float(np.sort(found.intervals)[(n - 1) // 2])
    if n < _REGULAR.fewest or usual <= 0:
        return None
    ratio = found.intervals / usual
    on_time = ratio[np.abs(ratio - 1) < TUNING.same.near]
    multiple = np.maximum(np.rint(ratio), 1)
    allowed = _REGULAR.late * max(float(on_time.std()), TUNING.same.even / 2) * np.sqrt(multiple)
    late = (ratio > 1) & (np.abs(ratio - multiple) > allowed)
    # it is the pause before it that is longer, and not the phase before that
    pauses = (phases.start[1:] - phases.end[:-1])[-n:] / usual
    late &= pauses - float(np.sort(pauses)[(n - 1) // 2]) > (ratio - 1) / 2
    if not late.any() or late[-1] or int(late.sum()) > _REGULAR.pauses * n:
        return None
    rest = _measure(found.intervals[~late], shortest)
    return replace(rest, since=found.since, astray=found.astray + int(late.sum()))


def _since(phases: int, intervals: Floats, shortest: float) -> Regularity:
    """Measures the intervals since a change of period; the first may still be between the two periods."""
    found = _measure(intervals, shortest)
    if len(intervals) > _REGULAR.latest + 1:
        rest = _measure(intervals[1:], shortest)
        if rest.spread < TUNING.same.far_less * found.spread:
            found = rest
    return replace(found, since=phases - 1 - len(found.intervals))


def last_change(intervals: Floats) -> int:
    """Returns the number of the first interval after the last change of period; 0 without one.

    A change splits the logarithms of the intervals in two groups, each about its own mean. It is believed when that is
    far more likely than one group: the ratio of the likelihoods of normal distributions, n/2 ln(SSE one / SSE two),
    exceeds a bound that grows with the number of places where it may be. Two intervals show a new period, and
    three when each is a multiple of the old ones, as missed phases would make them.
    """
    if float(intervals.max()) < _REGULAR.unchanged * float(intervals.min()):
        return 0
    begin = 0
    while True:
        # several changes hide one another: the newer half may show what all together do not
        for first in (begin, (begin + len(intervals)) // 2):
            if (found := _likeliest_split(intervals[first:])) is not None:
                begin = first + found
                break
        else:
            return begin


def _likeliest_split(intervals: Floats) -> int | None:
    n = len(intervals)
    if n < 2 * _REGULAR.latest:
        return None
    level = np.log(np.maximum(intervals, 1e-9))
    level -= level.mean()
    sums, squares = np.cumsum(level), np.cumsum(level * level)
    before = np.arange(1, n)
    within = squares[-1] - sums[:-1] ** 2 / before - sums[:-1] ** 2 / (n - before)  # level sums up to 0
    gain = n / 2 * np.log((squares[-1] + n * TUNING.same.even**2) / (np.maximum(within, 0) + n * TUNING.same.even**2))
    gain[: _REGULAR.latest - 1] = gain[n - _REGULAR.latest :] = 0.0
    at = int(gain.argmax())
    if gain[at] < _REGULAR.changed + math.log(n):
        return None
    slope, rest = line_through(level)
    if (
        abs(slope) < _REGULAR.steepest
        and float(rest @ rest) < _REGULAR.as_good * float(within[at]) + n * TUNING.same.even**2
    ):
        return None  # a drift
    ratio = math.exp(-float(sums[at]) * (1 / (n - 1 - at) + 1 / (at + 1)))
    times = max(round(ratio), 1)
    if times > 1 and abs(ratio / times - 1) < TUNING.same.irregular and n - 1 - at <= _REGULAR.latest:
        return None  # missed phases look the same so far
    return at + 1


def _measure(intervals: Floats, shortest: float) -> Regularity:
    n = len(intervals)
    period = max(float(intervals.sum()) / n, 1e-9)
    off = intervals - period
    # no interval is known better than to a twelfth of a bin's square
    spread = math.sqrt(float(off @ off) / (n - 1) + 1 / 12) / period
    free = max(1 - shortest / period, 1e-3)  # the share of an interval that chance has to itself
    return Regularity(period, spread, chance_of(spread / free, n), intervals)
