"""The periods of a job with an upcoming phase: input of forecasts and simulations."""

from __future__ import annotations

from typing import NamedTuple

from .base import Estimate
from .prediction import Drift, NextPhase, Prediction, Who, WorkShifts


class Upcoming(NamedTuple):
    """A period and its next phase.

    Attributes:
        period_s: mean distance between starts of phases.
        confidence: probability that the period is right.
        next_phase: next phase of this period.
        drift: change of the period; None without one.
        who: members that have it; None: all.
    """

    period_s: Estimate
    confidence: float
    next_phase: NextPhase
    drift: Drift | None = None
    who: Who | None = None


def upcoming(prediction: Prediction) -> list[Upcoming]:
    """Return each period of a job that has a next phase, the main one first. The others are of other members."""
    made = []
    if prediction.period_s is not None and prediction.next_phase is not None:
        main = (prediction.period_s, prediction.confidence, prediction.next_phase, prediction.drift, prediction.who)
        made.append(Upcoming(*main))
    made += [
        Upcoming(each.period_s, each.confidence, each.next_phase, None, each.who)
        for each in prediction.others
        if each.relation == "beside" and each.next_phase is not None
    ]
    return made


class Distances(NamedTuple):
    """Expected distances between starts of phases, s.

    Attributes:
        before: from the last phase to the next one.
        after: from the next one to the one after it, and so on.
        rests: for each of these, whether it is a rest between two shifts.
    """

    before: float
    after: list[float]
    rests: list[bool]


def distances_of(prediction: Prediction, count: int) -> Distances | None:
    """Return ``count`` distances after the next phase, by shifts and patterns; None without a next phase.

    Each is the period, one of a pattern of intervals, or that across a rest. They are without a drift.
    """
    period, coming, shifts = prediction.period_s, prediction.next_phase, prediction.shifts
    if period is None or coming is None:
        return None
    pattern = next((each.values for each in prediction.patterns if each.of == "intervals"), [period.value])
    after, rests = [pattern[ahead % len(pattern)] for ahead in range(1, count + 1)], [False] * count
    if shifts is None or shifts.left is None:
        return Distances(pattern[0], after, rests)
    across_s = shifts.rest_s.value + coming.duration_s.value
    rests = [_is_rest(shifts, shifts.left, ahead) for ahead in range(1, count + 1)]
    after = [across_s if rest else period.value for rest in rests]
    return Distances(across_s if shifts.left == shifts.phases else period.value, after, rests)


def _is_rest(shifts: WorkShifts, left: int, ahead: int) -> bool:
    """Return whether a rest precedes the phase that comes ``ahead`` phases after the next one."""
    return ahead >= left and (ahead - left) % shifts.phases == 0
