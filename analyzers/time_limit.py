"""Prediction of what a job has saved when it is killed at a known time.

It gives the last complete checkpoint and the lost work.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from ..results.base import Estimate
from ..results.prediction import Drift, LastCheckpoint, NextPhase, Prediction, TimeLimit
from ..results.upcoming import Distances, distances_of
from .signal.bandwidth import FACTOR, BandwidthSignal

_DRAWS: Final = 400  # number of random draws
_MAX_AHEAD: Final = 64  # maximum periods to the end for a prediction of the last checkpoint
_CHECKPOINT: Final = 0.5  # minimum share of writes in the bytes moved for phases to count as checkpoints
_LOOK_BACK: Final = 3  # periods over which writes are examined
_BINS: Final = 1024  # maximum bins of the examined writes
_WRITES: Final = 0.1  # minimum share of a phase's mean bandwidth for a bin to count as writing; less is logging
_GOES_ON_S: Final = 0.5  # maximum silence of a checkpoint in progress, s
_EARLY: Final = 0.1  # share of a period by which a phase may start earlier than expected
_MORE: Final = 1.25  # factor of checkpoints drawn over checkpoints expected
_TOO_FAR: Final = "which checkpoint is the last one is not known yet"
_TAIL: Final = 1.645  # half width of a 90 % interval of a normal distribution, in standard deviations
_QUANTILES: Final = (0.05, 0.95)
_Floats = npt.NDArray[np.float64]


class Written(Struct, frozen=True):
    """Observed writes of a job.

    Attributes:
        first_s: time of the job's first observation.
        until_s: end of its last writes at the bandwidth of a phase; ``first_s`` if there are none.
        share: share of writes in the bytes moved in its last periods.
    """

    first_s: float
    until_s: float
    share: float


class _Course(Struct, frozen=True):
    """Position of a job in its sequence of checkpoints. The first one may be in progress.

    Attributes:
        saved_s: start of the last complete checkpoint; None if there was none.
        going_s: start of the checkpoint in progress; None if there is none.
        next_s: start of the next checkpoint.
    """

    saved_s: float | None
    going_s: float | None
    next_s: float


def measured_writes(prediction: Prediction, reads: BandwidthSignal, writes: BandwidthSignal, first_s: float) -> Written:
    """Measure a job's writes over its last periods; without a period, returns an empty result."""
    period, coming = prediction.period_s, prediction.next_phase
    if period is None or coming is None:
        return Written(first_s, first_s, 0.0)
    now_ns = round(prediction.made_at_s * 1e9)
    from_ns = now_ns - round(_LOOK_BACK * period.value * 1e9)
    level = 0
    while writes.bin_ns * FACTOR**level * _BINS < now_ns - from_ns:
        level += 1
    written, read = writes.read(from_ns, now_ns, level), reads.read(from_ns, now_ns, level)
    moved = float(written.volume.sum() + read.volume.sum())
    share_of_bin = min(1.0, written.bin_ns / 1e9 / max(coming.duration_s.value, 1e-9))
    busy = np.flatnonzero(written.volume > _WRITES * coming.volume_bytes.value * share_of_bin)
    until_ns = written.first_ns + (int(busy[-1]) + 1) * written.bin_ns if len(busy) else round(first_s * 1e9)
    share = float(written.volume.sum()) / moved if moved else 0.0
    return Written(first_s, min(until_ns / 1e9, prediction.made_at_s), share)


def time_limit_of(prediction: Prediction, ends_at_s: float, written: Written) -> TimeLimit:
    """Predict what is saved and what is lost if a job is killed.

    Args:
        prediction: current prediction of the job's period.
        ends_at_s: time at which the job is killed, Unix time.
        written: observed writes of the job.
    """
    now_s = prediction.made_at_s
    limit = TimeLimit(ends_at_s=ends_at_s, left_s=ends_at_s - now_s)
    period, coming = prediction.period_s, prediction.next_phase
    unknown = _obstacle(prediction, ends_at_s, written)
    if unknown or period is None or coming is None:
        return limit.model_copy(update={"unknown": unknown})
    drift = prediction.drift or Drift(period_s=period, per_phase=0.0)
    period_s, lasting = drift.period_s.value, coming.duration_s
    count = 6 + math.ceil(_MORE * min(max((ends_at_s - now_s) / period_s, 0.0), _MAX_AHEAD + 1))
    distances = None if prediction.drift else distances_of(prediction, count)
    distances = distances or Distances(period_s, [period_s] * count, [False] * count)
    course = _course(coming, distances, period_s, now_s, written)
    latest_s = ends_at_s - max(lasting.high, lasting.value)
    known: dict[str, object] = {
        "saved_at_s": course.saved_s,
        "begin_by_s": latest_s if latest_s >= now_s else None,
    }
    ahead = (ends_at_s - course.next_s) / period_s
    if ahead > _MAX_AHEAD:
        known |= {
            "unknown": _TOO_FAR,
            "lost_s": _loss_at_random_time(period_s, lasting),
            "cut_off": _busy(period_s, lasting),
        }
        return limit.model_copy(update=known)
    starts, ends = _draw_checkpoints(prediction, coming, drift, course, distances)
    whole = ends <= ends_at_s
    nothing_s = written.first_s if course.saved_s is None else course.saved_s
    lost = ends_at_s - np.max(np.where(whole, starts, nothing_s), axis=1)
    known |= {
        "lost_s": _estimate(lost),
        "cut_off": float(np.mean(np.any((starts < ends_at_s) & ~whole, axis=1))),
    }
    fits = whole.mean(axis=0)
    if len(likely := np.flatnonzero(fits >= 0.5)):
        at = int(likely[-1])
        start = _estimate(starts[:, at])
        if start.high - start.low > period_s:
            known["unknown"] = _TOO_FAR
        else:
            number = at + (course.going_s is None)
            known["last_checkpoint"] = LastCheckpoint(
                ahead=number, start_s=start, end_s=_estimate(ends[:, at]), fits=float(fits[at])
            )
    return limit.model_copy(update=known)


def _obstacle(prediction: Prediction, ends_at_s: float, written: Written) -> str:
    """Return the reason why checkpoints cannot be predicted; "" if they can."""
    if ends_at_s <= prediction.made_at_s:
        return "this end has passed"
    if prediction.incomplete:
        return "too much of the data is missing"
    if not prediction.periodic or prediction.period_s is None or prediction.next_phase is None:
        return "no period is sure"
    if written.share < _CHECKPOINT or prediction.mode == "read":
        return "its periodic phases are no writes"
    return ""


def _course(coming: NextPhase, distances: Distances, period_s: float, now_s: float, written: Written) -> _Course:
    """Return the position of the job in its sequence of checkpoints."""
    # latest predicted start before the last writes
    start_s = coming.start_s.value
    before_s = start_s - distances.before  # the phase before the next one
    if written.until_s < start_s - _EARLY * period_s:
        next_s = start_s
        last_s = before_s + min(math.floor((written.until_s - before_s) / period_s + _EARLY), 0) * period_s
    else:
        back = math.floor((written.until_s - start_s) / period_s + _EARLY)
        last_s, next_s = start_s + back * period_s, start_s + (back + 1) * period_s
    last_s = min(last_s, written.until_s)
    goes_on = now_s - written.until_s <= max(_GOES_ON_S, _EARLY * coming.duration_s.value)
    saved_s = last_s - period_s if goes_on else last_s
    seen = saved_s >= written.first_s - _EARLY * period_s and written.until_s > written.first_s
    return _Course(max(saved_s, written.first_s) if seen else None, last_s if goes_on else None, max(next_s, now_s))


def _draw_checkpoints(
    prediction: Prediction, coming: NextPhase, drift: Drift, course: _Course, distances: Distances
) -> tuple[_Floats, _Floats]:
    """Draw starts and ends of the coming checkpoints, each float[draws, checkpoints]."""
    now_s, chance, count = prediction.made_at_s, np.random.default_rng(0), len(distances.after) + 1
    length, growth = drift.period_s.value, drift.per_phase
    seen = max((prediction.window.end_s - prediction.window.start_s) / length, 1.0)
    # spread of one interval; without a drift, the estimate is the spread of their mean
    spread = _deviation(drift.period_s) * (1.0 if prediction.drift else seen**0.5)
    lasts = coming.duration_s.value + _deviation(coming.duration_s) * chance.standard_normal((_DRAWS, count + 1))
    lasts = np.maximum(lasts, 0.01 * coming.duration_s.value)
    first = course.next_s + _deviation(coming.start_s) * chance.standard_normal(_DRAWS)
    behind = first < now_s  # has not started yet
    first[behind] = now_s + (now_s - first[behind]) * chance.random(int(behind.sum()))
    wrong = chance.random(_DRAWS) >= prediction.confidence
    first[wrong] = now_s + chance.random(int(wrong.sum())) * length
    going = None if course.going_s is None else np.maximum(course.going_s + lasts[:, 0], now_s)
    if going is not None:
        first = np.maximum(first, going)
    mean = length + spread / seen**0.5 * chance.standard_normal((_DRAWS, 1))
    after, rests = np.array(distances.after), np.array(distances.rests)
    spreads = np.where(rests, 0.0 if prediction.shifts is None else _deviation(prediction.shifts.rest_s), spread)
    drifting = mean * (1 + growth * np.arange(1, count))
    gaps = drifting if prediction.drift else np.where(rests, after, after + mean - length)
    gaps = gaps + spreads * chance.standard_normal((_DRAWS, count - 1))
    gaps = np.maximum(gaps, lasts[:, 1:count])
    starts = np.concatenate([first[:, None], first[:, None] + np.cumsum(gaps, axis=1)], axis=1)
    ends = starts + lasts[:, 1:]
    if going is None or course.going_s is None:
        return starts, ends
    begun = np.full((_DRAWS, 1), course.going_s)
    return np.concatenate([begun, starts], axis=1), np.concatenate([going[:, None], ends], axis=1)


def _loss_at_random_time(period_s: float, lasting: Estimate) -> Estimate:
    """Return the work lost at a time that is independent of the period."""
    lasts = min(lasting.value, period_s)
    return Estimate(
        value=lasts + period_s / 2, low=lasts + _QUANTILES[0] * period_s, high=lasts + _QUANTILES[1] * period_s
    )


def _busy(period_s: float, lasting: Estimate) -> float:
    return min(1.0, lasting.value / period_s)


def _deviation(estimate: Estimate) -> float:
    """Return the standard deviation. The lower side of a start may be cut off by the present, so the larger side is
    used.
    """
    return max(estimate.high - estimate.value, estimate.value - estimate.low, 0.0) / _TAIL


def _estimate(drawn: _Floats) -> Estimate:
    low, high = np.quantile(drawn, _QUANTILES)
    return Estimate(value=float(np.clip(drawn.mean(), low, high)), low=float(low), high=float(high))
