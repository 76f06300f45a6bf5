"""Start of the next phase, given that it has not come yet. It is on time, after missed phases, or stray."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Final, NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from .. import compiled
from ..confidence import predicted_spread, student_t_within
from ..phases.missed_phases import RESOLVED
from ..phases.phases import Floats, Phases
from ..phases.regularity import Regularity
from ..phases.trend import comparable_with_next
from ..tuning import TUNING
from .clock import Clock
from .intervals import interval_of
from .running_phase import endings

_NEXT_PHASE: Final = TUNING.next_phase
_NEGLIGIBLE: Final = 1e-4  # share of the odds below which a course is ignored
_HOLDS: Final = 0.9  # coverage of an interval
_HALVINGS: Final = 12  # bisection steps of a quantile
_ROOT: Final = math.sqrt(2)
_SURE: Final = 30.0  # log odds of what is certain
_NEVER: Final = 1e-12  # negligible probability
_LIKELY: Final = 0.5  # probability from which on a rest is predicted
_NORMAL: Final = NormalDist()
_REACH: Final = _NORMAL.inv_cdf(0.5 + _HOLDS / 2)  # half width of such an interval, in standard deviations


class NextStart(Struct, frozen=True):
    """Predicted next start, bins.

    Attributes:
        start: expected start.
        low, high: its 90 % interval.
        in_time: probability that it comes within a fifth of a period of ``start``.
        missed: share of missed or stray phases.
        rest: probability that the program rests until then, between two shifts.
    """

    start: float
    low: float
    high: float
    in_time: float
    missed: float = 0.0
    rest: float = 0.0


class _Rates(NamedTuple):
    """One explanation of the past intervals: its share of the odds, and its rates of missed and of stray phases."""

    share: float
    missed: float
    stray: float


class _Time(Struct, frozen=True):
    """Start of the next phase if it is on time. It has odds, origin, mean time from there, and its deviation, bins."""

    odds: float
    origin: float
    mean: float
    deviation: float


class _Course(Struct, frozen=True):
    """One possible course; times in bins.

    The time from ``origin`` has a gamma distribution, which is nearly normal for small spreads, and that of random
    times for a spread of one. By Wilson and Hilferty's approximation, its cube root is normal.

    Attributes:
        odds: odds of this course.
        left: remaining odds, given that the phase has not been seen yet.
        origin: time from which the interval counts.
        mean: mean of the interval.
        spread: its standard deviation over the mean.
        missed: number of missed phases.
        deviation: standard deviation of the remaining length of a running phase, bins.
        slope, shift: line from the cube root of the time to the argument of ``erfc``.
    """

    odds: float
    left: float
    origin: float
    mean: float
    spread: float
    missed: int
    deviation: float
    slope: float
    shift: float

    @classmethod
    def of(cls, time: _Time, share: float, usual: float, later: float, missed: int, seen: float) -> _Course:
        """Create a course that is later by missed phases. ``usual`` is the deviation of an interval."""
        origin, mean, odds = time.origin, time.mean + later, share * time.odds
        spread = math.hypot(usual * math.sqrt(missed + 1), time.deviation) / mean
        scale = 3 / (spread * _ROOT)
        slope, shift = scale / math.cbrt(mean), scale * (1 - spread * spread / 9)
        left = odds * 0.5 * math.erfc(math.cbrt(max(seen - origin, 0.0)) * slope - shift)
        return cls(odds, left, origin, mean, spread, missed, time.deviation, slope, shift)

    def widened(self, usual: float) -> float:
        """Return its spread for another standard deviation of intervals, bins."""
        return math.hypot(usual * math.sqrt(self.missed + 1), self.deviation) / self.mean


class _Odds(Struct, frozen=True):
    """All possible courses; times in bins.

    If the program pauses, is delayed or changes, the odds of a start later than t fall as the inverse of the time since
    the last start, in periods, from one period on.

    Attributes:
        courses: all courses.
        rest: the one with a rest between two shifts; None if the program is not known to have any.
        stray: odds of a start at any time.
        last: last start.
        period: mean interval.
        seen: time until which a start would have been seen.
        on_time: share of intervals without a missed or stray phase.
    """

    courses: list[_Course]
    rest: _Course | None
    stray: float
    last: float
    period: float
    seen: float
    on_time: float

    @property
    def whole(self) -> float:
        return sum(course.left for course in self.courses) + self._stray_after(self.seen)

    def before(self, time: float) -> float:
        """Return the odds of a start after ``seen`` and before ``time``."""
        odds = self._stray_after(self.seen) - self._stray_after(time)
        for course in self.courses:
            later = math.cbrt(max(time - course.origin, 0.0)) * course.slope - course.shift
            odds += course.left - course.odds * 0.5 * math.erfc(later)
        return odds

    def near(self, start: float) -> float:
        """Return the odds of a start within a fifth of a period of ``start``."""
        return self.before(start + TUNING.tolerances.on_time * self.period) - self.before(
            max(start - TUNING.tolerances.on_time * self.period, self.seen)
        )

    def stray_between(self, low: float, high: float) -> float:
        return self._stray_after(max(low, self.seen)) - self._stray_after(high)

    def quantiles(self, *shares: float) -> list[float]:
        """Return the times before which the start comes with each share of the odds."""
        rows = [(each.odds, each.left, each.origin, each.mean, each.slope, each.shift) for each in self.courses]
        found = compiled.quantiles(rows, self.stray, (self.last, self.period, self.seen), *shares)
        return [self._quantile(share) for share in shares] if found is None else found.tolist()

    def _quantile(self, share: float) -> float:
        wanted = share * self.whole
        low, high = self.seen, max([self.seen, *(course.origin + course.mean for course in self.courses)])
        high += self.period
        while self.before(high) < wanted:
            low, high = high, self.seen + 4 * (high - self.seen)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.before(middle) < wanted else (low, middle)
        return high

    def _stray_after(self, time: float) -> float:
        return self.stray / max((time - self.last) / self.period, 1.0)


def next_start_of(phases: Phases, regularity: Regularity, clock: Clock, period: float, now: float) -> NextStart:
    """Predict the next start from past rates. These are the rates of phases on time, missed phases and stray phases.

    On time is an interval of the clock after the last start or end; each missed phase adds one period, up to three. If
    the program works in shifts, a rest follows the last phase of each. Odds of starts that would have been seen by now
    are removed. The prediction is the start with the highest odds nearby, or that after a rest which is likely.

    Args:
        phases: past phases, at least two.
        regularity: regularity of these phases.
        clock: clock of these phases.
        period: period, bins.
        now: current time, bins.
    """
    odds = _odds(phases, regularity, clock, period, now)
    whole = odds.whole
    if not whole > 0:
        return NextStart(now, now, now, 0.0)
    odds = replace(odds, courses=[course for course in odds.courses if course.left > _NEGLIGIBLE * whole])
    least = _NEXT_PHASE.min_course_odds * whole / max(len(odds.courses), 1)
    spread = max(predicted_spread(clock.spread, len(clock.intervals)) * period, _NEXT_PHASE.start_resolution_bins)
    rest = 0.0 if odds.rest is None else odds.rest.left / whole
    if odds.rest is not None and rest > _LIKELY:
        start = max(_median(odds.rest, odds.seen, spread), now)
    else:
        likely = [max(_median(course, odds.seen, spread), now) for course in odds.courses if course.left >= least]
        start = likely[0] if len(likely) == 1 else max(likely, key=odds.near, default=now)
    low, high = odds.quantiles((1 - _HOLDS) / 2, (1 + _HOLDS) / 2)
    return NextStart(
        start=start,
        low=low,
        high=high,
        in_time=min(_in_time(odds, start, spread, len(clock.intervals)), 1.0),
        missed=1 - odds.on_time,
        rest=rest,
    )


def _odds(phases: Phases, regularity: Regularity, clock: Clock, period: float, now: float) -> _Odds:
    prior = _NEXT_PHASE.prior_miss_rate * _NEXT_PHASE.prior_miss_intervals
    seen_so_far = len(phases) - 1 + _NEXT_PHASE.prior_miss_intervals
    rare = prior / seen_so_far
    rates = [_Rates(1.0, rare + regularity.missed / seen_so_far, rare + regularity.stray / seen_so_far)]
    shifts = clock.shifts
    # a pattern, or equal shifts, explain the long intervals
    if clock.cycle:
        rates = [_Rates(1.0, rare, rare)]
    elif shifts is not None:
        rates = [rates[0]._replace(share=1 - shifts.equal), _Rates(shifts.equal * (1 - shifts.rests), rare, rare)]
    lengths = (phases.end - phases.start)[:-1][-_NEXT_PHASE.recent_phases :]
    # a phase whose bandwidth rises slowly is not visible before it exceeds the threshold
    rise = float((phases.first[:-1] - phases.start[:-1]).min())
    seen = now - 1 - max(TUNING.segmentation.min_volume_share * float(np.sort(lengths)[len(lengths) // 2]), rise)
    usual = max(
        interval_of(clock.intervals[-_NEXT_PHASE.recent_phases :], least=0.5) / _REACH,
        _NEXT_PHASE.start_resolution_bins,
    )
    shares = [_share_missed(rates, more) for more in range(TUNING.intervals.max_missed + 1)]
    courses = [
        _Course.of(time, share, usual, more * period, more, seen)
        for time in _times(phases, regularity, clock, period, now, lengths)
        for more, share in enumerate(shares)
    ]
    last, rest = float(phases.start[-1]), None
    if shifts is not None and not clock.cycle and shifts.equal > _NEGLIGIBLE:
        time = _Time(shifts.equal * shifts.rests, last, shifts.rest, shifts.deviation)
        courses.append(rest := _Course.of(time, 1.0, usual, 0.0, 0, seen))
    stray = sum(each.share * each.stray for each in rates)
    on_time = shares[0] / sum(each.share for each in rates)
    return _Odds(courses, rest, stray, last, period, seen, on_time)


def _share_missed(rates: list[_Rates], phases: int) -> float:
    """Return the odds of so many missed phases before the next one."""
    if not phases:
        return sum(each.share * (1 - each.missed - each.stray) for each in rates)
    return sum(each.share * (1 - each.missed) * (1 - each.stray) * each.missed**phases for each in rates)


def _times(
    phases: Phases, regularity: Regularity, clock: Clock, period: float, now: float, lengths: Floats
) -> list[_Time]:
    """Return the start of the next phase if it is on time.

    There are several while the last phase may be running, or if it is the first long one.
    """
    last = float(phases.start[-1])
    if not clock.from_end:
        on_grid = clock.late is not None
        known = clock.drifts or on_grid or clock.cycle
        delayed = 0.0 if known else _chance_of_delay(phases, regularity, lengths)
        times = [_Time(1 - delayed, last - (clock.late or 0.0), clock.next if known else period, 0.0)]
        if delayed > _NEGLIGIBLE:
            end = float(phases.end[-1])
            times.append(_Time(delayed, end, period - float(lengths.sum()) / len(lengths), 0.0))
        return times
    pause, length = float(clock.intervals[-_NEXT_PHASE.recent_phases :].mean()), float(phases.end[-1]) - last
    since = now - last - length
    if since >= TUNING.segmentation.max_gap_periods * pause:
        return [_Time(1.0, last + length, pause, 0.0)]
    return [
        _Time(each.odds, last, each.length + pause, each.deviation)
        if each.deviation
        else _Time(each.odds, last + length, pause, 0.0)
        for each in endings(comparable_with_next(lengths, RESOLVED).like, length, max(since, 0.0))
        if each.odds > _NEGLIGIBLE
    ]


def _chance_of_delay(phases: Phases, regularity: Regularity, lengths: Floats) -> float:
    """Return the probability that a last phase, which is longer than all before, delays the next one.

    Phases of one length do not show whether a program computes for a fixed time after each, or starts them by a timer.
    Otherwise the more even of intervals and pauses is likelier.

    Args:
        phases: past phases.
        regularity: their regularity.
        lengths: lengths of complete phases, bins.
    """
    longest = (1 + _NEXT_PHASE.kind_length_difference) * float(lengths.max())
    if regularity.missed or regularity.stray or float(phases.end[-1] - phases.start[-1]) <= longest:
        return 0.0
    intervals = regularity.intervals[-_NEXT_PHASE.recent_phases :]
    count = len(intervals)
    if count < 2:
        return 0.0
    pauses = (phases.start[1:] - phases.end[:-1])[-count:]
    log_odds = count / 2 * math.log((float(intervals.var()) + RESOLVED) / (float(pauses.var()) + RESOLVED))
    return 1 / (1 + math.exp(min(max(-log_odds, -_SURE), _SURE)))


def _in_time(odds: _Odds, start: float, spread: float, intervals: int) -> float:
    """Probability that the start is near its prediction. After few intervals, courses have a wider spread."""
    low, high = (
        max(start - TUNING.tolerances.on_time * odds.period, odds.seen),
        start + TUNING.tolerances.on_time * odds.period,
    )
    near = odds.stray_between(low, high)
    for course in odds.courses:
        wide = course.widened(spread)

        def after(time: float, course: _Course = course, wide: float = wide) -> float:
            off = _deviations((time - course.origin) / course.mean, wide)
            return 0.5 - math.copysign(0.5 * student_t_within(abs(off), intervals), off)

        near += course.left * (after(low) - after(high)) / max(after(odds.seen), _NEVER)
    return near / odds.whole


def _deviations(share: float, spread: float) -> float:
    """Return the deviation of a time in the cube root, in standard deviations. The time is a share of its mean."""
    return (math.cbrt(max(share, 0.0)) - 1 + spread * spread / 9) * 3 / spread


def _above(deviations: float) -> float:
    """Probability that a normal value exceeds so many standard deviations."""
    return 0.5 * math.erfc(deviations / _ROOT)


def _median(course: _Course, seen: float, spread: float) -> float:
    """Return the median of the rest of a course.

    For few intervals its own spread is too wide, so the smaller one is used.
    """
    spread = min(course.spread, course.widened(spread))
    gone = 1 - _above(_deviations((seen - course.origin) / course.mean, spread))
    off = _NORMAL.inv_cdf(min((1 + gone) / 2, 1 - _NEVER))
    return course.origin + course.mean * float(max(1 - spread * spread / 9 + off * spread / 3, 0.0) ** 3)
