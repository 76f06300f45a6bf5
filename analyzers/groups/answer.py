"""The answer of a job that has groups: whose period is the main one, and who has others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

from msgspec import Struct

from ...results.prediction import PERIODIC_FROM, OtherPeriod, Prediction
from ..periodicity.tuning import TUNING
from .member_names import name_groups
from .members import Member

_LEAST_SHARE: Final = 1e-6  # of the bytes, that tells a group


class Found(Struct, frozen=True):
    """A group, and what was found in its signal.

    Attributes:
        members: who it is.
        volume: bytes that it moved.
        prediction: its period, as if it were a job.
        span_s: from its first to its last bytes.
    """

    members: list[Member]
    volume: float
    prediction: Prediction
    span_s: float

    @property
    def phases(self) -> int:
        """How many phases of its period there were; 0 without one."""
        return round(self.span_s / self.period_s) + 1 if self.period_s > 0 else 0

    @property
    def period_s(self) -> float:
        """Its period; 0 without one."""
        period = self.prediction.period_s
        return 0.0 if period is None else period.value


class Answer(NamedTuple):
    """What is said of a job whose members were looked at in groups.

    Attributes:
        prediction: the main period, and those of other groups beside it.
        main: the group in whose signal the main period was found; None: in that of the whole job.
        beside: the groups whose periods are the last ones of the prediction's others, in their order.
    """

    prediction: Prediction
    main: Found | None = None
    beside: tuple[Found, ...] = ()


def answer_with(prediction: Prediction, groups: Sequence[Found]) -> Answer:
    """Returns what is said of a job whose members were looked at in groups.

    Groups of one period are one. With one period the job as a whole has it, unless what else the job does hides it.
    With several the main one is the whole job's where that is a group's, or foresees the next phase surely; else that
    of the group with the most bytes.

    Args:
        prediction: what was found in the signal of the whole job.
        groups: all groups that were found.
    """
    periodic_ones = _of_one_period(_lasting(groups))
    if not periodic_ones:
        return Answer(prediction)
    if len(periodic_ones) == 1:
        (only,) = periodic_ones
        hidden = only.prediction.confidence > max(prediction.confidence, PERIODIC_FROM) + TUNING.same.surer
        rest = [group for group in groups if not set(_keys(group)) <= set(_keys(only))]
        if not hidden or not rest or (prediction.periodic and _same(prediction, only)):
            return Answer(prediction)
        return _replaced(prediction, only, [only, *rest], groups)
    main = next((group for group in periodic_ones if _same(prediction, group)), None)
    foreseen = 0.0 if prediction.next_phase is None else prediction.next_phase.confidence
    if main is None and min(foreseen, prediction.confidence) < TUNING.same.sure:
        main = max(periodic_ones, key=lambda group: group.volume)
    return _replaced(prediction, main, periodic_ones, groups)


def _replaced(prediction: Prediction, main: Found | None, named: Sequence[Found], groups: Sequence[Found]) -> Answer:
    """Returns the answer with the main group's period, and those of the others beside it."""
    total = sum(group.volume for group in groups)
    whose = name_groups([group.members for group in named], [group.volume / max(total, 1.0) for group in named])
    told_beside = [
        (group, who, period)
        for group, who in zip(named, whose, strict=True)
        if group is not main and (period := group.prediction.period_s) is not None and who.share >= _LEAST_SHARE
        if group.prediction.confidence > TUNING.grouping.told
    ]
    beside = [
        OtherPeriod(
            relation="beside",
            period_s=period,
            confidence=group.prediction.confidence,
            start_s=group.prediction.window.start_s,
            end_s=group.prediction.window.end_s,
            phases=group.phases,
            who=who,
            next_phase=group.prediction.next_phase,
            bytes_per_phase=None if (scores := group.prediction.scores) is None else scores.bytes_per_phase,
        )
        for group, who, period in told_beside
    ]
    told: Prediction = prediction
    seen_in: Found | None = None
    others = [each for each in prediction.others if not any(_near(each, other) for other in beside)]
    if main is not None and (not _same(prediction, main) or main.prediction.confidence >= prediction.confidence):
        others = others if _same(prediction, main) else []
        told, seen_in = main.prediction, main
    who = next((who for group, who in zip(named, whose, strict=True) if group is main), None)
    told = told.model_copy(update={"who": who, "others": [*others, *beside]})
    return Answer(told, seen_in, tuple(group for group, _, _ in told_beside))


def _lasting(groups: Sequence[Found]) -> list[Found]:
    """Returns those with a period that is none of the inside of a phase: of which enough phases were seen."""
    sure = [
        group
        for group in groups
        if group.phases >= TUNING.grouping.seen and group.prediction.confidence > TUNING.grouping.told
    ]
    return [group for group in sure if all(group.span_s > other.period_s for other in sure)]


def _of_one_period(groups: Sequence[Found]) -> list[Found]:
    """Puts groups of the same period together, the surest one's answer for all; the most bytes first."""
    made: list[Found] = []
    for group in sorted(groups, key=lambda each: -each.prediction.confidence):
        for place, other in enumerate(made):
            if _same(group.prediction, other):
                members, volume = [*other.members, *group.members], other.volume + group.volume
                made[place] = Found(members, volume, other.prediction, max(other.span_s, group.span_s))
                break
        else:
            made.append(group)
    return sorted(made, key=lambda each: -each.volume)


def _same(prediction: Prediction, group: Found) -> bool:
    period = prediction.period_s
    if period is None or not (period.value > 0 and group.period_s > 0):
        return False
    return abs(math.log(period.value / group.period_s)) < TUNING.same.period


def _near(one: OtherPeriod, other: OtherPeriod) -> bool:
    return abs(math.log(one.period_s.value / other.period_s.value)) < TUNING.same.period


def _keys(group: Found) -> list[object]:
    return [member.key for member in group.members]
