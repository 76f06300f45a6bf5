"""The periods of a job with an upcoming phase: input of forecasts and simulations."""

from __future__ import annotations

from typing import NamedTuple

from .base import Estimate
from .prediction import Drift, NextPhase, Prediction, Who


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
