"""Properties of a job that do not depend on others' I/O.

These are compute time between phases, and volume per phase.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from .loads import Load

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
