"""Expected collisions: simultaneous phases of jobs that exceed the capacity. Also the next phase of each job."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from ...results.base import Estimate
from ...results.contention import Collision, Delayed, ExpectedPhase
from .scenarios import Expected, Scenarios

Flags = npt.NDArray[np.bool_]
_OVERLAP: Final = 0.05  # minimum overlap, as a share of the shorter phase
_TIMELY: Final = 0.25  # maximum error of a predicted start, in the shorter period
_MAX_COLLISIONS: Final = 100  # maximum number of reported collisions
LITTLE: Final = 0.01
"""Share of the capacity below which a job neither delays others nor is delayed. Examples are log lines and empty
files."""
Place = tuple[int, int]
"""A job and one of its phases."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two phases that overlap in some scenarios.

    Attributes:
        one, other: the phases.
        happens: scenarios with an overlap, bool[scenarios].
        begins: start of the overlap in each scenario, s.
    """

    one: Place
    other: Place
    happens: Flags
    begins: npt.NDArray[np.float64] = field(repr=False)


@dataclass(slots=True)
class _Overlap:
    """Phases that overlap in some scenarios, each of them at least one of the others."""

    phases: dict[int, int]
    pairs: list[_Pair]

    def includes(self, place: Place) -> bool:
        return self.phases.get(place[0]) == place[1]

    def includes_job(self, pair: _Pair) -> bool:
        return all(self.phases.get(job, phase) == phase for job, phase in (pair.one, pair.other))

    def add(self, pair: _Pair) -> None:
        self.phases.update([pair.one, pair.other])
        self.pairs.append(pair)

    @property
    def happens(self) -> Flags:
        """Scenarios in which any of the phases overlap."""
        flags: Flags = np.any([pair.happens for pair in self.pairs], axis=0)
        return flags

    @property
    def begins(self) -> npt.NDArray[np.float64]:
        """Start of the first overlap in each scenario, s; infinite without one."""
        starts: npt.NDArray[np.float64] = np.min(
            [np.where(pair.happens, pair.begins, np.inf) for pair in self.pairs], axis=0
        )
        return starts

    def takes_part(self, job: int) -> Flags:
        """Return the scenarios in which a job overlaps another one."""
        flags: Flags = np.any([pair.happens for pair in self.pairs if job in (pair.one[0], pair.other[0])], axis=0)
        return flags


@dataclass(frozen=True, slots=True)
class _Begins:
    """Starts of all overlaps.

    Attributes:
        jobs: jobs of each pair of phases, int[pairs, 2].
        at: start of their overlap in each scenario, s; infinite without one, float[pairs, scenarios].
        tolerance: time up to which a start counts as predicted, s, float[pairs, 1].
    """

    jobs: npt.NDArray[np.int64]
    at: npt.NDArray[np.float64]
    tolerance: npt.NDArray[np.float64]

    @classmethod
    def of(cls, pairs: Sequence[_Pair], jobs: Sequence[Expected]) -> _Begins:
        places = np.array([(pair.one[0], pair.other[0]) for pair in pairs], np.int64).reshape(-1, 2)
        periods = np.array([job.period for job in jobs])
        at = np.array([np.where(pair.happens, pair.begins, np.inf) for pair in pairs])
        return cls(places, at, _TIMELY * periods[places].min(axis=1, initial=np.inf)[:, None])

    def probability(self, jobs: Collection[int], at: float) -> float:
        """Return the probability that any of the jobs begin to overlap about then, in whichever of their phases."""
        rows = np.isin(self.jobs, list(jobs)).all(axis=1)
        return float((np.abs(self.at[rows] - at) <= self.tolerance[rows]).any(axis=0).mean())


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
    pairs = sorted(_pairs(jobs, simulated, limit, least), key=lambda pair: -pair.happens.mean())
    for pair in pairs:
        known = next(
            (
                each
                for each in overlaps
                if (each.includes(pair.one) or each.includes(pair.other)) and each.includes_job(pair)
            ),
            None,
        )
        if known is None:
            overlaps.append(_Overlap(dict([pair.one, pair.other]), [pair]))
        else:
            known.add(pair)
    overlaps.sort(key=lambda overlap: -overlap.happens.mean())
    begins = _Begins.of(pairs, jobs)
    made = [
        _collision(overlap, begins, jobs, simulated, capacity, now_s, file_system)
        for overlap in overlaps[:_MAX_COLLISIONS]
    ]
    return sorted((each for each in made if each.probability >= least), key=lambda collision: collision.start_s.value)


def _pairs(jobs: Sequence[Expected], simulated: Scenarios, limit: float | None, least: float) -> list[_Pair]:
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
                    _Pair((one, at), (other, beside), happens[:, at, beside], begins[:, at, beside])
                    for at, beside in likely.tolist()
                ]
    return found


def _collide(one: float, other: float, limit: float) -> bool:
    """Return whether the sum of two rates exceeds a limit, and neither is negligible."""
    return one + other > limit and min(one, other) >= LITTLE * limit


def _collision(
    overlap: _Overlap,
    all_begins: _Begins,
    jobs: Sequence[Expected],
    simulated: Scenarios,
    capacity: float | None,
    now_s: float,
    file_system: str,
) -> Collision:
    happens, begins = overlap.happens, overlap.begins
    part = {job: overlap.takes_part(job) for job in overlap.phases}
    shares = {job: float(rows.sum() / happens.sum()) for job, rows in part.items()}
    demand = sum(jobs[job].rate * share for job, share in shares.items())
    start_s = estimate(begins[happens])
    return Collision(
        file_system=file_system,
        start_s=Estimate(value=start_s.value + now_s, low=start_s.low + now_s, high=start_s.high + now_s),
        probability=all_begins.probability(overlap.phases, start_s.value),
        demand=demand,
        excess=demand / capacity if capacity else 1.0,
        jobs=[
            Delayed(
                job=jobs[job].job,
                who=jobs[job].who,
                phase=phase,
                probability=shares[job],
                start_s=estimate(simulated.start[:, job, phase] + now_s),
                volume_bytes=jobs[job].under_way if phase == 0 else jobs[job].volume,
                delay_s=None
                if capacity is None
                else estimate(np.maximum(np.round(simulated.delay[part[job], job, phase], 6), 0.0)),
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


def next_phases_of(
    jobs: Sequence[Expected], simulated: Scenarios, now_s: float, file_system: str
) -> list[ExpectedPhase]:
    """Return the next phase of each job and period, in order of their starts.

    A job keeps its compute time and its volume. The bandwidth that other jobs leave determines the end of its current
    phase, and so the start of the next one.

    Args:
        jobs: expected phases of each job.
        simulated: outcome of each scenario.
        now_s: current Unix time.
        file_system: identity of the file system.
    """
    found = []
    for number, job in enumerate(jobs):
        starts, ends = simulated.start[:, number, 1], simulated.end[:, number, 1]
        known = np.isfinite(starts)
        if not known.any():
            continue
        lasting = (ends - starts)[np.isfinite(ends)]
        found.append(
            ExpectedPhase(
                job=job.job,
                who=job.who,
                file_system=file_system,
                start_s=estimate(starts[known] + now_s),
                duration_s=estimate(lasting) if len(lasting) else None,
                volume_bytes=job.volume,
                period_s=job.period,
                confidence=job.on_time,
                known_until_s=now_s + job.known_until,
            )
        )
    return sorted(found, key=lambda phase: phase.start_s.value)
