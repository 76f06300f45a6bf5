"""Capacity of a file system: configured, or learned from jobs that slowed one another down."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from ...results.base import Estimate
from ...results.contention import Capacity
from .loads import Load

_MIN_SPANS: Final = 5  # minimum number of shared spans to learn a capacity
_MIN_OVERLAP: Final = 0.3  # minimum share of a span in which jobs overlap
_MAX_OVERLAP: Final = 0.02  # maximum overlap of a phase that counts as alone, as a share of its length
_CAPACITY_SHARES: Final = (0.5, 0.8, 0.95)
"""Quantiles of the bandwidths of shared spans: low, value, high of a learned capacity."""
_MIN_PART_ALONE: Final = 0.1  # minimum part of a phase without overlap from which its bandwidth is inferred
Floats = npt.NDArray[np.float64]
_NO_PHASES: Final = np.zeros((0, 2))


def capacity_of(configured: float | None, loads: Sequence[Load], slowed: Collection[str]) -> Capacity:
    """Return the known capacity of a file system.

    Args:
        configured: capacity in the settings, bytes/s, if any.
        loads: loads of all jobs on it.
        slowed: jobs that others slow down.
    """
    if configured is not None:
        return Capacity(known="configured", bytes_per_s=Estimate(value=configured, low=configured, high=configured))
    spans = _busy_spans(loads)
    if not len(spans):
        return Capacity(known="unknown")
    start, end = spans.T
    length = end - start
    moved = sum((load.within(start, end, load.moved) for load in loads), np.zeros(len(spans)))
    busy = np.array([load.within(start, end) for load in loads])
    shared = np.maximum(busy.sum(axis=0) - length, 0.0)
    victims = np.array([load.job in slowed for load in loads], np.bool_)
    saturated = (shared > _MIN_OVERLAP * length) & (busy[victims] > 0).any(axis=0)
    if int(saturated.sum()) >= _MIN_SPANS:
        low, value, high = (
            _weighted_quantile((moved / length)[saturated], shared[saturated], share) for share in _CAPACITY_SHARES
        )
        return Capacity(known="learnt", bytes_per_s=Estimate(value=value, low=low, high=high))
    most = _weighted_quantile(moved / length, length, _CAPACITY_SHARES[-1])
    return Capacity(known="at_least", bytes_per_s=Estimate(value=most, low=most, high=most))


def alone_rate(load: Load, others: Sequence[Load], capacity: float | None = None) -> float:
    """Return a job's bandwidth in phases without overlap by others, bytes/s.

    Without such phases it is that of the parts without overlap, if the capacity is known, else that of all phases.
    """
    moving = _moves_data(load)
    if not moving.any():
        return 0.0
    rates = load.moved[moving] / (load.end - load.start)[moving]
    alone = alone_phases(load, others)[moving]
    # small pieces beside the main phases are not representative
    weight = load.moved[moving]
    if alone.any():
        return _weighted_quantile(rates[alone], weight[alone], 0.5)
    if capacity is not None:
        inferred, known = _rates_of_parts_alone(load, others, capacity)
        if (known := known & moving).any():
            return _weighted_quantile(inferred[known], load.moved[known], 0.5)
    return _weighted_quantile(rates, weight, 0.9)


def _rates_of_parts_alone(load: Load, others: Sequence[Load], capacity: float) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Infer a job's bandwidth in the parts of its phases that no other job overlaps.

    Only the sum of a phase is known. In the overlapped part the job has moved its max-min fair share, or what others
    have left.

    Returns:
        Bandwidth in each phase, bytes/s, and whether its part alone is long enough.
    """
    beside = [other for other in others if other is not load]
    spans = _busy_spans(beside)
    busy = Load("", "", 1.0, spans[:, 0], spans[:, 1], np.zeros(len(spans)), np.zeros(len(spans)))
    length = load.end - load.start
    shared = busy.within(load.start, load.end)
    with np.errstate(divide="ignore", invalid="ignore"):
        jobs = sum((other.within(load.start, load.end) for other in beside), np.zeros(len(length))) / shared
        taken = (
            sum((other.within(load.start, load.end, other.moved) for other in beside), np.zeros(len(length))) / shared
        )
        observed = load.moved / length
        share = np.maximum(capacity / (1.0 + jobs), capacity - taken)
        rate = np.where(shared > 0, (load.moved - share * shared) / (length - shared), observed)
    known = (length > 0) & (length - shared >= _MIN_PART_ALONE * length)
    return np.where(known, np.clip(rate, observed, np.maximum(observed, capacity)), observed), known


def alone_phases(load: Load, others: Sequence[Load]) -> npt.NDArray[np.bool_]:
    """Return which of a job's data phases no other job overlaps, bool[phases]."""
    overlapped = sum(
        (other.within(load.start, load.end) for other in others if other is not load), np.zeros_like(load.start)
    )
    return _moves_data(load) & (overlapped <= _MAX_OVERLAP * (load.end - load.start))


def _moves_data(load: Load) -> npt.NDArray[np.bool_]:
    moving: npt.NDArray[np.bool_] = (load.moved > 0) & (load.end > load.start)
    return moving


def _busy_spans(loads: Sequence[Load]) -> Floats:
    """Return the time spans in which any job moves data, float[n, 2]. Each phase lies within one span."""
    phases = np.concatenate(
        [np.stack([load.start, load.end], axis=1)[load.moved > 0] for load in loads] or [_NO_PHASES]
    )
    phases = phases[np.argsort(phases[:, 0])]
    if not len(phases):
        return phases
    until = np.maximum.accumulate(phases[:, 1])
    first = np.flatnonzero(np.r_[True, phases[1:, 0] > until[:-1]])
    spans = np.stack([phases[first, 0], until[np.r_[first[1:] - 1, len(phases) - 1]]], axis=1)
    nonempty: Floats = spans[spans[:, 1] > spans[:, 0]]
    return nonempty


def _weighted_quantile(values: Floats, weights: Floats, share: float) -> float:
    """Return the least value up to which values have this share of the weight."""
    order = np.argsort(values)
    total = np.cumsum(weights[order])
    return float(values[order][min(int(np.searchsorted(total, share * total[-1])), len(values) - 1)])
