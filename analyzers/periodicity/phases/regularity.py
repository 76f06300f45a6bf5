"""Regularity of phases: since the last change, without pauses, and across missed phases."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from .. import compiled
from ..confidence import chance_of
from ..tuning import TUNING
from .changes import LONGER, last_change
from .memoized import memoized
from .missed_phases import RESOLVED, classify_intervals
from .phases import Floats, Phases
from .trend import cycle_of, deviation_from_cycle, latest, means_of_cycle, trend_of

_INTERVALS = TUNING.intervals
_BIN_VARIANCE = 1 / 12  # variance of an interval's resolution, bins squared
_FEWEST_PAUSES = 3  # fewer have no spread that means anything
_EXACT = 0.01  # variance of intervals that count as exact, bins squared; edges of long phases are known as well


class Regularity(Struct, frozen=True, eq=False):
    """Regularity of a sequence of phases.

    Attributes:
        period: mean interval between starts, bins.
        spread: standard deviation of the intervals over the period.
        chance: probability that as many intervals between random times are as regular.
        intervals: intervals, bins; an interval across missed phases counts as several of equal length.
        since: index of the first phase since the last change of the period; 0 without one.
        missed: number of intervals across missed phases.
        stray: number of further intervals excluded as pauses of the program.
        drift: growth of each of the latest intervals over the one before, bins; 0 for constant intervals. Between equal
            pauses, phases that take ever longer make the intervals grow.
        pauses: distances from the ends of phases to the next starts, bins, if these are far more regular; ``chance`` is
            then that of the pauses. Otherwise None.
        pause_spread: standard deviation of the pauses over the period.
        cycle: number of intervals after which they, or the pauses, repeat a pattern, e.g. 4 if each fourth one is
            longer; 0 if they do not. The spread is then that around the pattern.
    """

    period: float
    spread: float
    chance: float
    intervals: Floats
    since: int = 0
    missed: int = 0
    stray: int = 0
    drift: float = 0.0
    pauses: Floats | None = None
    pause_spread: float = 0.0
    cycle: int = 0

    @property
    def clock_spread(self) -> float:
        """Spread of the next start over the period. It is timed from the last start or the last end."""
        return self.spread if self.pauses is None else self.pause_spread


def shortest_interval(period: float) -> float:
    """Return the shortest interval that ``segment`` can find between phases, bins. It is one bin and a pause."""
    return 1 + max(period * TUNING.segmentation.max_gap_periods, 1.0)


def regularity(phases: Phases, shortest: float = 0.0, *, allow_missed: bool = True) -> Regularity | None:
    """Measure the intervals between the phases' starts; None for fewer than two phases.

    Intervals between ends, or without the first phase, are used if they are far more regular: a start-up is no phase,
    and may run into the first one. A trace may also begin within a phase. Only intervals since the last change of
    period are used. If intervals are alike except for a few whole multiples, phases were missed there.

    Args:
        phases: phases.
        shortest: shortest interval that the segmentation allows, bins.
        allow_missed: whether phases may have been missed, may be late, or may repeat a pattern of intervals.
    """
    return None if len(phases) < 2 else _regularity(phases.start, phases.end, shortest, allow_missed)


@memoized
def _regularity(start: Floats, end: Floats, shortest: float, allow_missed: bool) -> Regularity:
    if len(start) == 2:
        interval = start[1:] - start[:1]
        return Regularity(float(interval[0]), 1.0, 1.0, interval)
    found = _measure(start[1:] - start[:-1], shortest)
    others = []
    if found.spread > TUNING.tolerances.equal_spread:
        others.append(_measure(end[1:] - end[:-1], shortest))
    if len(start) > 3 and _is_first_stray(found):
        others.append(_measure(found.intervals[1:], shortest))
    if others:
        best = min(others, key=lambda other: other.chance)
        if (
            best.chance < _INTERVALS.end_chance_ratio * found.chance
            and best.spread < TUNING.tolerances.clearly_smaller_spread * found.spread
        ):
            found = best
    if (
        found.spread > TUNING.tolerances.equal_spread
        and (fixed := _of_fixed_pauses(found, start, end, shortest)) is not None
    ):
        return replace(fixed, drift=_with_drift(fixed).drift)
    if (change := last_change(found.intervals)) > 0:
        since = _since(len(start), found.intervals[change:], shortest)
        # of a walk that turns at its bounds, the latest intervals are levels, too, but less even
        found = since if since.spread < TUNING.tolerances.on_time else found
    if found.spread <= TUNING.tolerances.equal_spread:
        return _with_drift(found)
    if allow_missed and (pattern := _pattern_of(found, shortest)) is not None:
        return pattern
    return _with_drift(_with_missed_phases(found, shortest, allow_missed=allow_missed))


def _is_first_stray(found: Regularity) -> bool:
    """Return whether the first interval accounts for most of the spread, as if a trace begins within a phase."""
    n, off = len(found.intervals), float(found.intervals[0]) - found.period
    most = 1 - TUNING.tolerances.clearly_smaller_spread**2
    return off * off * n > most * (n - 1) ** 2 * (found.spread * found.period) ** 2


def without_extras(phases: Phases, before: Regularity, shortest: float = 0.0) -> tuple[Phases, Regularity] | None:
    """Drop phases that closely follow another one, if the remaining ones are then regular.

    Returns None otherwise.

    Up to one phase in five may be extra: repeated, or with another purpose.

    Args:
        phases: phases.
        before: regularity of all phases.
        shortest: shortest interval that the segmentation allows, bins.
    """
    intervals = phases.start[1:] - phases.start[:-1]
    if len(intervals) < _INTERVALS.min_intervals:
        return None
    usual = float(np.sort(intervals)[len(intervals) // 2])
    extra = np.zeros(len(phases), bool)
    np.less(intervals, _INTERVALS.max_extra_interval * usual, out=extra[1:])
    count = int(np.count_nonzero(extra))
    if not count or count > _INTERVALS.max_stray_share * len(extra):
        return None
    kept = phases.select(~extra)
    after = regularity(kept, shortest)
    if after is None or after.spread >= TUNING.tolerances.clearly_smaller_spread * before.spread:
        return None
    return kept, after


def with_closed_gaps(phases: Phases, before: Regularity, shortest: float = 0.0) -> tuple[Phases, Regularity] | None:
    """Merge phases with pauses between them that a segmentation at the measured period would close.

    A shorter hypothesis separates them, as the lines at a program's start. Their intervals must be far shorter than all
    others: uneven phases may follow one another closely, too. Returns None if there are none, too many, or if the
    other intervals are not more regular.

    Args:
        phases: phases.
        before: regularity of all phases.
        shortest: shortest interval that the segmentation allows, bins.
    """
    gap = TUNING.segmentation.max_gap_periods
    intervals, pauses = phases.start[1:] - phases.start[:-1], phases.first[1:] - phases.stop[:-1]
    begins = np.append(True, pauses >= gap * before.period)
    places = np.flatnonzero(begins)
    if not 0 < len(begins) - len(places) <= _INTERVALS.max_stray_share * len(begins):
        return None
    if float(intervals[~begins[1:]].max()) > gap * float(intervals[begins[1:]].min()):
        return None
    last = np.append(places[1:], len(begins)) - 1
    merged = Phases(
        phases.start[places],
        phases.end[last],
        np.add.reduceat(phases.volume, places),
        phases.first[places],
        phases.stop[last],
    )
    after = regularity(merged, shortest)
    return None if after is None or after.spread >= before.spread else (merged, after)


def _of_fixed_pauses(found: Regularity, start: Floats, end: Floats, shortest: float) -> Regularity | None:
    """Measure the pauses between phases. None if they are not far more regular than the intervals between starts.

    A program with a fixed computation time behaves like this: if other jobs delay a phase, the next one starts later. A
    few pauses may be longer, across missed phases, if they explain the starts far better than the intervals do.
    """
    n = len(found.intervals)
    if n < _FEWEST_PAUSES:
        return None
    pauses = (start[1:] - end[:-1])[-n:]
    pause, spread = _mean_and_spread(pauses, RESOLVED)
    if n < _INTERVALS.min_intervals and not _is_far_likelier(spread * pause, found.spread * found.period, n):
        return None
    if pause < TUNING.next_phase.min_end_clock_pause * found.period:
        return None
    # share of a pause available to chance, since gaps in phases are closed
    free = max(pause - max(shortest - 1, 0.0), 1e-3 * pause)
    deviation, most = spread * pause, TUNING.tolerances.clearly_smaller_spread * found.spread * free
    if (deviation >= most and not _has_longer(found.intervals)) or float(pauses.min()) <= 0:
        return None
    if deviation >= most:
        own = classify_intervals(pauses)
        usual = own.multiple == 1
        if not usual[-1] or not _may_be_stray(found.intervals, ~usual, _INTERVALS.max_long_pause_share):
            return None
        starts = classify_intervals(found.intervals)
        if own.likelihood - max(starts.likelihood, starts.plain) < _INTERVALS.min_log_likelihood_ratio:
            return None
        pauses, rest = pauses[usual], _measure(found.intervals[usual], shortest)
        if (deviation := _deviation(pauses)) >= min(most, TUNING.tolerances.on_time * rest.period):
            return None
        found = replace(rest, since=found.since, stray=n - len(pauses))
    chance = _of_choices(chance_of(deviation / free, len(pauses)), n, n - len(pauses))
    return replace(found, pauses=pauses, pause_spread=deviation / found.period, chance=chance)


def _is_far_likelier(deviation: float, other: float, count: int) -> bool:
    """Return whether as many values with a deviation are far likelier than with another one."""
    return count * math.log(other / max(deviation, 1e-9)) > _INTERVALS.min_log_likelihood_ratio


def _may_be_stray(intervals: Floats, stray: npt.NDArray[np.bool_], share: float) -> bool:
    """Return whether that many intervals may be stray. Several must take only part of the time."""
    count = int(stray.sum())
    if count > share * len(intervals):
        return False
    return count < 2 or float(intervals[stray].sum()) <= _INTERVALS.max_paused_time_share * float(intervals.sum())


def _are_rests(intervals: Floats, stray: npt.NDArray[np.bool_]) -> bool:
    """Return whether stray intervals are rests between equal shifts, of which the first and the last may be cut.

    A rest is at least as long as a missed phase. After longer ones, the phases of a shift are rather the bursts of one
    phase.
    """
    places = np.flatnonzero(stray)
    if len(places) < 2 or len(places) > _INTERVALS.max_rest_share * len(intervals):
        return False
    lengths = places[1:] - places[:-1]
    length = int(lengths[0])
    if (lengths != length).any() or int(places[0]) >= length or len(stray) - int(places[-1]) > length:
        return False
    usual = float(intervals[~stray].sum()) / (len(intervals) - len(places))
    rest = float(intervals[stray].sum()) / len(places)
    return 2 <= rest / usual <= _INTERVALS.max_rest_periods


def _deviation(pauses: Floats) -> float:
    off = pauses - float(pauses.sum()) / len(pauses)
    # ends are known no better than starts: one twelfth of a bin squared each
    return math.sqrt(float(off @ off) / (len(pauses) - 1) + RESOLVED)


def _has_longer(intervals: Floats) -> bool:
    """Return whether an interval is so long that it may span a missed phase."""
    return float(intervals.max()) >= LONGER * float(np.sort(intervals)[(len(intervals) - 1) // 2])


def _pattern_of(found: Regularity, shortest: float) -> Regularity | None:
    """Measure intervals around the pattern that they repeat; None if they repeat none.

    They are as regular as their deviations from it, and by chance as often as fewer intervals for each place of it.
    Each must be on time. Beside intervals that are so long that a phase may be missing there, these phases are shifts,
    bursts of longer phases, or extra ones.
    """
    intervals = found.intervals
    n, cycle = len(intervals), cycle_of(intervals, RESOLVED)
    if not cycle:
        return None
    means, tolerance = means_of_cycle(intervals, cycle, RESOLVED), TUNING.tolerances.on_time
    if max(means) >= (2 - tolerance) * min(means):
        return None
    period = sum(means) / cycle
    if float(np.abs(intervals - np.array(means)[np.arange(-n, 0) % cycle]).max()) > tolerance * period:
        return None
    spread = math.hypot(deviation_from_cycle(intervals, cycle), math.sqrt(_BIN_VARIANCE)) / period
    chance = _INTERVALS.max_pattern * chance_of(spread / _free(shortest, period), n - cycle + 1)
    return replace(found, period=period, spread=spread, chance=min(chance, 1.0), cycle=cycle)


def _with_missed_phases(found: Regularity, shortest: float, *, allow_missed: bool) -> Regularity:
    """Count intervals across missed phases as several, and excludes stray intervals.

    This is done if such a mixture is far more likely than intervals of one kind, and the remaining intervals are alike.
    If no phase can have been missed, only pauses are excluded. After the first pause, two phases must confirm the
    period.
    """
    n = len(found.intervals)
    if n < _INTERVALS.min_intervals or float(found.intervals.min()) <= 0 or not _has_longer(found.intervals):
        return found
    pauses = found.intervals > (_INTERVALS.max_missed + 0.5) * float(np.sort(found.intervals)[n // 2])
    if pauses[-1] and not pauses[:-1].any():
        return found
    reading = classify_intervals(found.intervals)
    multiple = reading.multiple if allow_missed else np.where(pauses, 0, 1)
    stray = multiple == 0
    count, missed = int(np.count_nonzero(stray)), int(np.count_nonzero(multiple > 1))
    if not count + missed or 2 * (count + missed) >= n:
        return found
    if not (_may_be_stray(found.intervals, stray, _INTERVALS.max_stray_share) or _are_rests(found.intervals, stray)):
        return found
    if reading.likelihood - reading.plain < _INTERVALS.min_log_likelihood_ratio:
        return found
    rest = _measure(found.intervals[~stray] / multiple[~stray], shortest)
    # several long ones among uneven intervals are a heavy tail; those across missed phases are whole multiples
    most = (
        TUNING.tolerances.irregular_spread
        if missed
        else TUNING.quality.interval_spread_scale
        if count == 1
        else TUNING.tolerances.on_time
    )
    if rest.spread >= min(TUNING.tolerances.clearly_smaller_spread * found.spread, most):
        return found
    return replace(rest, since=found.since, missed=missed, stray=count, chance=_of_choices(rest.chance, n, count))


def _of_choices(chance: float, intervals: int, stray: int) -> float:
    """Return the probability that any choice of so many stray intervals leaves intervals as regular by chance."""
    ways = math.lgamma(intervals + 1) - math.lgamma(stray + 1) - math.lgamma(intervals - stray + 1)
    return math.exp(min(math.log(chance) + ways, 0.0)) if chance else 0.0


def _with_drift(found: Regularity) -> Regularity:
    """Measure the spread around the trend of the latest intervals, if there is one."""
    if found.missed:
        return found
    recent = latest(found.intervals)
    usual = float(recent.sum()) / len(recent)
    trend = trend_of(recent, _EXACT)
    if trend is None or abs(trend.growth) > _INTERVALS.max_drift * usual:
        return found  # intervals that vary anyway grow as fast only by chance
    # relative to the shorter of the present and the mean interval: short intervals must not look even beside long ones
    spread = trend.deviation / min(usual, found.period)
    return replace(found, spread=min(found.spread, spread), drift=trend.growth)


def _since(phases: int, intervals: Floats, shortest: float) -> Regularity:
    """Measure the intervals since a change of period. The first may lie between the two periods."""
    found = _measure(intervals, shortest)
    if len(intervals) > _INTERVALS.min_new_intervals + 1:
        rest = _measure(intervals[1:], shortest)
        if rest.spread < TUNING.tolerances.clearly_smaller_spread * found.spread:
            found = rest
    return replace(found, since=phases - 1 - len(found.intervals))


def _mean_and_spread(values: Floats, resolved: float) -> tuple[float, float]:
    """Return the mean, and the deviation over it. ``resolved`` is the variance of the resolution, bins squared."""
    if (found := compiled.measure(values, resolved)) is not None:
        return found
    mean = max(float(values.sum()) / len(values), 1e-9)
    off = values - mean
    return mean, math.sqrt(float(off @ off) / (len(values) - 1) + resolved) / mean


def _measure(intervals: Floats, shortest: float) -> Regularity:
    n = len(intervals)
    period, spread = _mean_and_spread(intervals, _BIN_VARIANCE)
    return Regularity(period, spread, chance_of(spread / _free(shortest, period), n), intervals)


def _free(shortest: float, period: float) -> float:
    """Return the share of an interval that is available to chance."""
    return max(1 - shortest / period, 1e-3)
