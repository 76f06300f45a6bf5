"""When the next I/O phase comes, how long it lasts and how much it moves."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Final

import numpy as np

from ...events.models import Estimate, NextPhase
from .clock import Clock
from .intervals import interval_of
from .phases import Floats, Phases, Regularity
from .view import View

_RECENT = 32
_LATE = 0.5  # of a period: until then a phase is awaited, after that it was skipped
_UPPER: Final = 0.95  # point up to which a 90 % interval reaches
_HIGHEST: Final = 0.999  # point beyond which a normal distribution says nothing of phases
_NORMAL: Final = NormalDist()
_OVER = 0.25  # of a period without I/O: until then a phase may go on, and its data may be on their way


def next_phase(view: View, phases: Phases, regularity: Regularity, period: float, clock: Clock) -> NextPhase:
    """Continues past phases by one period.

    The next start is an interval of the clock after the last start, or the last end; now, when that has passed and the
    phase is late by up to half a period; else the next start that the rhythm gives. Duration and volume are those of
    the complete phases so far, the last one left out while it may run. Intervals come from the spread of past phases.

    Args:
        view: the signal, for its bins and now.
        phases: at least two past phases.
        regularity: of these phases.
        period: the period in bins.
        clock: the clock that they keep.
    """
    now = (view.now_s - view.start_s) / view.bin_s
    running = bool(now - phases.stop[-1] < _OVER * period) and len(phases) > 1
    complete = phases.select(slice(None, -1)) if running else phases
    reach = interval_of(clock.intervals[-_RECENT:], least=0.5)
    first = float(phases.start[-1]) + (clock.next if clock.drifts else period)
    if clock.from_end:
        usual = float(clock.intervals[-_RECENT:].mean())
        first = _end(phases, now, usual) + usual
    # of a job that skips phases, one that is later than they vary will not come any more
    late = min(_LATE, reach / period) if regularity.skipped else _LATE
    more = max(math.ceil((now - first) / period - late), 0)
    due = first + more * period
    below, above = _reaches(reach * math.sqrt(more + 1), period, regularity.skipped)
    # a start in the past is known not to have happened
    start_s = Estimate(
        value=max(view.start_s + due * view.bin_s, view.now_s),
        low=max(view.start_s + (due - below) * view.bin_s, view.now_s),
        high=max(view.start_s + (due + above) * view.bin_s, view.now_s),
    )
    return NextPhase(
        start_s=start_s,
        duration_s=_next_of((complete.end - complete.start)[-_RECENT:] * view.bin_s, view.bin_s / 2),
        volume_bytes=_next_of(complete.volume[-_RECENT:] * view.bin_s, 0.0),
    )


def _end(phases: Phases, now: float, pause: float) -> float:
    """Returns the end of the last phase; while it may run, that of one of the usual length, or now."""
    last = float(phases.end[-1])
    if now - last >= _OVER * pause:
        return last
    lengths = np.sort((phases.end - phases.start)[:-1][-_RECENT:])
    return max(last, min(float(phases.start[-1]) + float(lengths[len(lengths) // 2]), last + _OVER * pause))


def _reaches(reach: float, period: float, skipped: float) -> tuple[float, float]:
    """Returns how far a 90 % interval reaches before and after the time due, where a share of the phases is skipped.

    These come a period later; the interval holds what lies between the 5 % and 95 % points of both together.
    """
    if not skipped:
        return reach, reach
    tail, usual = 1 - _UPPER, _NORMAL.inv_cdf(_UPPER)
    below = reach * _NORMAL.inv_cdf(1 - tail / (1 - skipped)) / usual
    if skipped <= tail:
        return below, reach * _NORMAL.inv_cdf(min(_UPPER / (1 - skipped), _HIGHEST)) / usual
    return below, period + reach * _NORMAL.inv_cdf(max(1 - tail / skipped, 1 - _HIGHEST)) / usual


def _next_of(values: Floats, least: float) -> Estimate:
    middle = float(values.sum()) / len(values)
    reach = interval_of(values, least=least)
    return Estimate(value=middle, low=max(middle - reach, 0.0), high=middle + reach)
