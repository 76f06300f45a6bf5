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
_SHARED: Final = 0.3  # minimum share of a span in which jobs overlap
Floats = npt.NDArray[np.float64]
_NONE: Final = np.zeros((0, 2))


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
    lasting = end - start
    moved = sum((load.within(start, end, load.moved) for load in loads), np.zeros(len(spans)))
    busy = np.array([load.within(start, end) for load in loads])
    shared = np.maximum(busy.sum(axis=0) - lasting, 0.0)
    victims = np.array([load.job in slowed for load in loads], np.bool_)
    full = (shared > _SHARED * lasting) & (busy[victims] > 0).any(axis=0)
    if int(full.sum()) >= _MIN_SPANS:
        low, value, high = (_weighted((moved / lasting)[full], shared[full], share) for share in (0.5, 0.8, 0.95))
        return Capacity(known="learnt", bytes_per_s=Estimate(value=value, low=low, high=high))
    most = _weighted(moved / lasting, lasting, 0.95)
    return Capacity(known="at_least", bytes_per_s=Estimate(value=most, low=most, high=most))


def alone_rates(load: Load, others: Sequence[Load]) -> float:
    """Return a job's bandwidth in phases without overlap by others, bytes/s. In all phases if there are none."""
    lasting = (load.end > load.start) & (load.moved > 0)
    if not lasting.any():
        return 0.0
    rates = load.moved[lasting] / (load.end - load.start)[lasting]
    alone = alone_phases(load, others)[lasting]
    # small pieces beside the main phases are not representative
    weight = load.moved[lasting]
    if alone.any():
        return _weighted(rates[alone], weight[alone], 0.5)
    return _weighted(rates, weight, 0.9)


def alone_phases(load: Load, others: Sequence[Load]) -> npt.NDArray[np.bool_]:
    """Return which of a job's data phases no other job overlaps, bool[phases]."""
    overlapped = sum(
        (other.within(load.start, load.end) for other in others if other is not load), np.zeros_like(load.start)
    )
    found: npt.NDArray[np.bool_] = (load.moved > 0) & (load.end > load.start)
    return found & (overlapped <= 0.02 * (load.end - load.start))


def _busy_spans(loads: Sequence[Load]) -> Floats:
    """Return the time spans in which any job moves data, float[n, 2]. Each phase lies within one span."""
    phases = np.concatenate([np.stack([load.start, load.end], axis=1)[load.moved > 0] for load in loads] or [_NONE])
    phases = phases[np.argsort(phases[:, 0])]
    if not len(phases):
        return phases
    until = np.maximum.accumulate(phases[:, 1])
    first = np.flatnonzero(np.r_[True, phases[1:, 0] > until[:-1]])
    spans = np.stack([phases[first, 0], until[np.r_[first[1:] - 1, len(phases) - 1]]], axis=1)
    lasting: Floats = spans[spans[:, 1] > spans[:, 0]]
    return lasting


def _weighted(values: Floats, weights: Floats, share: float) -> float:
    order = np.argsort(values)
    total = np.cumsum(weights[order])
    return float(values[order][min(int(np.searchsorted(total, share * total[-1])), len(values) - 1)])
