"""When the next I/O phase comes, how long it lasts and how much it moves."""

from __future__ import annotations

import math

from ...events.models import Estimate, NextPhase
from .intervals import interval_of
from .phases import Floats, Phases, Regularity
from .view import View

_RECENT = 32
_LATE = 0.5  # of a period: until then a phase is awaited, after that it was skipped
_OVER = 0.25  # of a period without I/O: until then a phase may go on, and its data may be on their way


def next_phase(view: View, phases: Phases, regularity: Regularity, period: float) -> NextPhase:
    """Continues past phases by one period.

    The next start is the last one and a period; now, when that has passed and the phase is late by up to half a
    period; else the next start that the rhythm gives. Duration and volume are those of the complete phases so far, the
    last one left out while it may run. Intervals come from the spread of past phases.

    Args:
        view: the signal, for its bins and now.
        phases: at least two past phases.
        regularity: of these phases.
        period: the period in bins.
    """
    now = (view.now_s - view.start_s) / view.bin_s
    last = float(phases.start[-1])
    ahead = max(math.ceil((now - last) / period - _LATE), 1)
    due = last + ahead * period
    reach = interval_of(regularity.intervals[-_RECENT:], least=0.5) * math.sqrt(ahead)
    running = bool(now - phases.stop[-1] < _OVER * period) and len(phases) > 1
    complete = phases.select(slice(None, -1)) if running else phases
    # a start in the past is known not to have happened
    start_s = Estimate(
        value=max(view.start_s + due * view.bin_s, view.now_s),
        low=max(view.start_s + (due - reach) * view.bin_s, view.now_s),
        high=max(view.start_s + (due + reach) * view.bin_s, view.now_s),
    )
    return NextPhase(
        start_s=start_s,
        duration_s=_next_of((complete.end - complete.start)[-_RECENT:] * view.bin_s, view.bin_s / 2),
        volume_bytes=_next_of(complete.volume[-_RECENT:] * view.bin_s, 0.0),
    )


def _next_of(values: Floats, least: float) -> Estimate:
    middle = float(values.sum()) / len(values)
    reach = interval_of(values, least=least)
    return Estimate(value=middle, low=max(middle - reach, 0.0), high=middle + reach)
