"""Collisions in progress, measured over the last seconds, for jobs with or without a period."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from ...results.base import Estimate
from ...results.contention import Collision, Delayed
from .capacity import alone_phases, alone_rate
from .collisions import LITTLE
from .loads import Load

_MIN_ALONE: Final = 3  # minimum phases alone for a job's bandwidth alone
_FULL: Final = 0.7  # minimum share of the capacity moved by visible jobs; otherwise other loads slow them down


def ongoing_of(
    loads: Sequence[Load], capacity: float, *, least: float, since_s: float, now_s: float, file_system: str
) -> Collision | None:
    """Return the recent losses of jobs with simultaneous I/O on one file system. Returns None without such jobs.

    Args:
        loads: loads of all jobs on it.
        capacity: bytes/s, configured or learned.
        least: minimum completeness of a job.
        since_s: start of the time range, Unix time.
        now_s: current Unix time.
        file_system: identity of the file system.
    """
    here = [load for load in loads if len(load.end) and load.end[-1] > since_s and load.completeness >= least]
    edges = np.unique([since_s, now_s, *(time for load in here for time in (*load.start, *load.end))])
    edges = edges[(edges >= since_s) & (edges <= now_s)]
    if len(here) < 2 or len(edges) < 2:
        return None
    start, end = edges[:-1], edges[1:]
    busy = np.array([load.within(start, end) for load in here])
    shared = (busy > 0).sum(axis=0) >= 2
    spent = busy[:, shared].sum(axis=1)
    moved = np.array([load.within(start, end, load.moved)[shared].sum() for load in here])
    lasting = float((end - start)[shared].sum())
    if lasting <= 0 or moved.sum() < _FULL * capacity * lasting:
        return None
    alone = [
        min(alone_rate(load, loads), capacity) if alone_phases(load, loads).sum() >= _MIN_ALONE else None
        for load in here
    ]
    wanted = {at: alone[at] or float(moved[at] / spent[at]) for at in range(len(here)) if spent[at] > 0}
    taking = [at for at, rate in wanted.items() if rate >= LITTLE * capacity]
    demand = sum(wanted[at] for at in taking)
    if demand <= capacity or len(taking) < 2:
        return None
    jobs = [_delayed(here[at], here, alone[at], since_s) for at in taking]
    return Collision(
        file_system=file_system,
        start_s=_exact_estimate(float(start[shared][0])),
        probability=min(here[at].completeness for at in taking),
        demand=demand,
        excess=demand / capacity,
        jobs=sorted(jobs, key=lambda each: each.job),
    )


def _delayed(load: Load, others: Sequence[Load], rate: float | None, since_s: float) -> Delayed:
    """Return the loss of a job in overlapped phases. Whole phases, since the slow part of a phase is unknown."""
    overlapped = sum(other.within(load.start, load.end) > 0 for other in others if other is not load)
    rows = (load.end > since_s) & (np.asarray(overlapped) > 0)
    spent_s, moved = float((load.end - load.start)[rows].sum()), float(load.moved[rows].sum())
    return Delayed(
        job=load.job,
        phase=0,
        start_s=_exact_estimate(float(load.start[rows][0])),
        volume_bytes=moved,
        delay_s=None if not rate else _exact_estimate(max(spent_s - moved / rate, 0.0)),
    )


def _exact_estimate(value: float) -> Estimate:
    return Estimate(value=value, low=value, high=value)
