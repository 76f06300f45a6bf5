"""Expected collisions: simultaneous phases of several jobs that exceed the capacity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from ...results.base import Estimate
from ...results.contention import Collision, Delayed
from .scenarios import Expected, Scenarios

Flags = npt.NDArray[np.bool_]
_OVERLAP: Final = 0.05  # minimum overlap, as a share of the shorter phase
_MAX_COLLISIONS: Final = 100  # maximum number of reported collisions
LITTLE: Final = 0.01
"""Share of the capacity below which a job neither delays others nor is delayed. Examples are log lines and empty
files."""
Place = tuple[int, int]
"""A job and one of its phases."""


@dataclass(slots=True)
class _Overlap:
    """Phases that overlap in some scenarios."""

    phases: dict[int, int]
    happens: Flags
    begins: npt.NDArray[np.float64] = field(repr=False)

    def includes(self, place: Place) -> bool:
        return self.phases.get(place[0]) == place[1]

    def includes_job(self, one: Place, other: Place) -> bool:
        return all(self.phases.get(job, phase) == phase for job, phase in (one, other))


def collisions_of(
    jobs: Sequence[Expected],
    simulated: Scenarios,
    capacity: float | None,
    *,
    limit: float | None,
    least: float,
    now_s: float,
    file_system: str,
) -> list[Collision]:
    """Return the hundred most likely collisions of one file system in order of their starts.

    Args:
        jobs: expected phases of each job.
        simulated: outcome of each scenario.
        capacity: bytes/s, if known.
        limit: demand below which jobs do not collide; None if all do.
        least: minimum probability of a reported collision.
        now_s: current Unix time.
        file_system: identity of the file system.
    """
    overlaps: list[_Overlap] = []
    for one, other, happens, begins in sorted(_pairs(jobs, simulated, limit, least), key=lambda pair: -pair[2].mean()):
        known = next(
            (m for m in overlaps if (m.includes(one) or m.includes(other)) and m.includes_job(one, other)), None
        )
        if known is None:
            overlaps.append(_Overlap(dict([one, other]), happens, np.where(happens, begins, np.inf)))
        else:
            known.phases.update([one, other])
            known.happens = known.happens | happens
            known.begins = np.minimum(known.begins, np.where(happens, begins, np.inf))
    overlaps.sort(key=lambda overlap: -overlap.happens.mean())
    made = [
        _collision(overlap, jobs, simulated, capacity, now_s, file_system) for overlap in overlaps[:_MAX_COLLISIONS]
    ]
    return sorted(made, key=lambda collision: collision.start_s.value)


def _pairs(
    jobs: Sequence[Expected], simulated: Scenarios, limit: float | None, least: float
) -> list[tuple[Place, Place, Flags, npt.NDArray[np.float64]]]:
    found = []
    with np.errstate(invalid="ignore"):
        lasting = simulated.end - simulated.start - simulated.delay
        for one in range(len(jobs)):
            for other in range(one + 1, len(jobs)):
                if jobs[one].job == jobs[other].job:  # two periods of one job
                    continue
                if limit is not None and not _collide(jobs[one].rate, jobs[other].rate, limit):
                    continue
                begins = np.maximum(simulated.start[:, one, :, None], simulated.start[:, other, None, :])
                ends = np.minimum(simulated.end[:, one, :, None], simulated.end[:, other, None, :])
                shorter = np.minimum(lasting[:, one, :, None], lasting[:, other, None, :])
                happens = ends - begins > _OVERLAP * shorter
                likely = np.argwhere(happens.mean(axis=0) >= least)
                found += [
                    ((one, at), (other, beside), happens[:, at, beside], begins[:, at, beside])
                    for at, beside in likely.tolist()
                ]
    return found


def _collide(one: float, other: float, limit: float) -> bool:
    """Return whether the sum of two rates exceeds a limit, and neither is negligible."""
    return one + other > limit and min(one, other) >= LITTLE * limit


def _collision(
    overlap: _Overlap,
    jobs: Sequence[Expected],
    simulated: Scenarios,
    capacity: float | None,
    now_s: float,
    file_system: str,
) -> Collision:
    demand = sum(jobs[job].rate for job in overlap.phases)
    rows = overlap.happens
    return Collision(
        file_system=file_system,
        start_s=estimate(overlap.begins[rows] + now_s),
        probability=float(rows.mean()),
        demand=demand,
        excess=demand / capacity if capacity else 1.0,
        jobs=[
            Delayed(
                job=jobs[job].job,
                who=jobs[job].who,
                phase=phase,
                start_s=estimate(simulated.start[:, job, phase] + now_s),
                volume_bytes=jobs[job].under_way if phase == 0 else jobs[job].volume,
                delay_s=None
                if capacity is None
                else estimate(np.maximum(np.round(simulated.delay[rows, job, phase], 6), 0.0)),
            )
            for job, phase in sorted(overlap.phases.items())
        ],
    )


def estimate(values: npt.NDArray[np.float64]) -> Estimate:
    """Return the median of the finite values with their 90 % interval; zeros if there are none."""
    known = values[np.isfinite(values)]
    if not len(known):
        return Estimate(value=0.0, low=0.0, high=0.0)
    low, middle, high = np.quantile(known, (0.05, 0.5, 0.95)).tolist()
    return Estimate(value=middle, low=low, high=high)
