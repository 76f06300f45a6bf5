"""Expected phases of a job on one file system, from its cycle or its prediction. One row per period."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from ...results.base import Estimate
from ...results.jobs.file_systems import FileSystemUse
from ...results.prediction import Prediction
from ...results.upcoming import Upcoming, distances_of, upcoming
from .loads import JobView, Load
from .scenarios import Expected

Floats = npt.NDArray[np.float64]
_MAX_PHASES: Final = 24  # maximum number of latest phases
_MIN_PHASES: Final = 4  # minimum number of gaps
_PAUSE: Final = 0.1  # maximum pause within a phase, as a share of the period
_SMALL: Final = 0.2  # minimum volume of a phase, as a share of the median
_MISSED: Final = 1.7  # gap over the median gap from which on a phase was missed
_OVERDUE: Final = 2.0  # gaps without a phase after which the cycle has ended
_ALIKE: Final = 0.75  # minimum share of similar gaps
_LOOSE: Final = 0.35  # maximum spread of gaps, as a share of them
_STEADIER: Final = 1.2  # maximum ratio of the spread of gaps to that of periods
_PRECISE: Final = 0.01  # minimum spread assumed, as a share of a gap
_SHORT_S: Final = 1e-3  # shortest duration of a phase in progress, s
_OUTLIER: Final = 4.0  # deviation of a gap that counts at most, in spreads
_STUDENT: Final = 1.25  # growth of a 90 % interval over the normal one, per 1 / degrees of freedom
_SIGMA: Final = 1.4826  # factor from the median absolute deviation to the standard deviation of a normal distribution


@dataclass(frozen=True, slots=True)
class Cycle:
    """Phases of one job on one file system, and the gaps between them.

    Attributes:
        gap, gap_deviation: time from the end of a phase to the start of the next one, s.
        volume, volume_deviation: bytes per phase.
        period: observed time from start to start, s.
        count: number of gaps used.
        regular: share of similar gaps.
        last_end: end of the last complete phase, Unix time.
        moved: bytes of the phase in progress; 0 if there is none.
        rate: mean bandwidth of the phase in progress, bytes/s; 0 if there is none.
        seen_until: end of the last known call, Unix time.
    """

    gap: float
    gap_deviation: float
    volume: float
    volume_deviation: float
    period: float
    count: int
    regular: float
    last_end: float
    moved: float
    rate: float
    seen_until: float


def cycle_of(load: Load, period: float | None, now_s: float, silence_s: float) -> Cycle | None:
    """Return the cycle of a job. Returns None if there is none (any more), or if phases follow a timer.

    Args:
        load: data phases.
        period: period of its signal, s; None if unknown.
        now_s: current Unix time.
        silence_s: pause after which a phase has certainly ended, s.
    """
    rows = np.flatnonzero(load.moved > 0)[-8 * _MAX_PHASES :]
    if len(rows) < _MIN_PHASES:
        return None
    start, end, moved = _merged(load.start[rows], load.end[rows], load.moved[rows], _pause_s(load.start[rows], period))
    middle = float(np.median(moved))
    going_on = now_s - float(end[-1]) < silence_s and float(moved[-1]) < 0.95 * middle
    whole = moved >= _SMALL * middle
    whole[-1] = whole[-1] and not going_on
    first, last, volumes = start[whole][-_MAX_PHASES:], end[whole][-_MAX_PHASES:], moved[whole][-_MAX_PHASES:]
    if len(first) <= _MIN_PHASES:
        return None
    gaps, periods = first[1:] - last[:-1], np.diff(first)
    if going_on:
        gaps = np.r_[gaps, start[-1] - last[-1]]
    gap, length = float(np.median(gaps)), float(np.median(periods))
    alike = (gaps < _MISSED * gap) & (gaps > gap / _MISSED)
    if period is not None and not 0.75 * period < length < 1.33 * period:
        return None
    if not going_on and now_s - float(end[-1]) > _OVERDUE * gap:  # the cycle may have ended
        return None
    if gap <= 0 or alike.mean() < _ALIKE:
        return None
    spread, timed = _spread(gaps[alike], gap), _spread(periods, length)
    if spread > _LOOSE * gap or spread > _STEADIER * timed:
        return None
    return Cycle(
        gap=gap,
        gap_deviation=_uncertain(gaps[alike], gap, spread),
        volume=float(np.median(volumes)),
        volume_deviation=_spread(volumes, float(np.median(volumes))),
        period=length,
        count=int(alike.sum()),
        regular=float(alike.mean()),
        last_end=float(last[-1]),
        moved=float(moved[-1]) if going_on else 0.0,
        rate=float(moved[-1] / max(end[-1] - start[-1], _SHORT_S)) if going_on else 0.0,
        seen_until=float(end[-1]),
    )


def _pause_s(start: Floats, period: float | None) -> float:
    return _PAUSE * (float(np.median(np.diff(start))) if period is None else period)


def _merged(start: Floats, end: Floats, moved: Floats, pause_s: float) -> tuple[Floats, Floats, Floats]:
    """Merge phases with short pauses between them."""
    firsts = np.flatnonzero(np.r_[True, start[1:] - end[:-1] > pause_s])
    return start[firsts], end[np.r_[firsts[1:] - 1, len(end) - 1]], np.add.reduceat(moved, firsts)


def _uncertain(values: Floats, middle: float, spread: float) -> float:
    """Return the standard deviation of the next value, from a few similar ones.

    The median deviation of a few values is often much too small. Their standard deviation, without outliers, is more
    precise. The factor is that of Student's distribution for a 90 % interval.
    """
    count = len(values)
    near = np.minimum(np.abs(values - middle), _OUTLIER * spread)
    return max(spread, float(np.sqrt(np.mean(near**2)))) * (1 + _STUDENT / max(count - 1, 1)) * math.sqrt(1 + 1 / count)


def _spread(values: Floats, middle: float) -> float:
    return max(_SIGMA * float(np.median(np.abs(values - middle))), _PRECISE * middle)


_INTERVAL: Final = 3.29  # width of a 90 % interval of a normal distribution, in standard deviations
_MIN_SHARE: Final = 0.1  # minimum share of a job's bytes on a file system
_LEAST: Final = 0.02  # minimum remainder of a phase in progress, as a share of its volume
_TRANSPORT_S: Final = 0.15  # time from the end of a call until it is analyzed, s
_SAME: Final = 0.5  # distance of a predicted start from the current phase's, in periods, up to which both are the same
_UNDER_WAY_S: Final = 0.5  # minimum time without a known call after which a phase has ended, s
_LONG_CALL: Final = 2.0  # longest expected call, in mean calls of the latest phase


def expected_of(
    view: JobView, use: FileSystemUse, load: Load, rate: float, now_s: float, *, horizon_s: float, phases_ahead: int
) -> list[Expected]:
    """Return the expected phases of a job on a file system, one row per period. Returns none if its share is small.

    The distribution of a period's volume over file systems is unknown, so each period has the job's share.

    Args:
        view: results of the job.
        use: its use of the file system.
        load: the same as arrays.
        rate: its bandwidth there alone, bytes/s.
        now_s: current Unix time.
        horizon_s: how far ahead phases are considered, s.
        phases_ahead: maximum number of phases per period.
    """
    total = sum(each.bytes_read + each.bytes_written for each in view.use.file_systems)
    share = (use.bytes_read + use.bytes_written) / total if total else 0.0
    if view.prediction is None or rate <= 0 or share < _MIN_SHARE or view.summary.state == "ended":
        return []
    expected = upcoming(view.prediction) if view.prediction.periodic else []
    if len(expected) < 2 and not _is_uneven(view.prediction):
        period_s = expected[0].period_s.value if expected else None
        if (cycle := cycle_of(load, period_s, now_s, _silence_s(use))) is not None:
            return [_of_cycle(view, use, cycle, rate, now_s, horizon_s=horizon_s, phases_ahead=phases_ahead)]
    expected = [each for each in expected if each.next_phase.volume_bytes.value > 0 and each.period_s.value > 0]
    began = _phase_in_progress(use, now_s)
    going = None if began is None else min(expected, key=lambda each: _distance_from_phases(each, *began), default=None)
    return [
        _expected(
            each,
            job=view.summary.job,
            rate=rate,
            share=share,
            seen_s=view.prediction.window.end_s - view.prediction.window.start_s,
            now_s=now_s,
            horizon_s=horizon_s,
            phases_ahead=phases_ahead,
            unseen_s=_unseen_s(use),
            known_until=use.phases[-1].end_s - now_s,
            began=began if each is going else None,
            extra=_extra(view.prediction, each, phases_ahead),
        )
        for each in expected
    ]


def _is_uneven(prediction: Prediction) -> bool:
    """Return whether distances between phases differ by rests or a pattern, which a cycle does not have."""
    return prediction.shifts is not None or any(each.of == "intervals" for each in prediction.patterns)


def _extra(prediction: Prediction, periodicity: Upcoming, phases: int) -> list[float]:
    """Return the time by which the distance after each of the next phases is longer than the period, s."""
    if periodicity.next_phase is prediction.next_phase and _is_uneven(prediction):
        distances = distances_of(prediction, phases)
        if distances is not None:
            return [after - periodicity.period_s.value for after in distances.after]
    return [0.0] * phases


def _of_cycle(
    view: JobView, use: FileSystemUse, cycle: Cycle, rate: float, now_s: float, *, horizon_s: float, phases_ahead: int
) -> Expected:
    """Derive the expectation from compute times and volumes, which other jobs do not change."""
    drift = view.prediction.drift if view.prediction is not None else None
    return Expected(
        job=view.summary.job,
        rate=rate,
        start=cycle.last_end + cycle.gap - now_s,
        start_deviation=cycle.gap_deviation,
        on_time=cycle.regular,
        period=cycle.period,
        period_deviation=cycle.gap_deviation / cycle.count**0.5,
        growth=0.0 if drift is None else drift.per_phase,
        volume=cycle.volume,
        volume_deviation=cycle.volume_deviation,
        under_way=_left(cycle, rate, now_s),
        unseen=_unseen_s(use),
        phases=max(1, min(phases_ahead, int(horizon_s / cycle.period) + 1)),
        who=None if view.prediction is None else view.prediction.who,
        gap=cycle.gap,
        gap_deviation=cycle.gap_deviation,
        known_until=use.phases[-1].end_s - now_s,
    )


def _left(cycle: Cycle, rate: float, now_s: float) -> float:
    """Return the remaining bytes of the phase in progress. Calls since the last known one count at its bandwidth."""
    if not cycle.moved:
        return 0.0
    moved = cycle.moved + min(cycle.rate, rate) * max(now_s - cycle.seen_until, 0.0)
    return max(cycle.volume - moved, _LEAST * cycle.volume)


def _unseen_s(use: FileSystemUse) -> float:
    """Return how long a phase may have begun before its first call arrives here: that call, and its transport."""
    return _TRANSPORT_S + _call_s(use)


def _silence_s(use: FileSystemUse) -> float:
    """Return the time without a known call after which a phase has ended. A call in progress is not known yet."""
    return max(_UNDER_WAY_S, _TRANSPORT_S + _LONG_CALL * _call_s(use))


def _call_s(use: FileSystemUse) -> float:
    """Return the mean duration of a call in the latest phase, s."""
    last = use.phases[-1]
    return min(last.seconds / max(last.calls, 1), last.end_s - last.start_s)


def _expected(
    periodicity: Upcoming,
    *,
    job: str,
    rate: float,
    share: float,
    seen_s: float,
    now_s: float,
    horizon_s: float,
    phases_ahead: int,
    unseen_s: float,
    known_until: float,
    began: tuple[float, float] | None,
    extra: list[float],
) -> Expected:
    """Return the expectation for one period.

    ``began`` has start and bytes of its phase in progress, None without one. ``extra`` is the additional time after
    each of the next phases.
    """
    coming, period = periodicity.next_phase, periodicity.period_s.value
    volume = coming.volume_bytes.value * share
    deviation = _deviation(coming.start_s)
    length, growth = period, 0.0
    if periodicity.drift is not None:
        length, growth = periodicity.drift.period_s.value, periodicity.drift.per_phase
    start_s = coming.start_s.value
    if began is not None and start_s - began[0] < _SAME * length:  # that phase has begun meanwhile
        start_s += length + extra[0]
        extra = extra[1:]
    phases = max(1, min(phases_ahead, int(horizon_s / length) + 1))
    return Expected(
        job=job,
        rate=rate,
        start=start_s - now_s,
        start_deviation=deviation,
        on_time=min(1.0, periodicity.confidence) if coming.confidence > 0 else 0.0,
        period=length,
        period_deviation=deviation / max(seen_s / period, 1.0) ** 0.5,
        growth=growth,
        volume=volume,
        volume_deviation=_deviation(coming.volume_bytes) * share,
        under_way=0.0 if began is None else max(volume - began[1], 0.0),
        unseen=unseen_s,
        known_until=known_until,
        phases=phases,
        who=periodicity.who,
        extra=(0.0, *extra[: phases - 1]) if any(extra) else (),
    )


def _phase_in_progress(use: FileSystemUse, now_s: float) -> tuple[float, float] | None:
    """Return start and bytes of the phase in progress; None if there is none."""
    last = use.phases[-1] if use.phases else None
    if last is None or now_s - last.end_s > _silence_s(use):
        return None
    moved, start_s = 0, last.start_s
    for phase in reversed(use.phases):
        moved += phase.moved
        start_s = phase.start_s
        if not phase.continues:
            break
    return start_s, float(moved)


def _distance_from_phases(periodicity: Upcoming, start_s: float, _moved: float) -> float:
    """Return the distance of a phase's start from a predicted phase, in periods."""
    turns = (periodicity.next_phase.start_s.value - start_s) / periodicity.period_s.value
    return abs(turns - round(turns))


def _deviation(estimate: Estimate) -> float:
    return max(estimate.high - estimate.low, 0.0) / _INTERVAL
