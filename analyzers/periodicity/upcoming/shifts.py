"""Phases of two levels: a program that works in shifts rests after a number of phases."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from ..confidence import predicted_spread
from ..estimator import KnownPhases
from ..phases.phases import Floats
from ..tuning import TUNING

_NEXT_PHASE: Final = TUNING.next_phase
_MOST: Final = 50.0  # bound of log odds


class Shifts(Struct, frozen=True):
    """Shifts of a program.

    Attributes:
        equal: probability that shifts have an equal number of phases, rather than rests at random.
        length: that number.
        phases: number of phases since the last rest.
        rest: mean interval from the last start of a shift to the first of the next, bins.
        deviation: standard deviation of the next such interval, bins.
        seen: number of complete shifts of that length.
    """

    equal: float
    length: int
    phases: int
    rest: float
    deviation: float
    seen: int

    @property
    def rests(self) -> float:
        """Probability that a rest follows the last phase, if shifts are equal."""
        rare = _NEXT_PHASE.unequal_shift_rate
        return 1 - rare if self.phases == self.length else rare / self.length

    @property
    def are_equal(self) -> bool:
        """Whether shifts are more likely equal than not."""
        return self.equal > TUNING.tolerances.min_confidence

    def rests_after_next(self, phases: int, rest: float) -> list[bool]:
        """Return whether a rest is likely between the next phase and the one after it, and so on.

        Args:
            phases: number of phases after the next one.
            rest: probability of a rest before the next one.
        """
        begun = 1 if rest > TUNING.tolerances.min_confidence else self.phases + 1
        if not self.are_equal or begun > self.length:
            return [False] * phases
        return [(begun + ahead) % self.length == 0 for ahead in range(phases)]


def with_earlier(phases: KnownPhases, earlier: KnownPhases) -> KnownPhases:
    """Return phases with those found earlier, at most ``max_shift_phases``.

    Earlier ones do not count if they had another period, or if phases between may be unknown.
    """
    first_s = float(phases.starts_s[0])
    same = abs(math.log(earlier.period_s / phases.period_s)) < TUNING.tolerances.equal_prediction_log
    if not same or phases.changed or earlier.until_s < phases.from_s:
        return phases
    older = earlier.starts_s[earlier.starts_s < first_s - phases.period_s / 2]
    if not len(older):
        return phases
    starts_s, most = np.concatenate([older, phases.starts_s]), _NEXT_PHASE.max_shift_phases
    from_s = min(phases.from_s, earlier.from_s)
    return replace(phases, starts_s=starts_s[-most:], from_s=from_s, cut=earlier.cut or len(starts_s) > most)


def shifts_of(start: Floats, period: float, *, cut: bool) -> Shifts | None:
    """Return the shifts of phases; None if no interval is so long that a phase may be missing in it.

    Rests at random have one rate. The evidence for shifts of an equal number of phases is the ratio of the likelihoods
    of the observed numbers, which have a geometric distribution if rests come at random.

    Args:
        start: starts of phases, bins.
        period: usual interval, bins.
        cut: whether phases before the first start are unknown.
    """
    intervals = start[1:] - start[:-1]
    rests = np.flatnonzero(intervals > (2 - TUNING.tolerances.on_time) * period)
    if not len(rests):
        return None
    ends = (rests + 1).tolist()
    complete = [end - begin for begin, end in zip([0, *ends], ends, strict=False)][int(cut) :]
    values = intervals[rests]
    rest = float(values.sum()) / len(values)
    spread = float(values.std(ddof=1)) / rest if len(values) > 1 else 0.0
    deviation = predicted_spread(spread, len(values)) * rest
    phases = len(start) - ends[-1]
    equal, length = _equal_shifts(complete, phases, len(rests) / len(intervals))
    return Shifts(equal, length, phases, rest, deviation, complete.count(length))


def _equal_shifts(complete: list[int], phases: int, rate: float) -> tuple[float, int]:
    """Return the probability that shifts have an equal number of phases, and the most frequent number.

    Args:
        complete: numbers of phases of complete shifts.
        phases: number of phases since the last one.
        rate: share of intervals that are rests.
    """
    if not complete or rate >= 1:
        return 0.0, 1
    rare, prior = _NEXT_PHASE.unequal_shift_rate, _NEXT_PHASE.equal_shifts_prior
    length = max(set(complete), key=lambda each: (complete.count(each), each))
    equal = complete.count(length)
    unequal = len(complete) - equal + int(phases > length)
    by_chance = math.log(rate) + (length - 1) * math.log1p(-rate)
    log_odds = math.log(prior / (1 - prior)) - (equal - 1) * by_chance
    log_odds += equal * math.log1p(-rare) + unequal * math.log(rare)
    return 1 / (1 + math.exp(max(min(-log_odds, _MOST), -_MOST))), length
