"""Start, duration and volume of the next I/O phase, and of those after it."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from ....results.base import Estimate
from ....results.prediction import FollowingPhase, Interruptions, NextPhase, Pattern, PatternOf, WorkShifts
from ..confidence import student_t_within
from ..estimator import SignalWindow
from ..phases.missed_phases import RESOLVED
from ..phases.phase_volumes import EQUAL_VOLUMES
from ..phases.phases import Floats, Phases
from ..phases.trend import NextValues, comparable_with_next
from ..tuning import TUNING
from .clock import Clock
from .intervals import interval_of
from .next_start import NextStart
from .shifts import Shifts

_MAX_PHASES: Final = 5  # maximum phases after the next one
_OF_SEEN: Final = 2  # past intervals needed per predicted phase
_HOLDS: Final = 0.95  # probability that at most this many phases are missed
_STEEPEST: Final = 4.0  # maximum ratio of the next interval to the first interval of a drift
_REACH: Final = 1.645  # half width of a 90 % interval, in standard deviations
_NEXT_PHASE: Final = TUNING.next_phase


class Following(NamedTuple):
    """A phase after the next one, bins.

    It has an expected start, its 90 % interval, and the probability of coming near it.
    """

    start: float
    low: float
    high: float
    in_time: float


def following_of(expected: NextStart, clock: Clock, intervals: Floats, drift: float, period: float) -> list[Following]:
    """Predict the phases after the next one, if none is missed.

    The deviation over several intervals is measured on the past ones. If phases keep a grid, a late one does not delay
    those after it; if each waits for the one before, it does. Missed phases delay the prediction. If the program works
    in equal shifts, a rest follows the last phase of each.

    Args:
        expected: predicted start of the next phase.
        clock: clock that predicts it.
        intervals: intervals between starts of past phases, bins; of a drifting clock, extrapolated to now.
        drift: mean growth of each of the latest intervals over the one before, bins.
        period: mean interval, bins.
    """
    between_starts = not clock.from_end
    recent = (clock.intervals if clock.drifts else intervals)[-_NEXT_PHASE.recent_phases :]
    step, growth = period, 1.0
    if clock.drifts:
        step = clock.next
        growth = (step / max(step - drift * len(recent), step / _STEEPEST)) ** (1 / len(recent))
    first = min(expected.start - expected.low, expected.high - expected.start)
    found: list[Following] = []
    start, at, rested = expected.start, np.append(0.0, np.cumsum(recent)), 0.0
    most = min(_MAX_PHASES, len(recent) // _OF_SEEN)
    rests = [False] * most if clock.shifts is None else clock.shifts.rests_after_next(most, expected.rest)
    for ahead, rest in enumerate(rests, 1):
        step = clock.cycle[ahead % len(clock.cycle)] if between_starts and clock.cycle else step * growth
        start += step
        if clock.shifts is not None and rest:
            start += clock.shifts.rest - step
            rested = math.hypot(rested, clock.shifts.deviation * _REACH)
        reach = math.hypot(interval_of(at[ahead:] - at[:-ahead], least=0.5), rested)
        if clock.drifts:
            reach += _off_by_line(ahead, len(recent)) * interval_of(recent, least=0.5)
        low = start - math.hypot(expected.start - expected.low, reach)
        high = start + math.hypot(expected.high - expected.start, reach) + _missed_in(ahead, expected.missed) * period
        near = student_t_within(
            TUNING.tolerances.on_time
            * period
            * _REACH
            / max(math.hypot(reach, first), _NEXT_PHASE.start_resolution_bins),
            len(recent),
        )
        found.append(Following(start, low, high, min(expected.in_time, near) * (1 - expected.missed) ** ahead))
    return found


def _off_by_line(ahead: int, count: int) -> float:
    """Return the error of several intervals due to a fitted line.

    The line goes through ``count`` intervals; the error is in deviations of one.

    The intervals are the next one and ``ahead`` after it; an error in slope affects all of them.
    """
    at = (math.hypot(1, (place + (count - 1) / 2) * math.sqrt(12) / count) for place in range(1, ahead + 2))
    return sum(at) / math.sqrt(count)


def _missed_in(phases: int, share: float) -> int:
    """Return the maximum number of missed phases with a probability of 95 %."""
    missed, left = 0, (1 - share) ** phases
    term = left
    while left < _HOLDS and missed < phases:
        missed += 1
        term *= share * (phases + missed - 1) / missed
        left += term
    return missed


class PhaseSizes(NamedTuple):
    """Durations, bins, and volumes of the past phases from which those of the next one are predicted."""

    durations: NextValues
    volumes: NextValues


def phase_sizes(view: SignalWindow, phases: Phases, period: float) -> PhaseSizes:
    """Return durations and volumes of past phases. The last one is excluded while it may be running.

    Args:
        view: signal, for its bins and current time.
        phases: past phases, at least two.
        period: period, bins.
    """
    running = len(phases) > 1 and not _has_ended(view, phases, period)
    complete = phases.select(slice(None, -1)) if running else phases
    equal = EQUAL_VOLUMES * (float(complete.volume.sum()) / len(complete)) ** 2
    return PhaseSizes(
        comparable_with_next(complete.end - complete.start, RESOLVED, skipped=running),
        comparable_with_next(complete.volume, equal, skipped=running),
    )


def _has_ended(view: SignalWindow, phases: Phases, period: float) -> bool:
    now = (view.now_s - view.start_s) / view.bin_s
    return bool(now - phases.stop[-1] >= TUNING.segmentation.max_gap_periods * period)


def next_phase(
    view: SignalWindow, sizes: PhaseSizes, expected: NextStart, following: list[Following], confidence: float
) -> NextPhase:
    """Predict the next phase. Intervals follow from the spread of past phases.

    Args:
        view: signal, for its bins and current time.
        sizes: durations and volumes of past phases; the next ones are their means.
        expected: predicted start, bins.
        following: predicted starts of the phases after it, bins.
        confidence: probability that it starts within a fifth of a period of the prediction.
    """
    lengths, volumes = (each.like[-_NEXT_PHASE.recent_phases :] * view.bin_s for each in sizes)
    return NextPhase(
        confidence=confidence,
        start_s=_start_of(view, expected),
        duration_s=_next_of(lengths, view.bin_s / 2),
        volume_bytes=_next_of(volumes, 0.0),
        following=[
            FollowingPhase(confidence=min(each.in_time, confidence), start_s=_start_of(view, each))
            for each in following
        ],
    )


def patterns_of(view: SignalWindow, sizes: PhaseSizes, clock: Clock) -> list[Pattern]:
    """Return the repeated patterns of intervals, or of pauses, and of durations and volumes of phases."""
    found: tuple[tuple[PatternOf, tuple[float, ...]], ...] = (
        ("pauses" if clock.from_end else "intervals", clock.cycle),
        ("durations", sizes.durations.pattern),
        ("volumes", sizes.volumes.pattern),
    )
    return [Pattern(of=of, values=[value * view.bin_s for value in values]) for of, values in found if values]


def interruptions_of(view: SignalWindow, phases: Phases, period: float) -> Interruptions | None:
    """Count missing phases and pauses; None if there are none.

    Phases are missing in intervals of a whole number of periods, at most three. Others are pauses.

    Args:
        view: signal, for its bins.
        phases: past phases, at least two.
        period: period, bins.
    """
    intervals = phases.start[1:] - phases.start[:-1]
    late = TUNING.tolerances.on_time * period
    periods = np.rint(intervals / period)
    longer = intervals >= 2 * period - late
    across = longer & (periods <= TUNING.intervals.max_missed) & (np.abs(intervals - periods * period) <= late)
    pauses = longer & ~across
    if not longer.any():
        return None
    quiet = (phases.start[1:] - phases.end[:-1])[pauses]
    return Interruptions(
        phases=len(phases),
        missing=int((periods[across] - 1).sum()),
        pauses=len(quiet),
        longest_pause_s=max(float(quiet.max(initial=0.0)) * view.bin_s, 0.0),
    )


def work_shifts(
    view: SignalWindow, phases: Phases, period: float, expected: NextStart, clock: Clock
) -> WorkShifts | None:
    """Return the shifts of a program with their next start; None if it has no equal ones.

    Args:
        view: signal, for its bins and current time.
        phases: past phases, at least two.
        period: period, bins.
        expected: predicted start of the next phase, bins.
        clock: clock of these phases.
    """
    shifts = clock.shifts
    if shifts is None or clock.cycle or not shifts.are_equal:
        return None
    reach = _REACH * shifts.deviation
    busy = float((phases.end - phases.start).sum()) / len(phases)
    rest = shifts.rest - busy
    low, middle, high = (max(at, 0.0) * view.bin_s for at in (rest - reach, rest, rest + reach))
    resting = expected.rest > TUNING.tolerances.min_confidence
    start, left = None, None
    if resting:
        start, left = _start_of(view, expected), shifts.length
    elif shifts.phases < shifts.length:
        start = _start_of(view, _next_shift(expected, shifts, clock.intervals, period))
        left = shifts.length - shifts.phases
    return WorkShifts(
        phases=shifts.length,
        rest_s=Estimate(value=middle, low=low, high=high),
        seen=shifts.seen,
        probability=shifts.equal,
        resting=resting and not view.ended and _has_ended(view, phases, period),
        next_start_s=start,
        left=left,
    )


def _next_shift(expected: NextStart, shifts: Shifts, intervals: Floats, period: float) -> Following:
    """Predict the start of the next shift, bins, within a shift: a rest follows its remaining phases."""
    left = shifts.length - shifts.phases - 1
    start = expected.start + left * period + shifts.rest
    spread = interval_of(intervals[-_NEXT_PHASE.recent_phases :], least=0.5) * math.sqrt(left)
    reach = math.hypot(spread, _REACH * shifts.deviation)
    low = start - math.hypot(expected.start - expected.low, reach)
    return Following(start, low, start + math.hypot(expected.high - expected.start, reach), expected.in_time)


def _start_of(view: SignalWindow, at: NextStart | Following) -> Estimate:
    """Return a start in seconds. A start in the past has not happened, so it is moved to now."""
    value, low, high = (max(view.start_s + bins * view.bin_s, view.now_s) for bins in (at.start, at.low, at.high))
    return Estimate(value=value, low=min(low, value), high=max(high, value))


def _next_of(values: Floats, least: float) -> Estimate:
    middle = float(values.sum()) / len(values)
    reach = interval_of(values, least=least)
    return Estimate(value=middle, low=max(middle - reach, 0.0), high=middle + reach)
