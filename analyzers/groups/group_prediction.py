"""Result for a job with groups: main period, and periods of other groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

from msgspec import Struct

from ...results.prediction import PERIODIC_FROM, OtherPeriod, Prediction
from ..periodicity.tuning import TUNING
from .member_names import name_groups
from .members import Member

_MIN_SHARE: Final = 1e-6  # minimum share of the bytes of a reported group


class GroupResult(Struct, frozen=True):
    """A group, and the result for its signal.

    Attributes:
        members: members of the group.
        volume: bytes moved.
        prediction: prediction as if it were a job.
        span_s: time from its first to its last bytes, s.
        silent_s: time from its last bytes to the last bytes of the job, s.
    """

    members: list[Member]
    volume: float
    prediction: Prediction
    span_s: float
    silent_s: float = 0.0

    @property
    def has_stopped(self) -> bool:
        """Whether it has been silent for longer than it was active, e.g. since the start of the job."""
        return self.silent_s > self.span_s

    @property
    def phases(self) -> int:
        """Number of phases of its period; 0 without one."""
        return round(self.span_s / self.period_s) + 1 if self.period_s > 0 else 0

    @property
    def period_s(self) -> float:
        """Period of the group, s; 0 without one."""
        period = self.prediction.period_s
        return 0.0 if period is None else period.value


class GroupedPrediction(NamedTuple):
    """Result for a job whose members were analyzed in groups.

    Attributes:
        prediction: main period, with those of other groups beside it.
        main: group whose signal has the main period; None if it is that of the whole job.
        beside: groups of the last periods in the prediction's others, in the same order.
    """

    prediction: Prediction
    main: GroupResult | None = None
    beside: tuple[GroupResult, ...] = ()


def combine_predictions(prediction: Prediction, groups: Sequence[GroupResult]) -> GroupedPrediction:
    """Combine the prediction of a job with its groups.

    Groups of the same period are merged. A single period belongs to the whole job, unless other I/O hides it. With
    several, the main one is that of the whole job if a group has it too, or if it predicts the next phase with
    certainty. Otherwise it is that of the group with the most bytes. A group that has stopped is only beside.

    Args:
        prediction: prediction for the signal of the whole job.
        groups: all groups.
    """
    periodic_ones = _merge_equal_periods(_reportable_groups(groups))
    if not periodic_ones:
        return GroupedPrediction(prediction)
    if len(periodic_ones) == 1:
        (only,) = periodic_ones
        hidden = (
            only.prediction.confidence > max(prediction.confidence, PERIODIC_FROM) + TUNING.tolerances.confidence_gain
        )
        rest = [group for group in groups if not set(_keys(group)) <= set(_keys(only))]
        if not hidden or not rest:
            return GroupedPrediction(prediction)
        return _with_main_group(prediction, None if only.has_stopped else only, [only, *rest], groups)
    main = next((group for group in periodic_ones if _has_period_of(prediction, group)), None)
    foreseen = 0.0 if prediction.next_phase is None else prediction.next_phase.confidence
    if main is None and min(foreseen, prediction.confidence) < TUNING.tolerances.certain_confidence:
        main = max(
            (group for group in periodic_ones if not group.has_stopped), key=lambda group: group.volume, default=None
        )
    return _with_main_group(prediction, main, periodic_ones, groups)


def _with_main_group(
    prediction: Prediction, main: GroupResult | None, named: Sequence[GroupResult], groups: Sequence[GroupResult]
) -> GroupedPrediction:
    """Return the result with the main group's period, and those of the others beside it."""
    total = sum(group.volume for group in groups)
    members = name_groups([group.members for group in named], [group.volume / max(total, 1.0) for group in named])
    reported_beside = [
        (group, who, period)
        for group, who in zip(named, members, strict=True)
        if group is not main and (period := group.prediction.period_s) is not None and who.share >= _MIN_SHARE
        if group.prediction.confidence > TUNING.grouping.min_reported_confidence
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
        for group, who, period in reported_beside
    ]
    reported: Prediction = prediction
    phase_counts: GroupResult | None = None
    others = [each for each in prediction.others if not any(_near(each, other) for other in beside)]
    if main is not None and (
        not _has_period_of(prediction, main) or main.prediction.confidence >= prediction.confidence
    ):
        others = others if _has_period_of(prediction, main) else []
        reported, phase_counts = main.prediction, main
    who = next((who for group, who in zip(named, members, strict=True) if group is main), None)
    reported = reported.model_copy(update={"who": who, "others": [*others, *beside]})
    return GroupedPrediction(reported, phase_counts, tuple(group for group, _, _ in reported_beside))


def _reportable_groups(groups: Sequence[GroupResult]) -> list[GroupResult]:
    """Return groups with enough phases whose period is not the inside of another group's phase."""
    sure = [
        group
        for group in groups
        if group.phases >= TUNING.grouping.min_reported_phases
        and group.prediction.confidence > TUNING.grouping.min_reported_confidence
    ]
    return [group for group in sure if all(group.span_s > other.period_s for other in sure)]


def _merge_equal_periods(groups: Sequence[GroupResult]) -> list[GroupResult]:
    """Merge groups of the same period under the most certain prediction, sorted by descending bytes."""
    made: list[GroupResult] = []
    for group in sorted(groups, key=lambda each: -each.prediction.confidence):
        for place, other in enumerate(made):
            if _has_period_of(group.prediction, other):
                members, volume = [*other.members, *group.members], other.volume + group.volume
                span_s, silent_s = max(other.span_s, group.span_s), min(other.silent_s, group.silent_s)
                made[place] = GroupResult(members, volume, other.prediction, span_s, silent_s)
                break
        else:
            made.append(group)
    return sorted(made, key=lambda each: -each.volume)


def _has_period_of(prediction: Prediction, group: GroupResult) -> bool:
    period = prediction.period_s
    if period is None or not (period.value > 0 and group.period_s > 0):
        return False
    return abs(math.log(period.value / group.period_s)) < TUNING.tolerances.equal_period_log


def _near(one: OtherPeriod, other: OtherPeriod) -> bool:
    return abs(math.log(one.period_s.value / other.period_s.value)) < TUNING.tolerances.equal_period_log


def _keys(group: GroupResult) -> list[object]:
    return [member.key for member in group.members]
