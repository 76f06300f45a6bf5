"""Input of a simulation: jobs from options, descriptions, traces and aggregators."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ...clients.schedulers.fluid import Job
from ...clients.schedulers.mix_file import jobs_of, read_mix
from ...clients.schedulers.mixes import JobClass, draw

if TYPE_CHECKING:
    from .real_jobs import Start

_DURATION_S: Final = 20_000.0
_BANDWIDTH: Final = 1e9
_LOAD: Final = 0.8
_CLASS: Final = re.compile(r"(\d{1,5})\s*[xX*]\s*(\d+(?:\.\d*)?|\.\d+)\s*s?")


@dataclass(slots=True)
class Plan:
    """Jobs and their total bandwidth; without a duration the simulation ends with the last job."""

    jobs: list[Job]
    bandwidth: float
    duration_s: float | None
    sources: list[str]
    notes: list[str] = field(default_factory=list)


def plan_of_classes(
    texts: Sequence[str],
    spread: float,
    jitter: float,
    uneven: bool,
    load: float,
    bandwidth: float,
    limit: float | None,
    duration_s: float,
    seed: int,
) -> Plan:
    """Draw jobs of classes that are given on the command line as COUNTxPERIOD.

    Raises:
        ValueError: a class is malformed, or the classes cannot have the load.
    """
    classes = []
    for text in texts:
        found = _CLASS.fullmatch(text.strip())
        if found is None or not int(found[1]) or not float(found[2]):
            raise ValueError(f"--class {text!r}: expected COUNTxPERIOD, such as 20x100 for 20 jobs of about 100 s")
        count, period = int(found[1]), float(found[2])
        classes.append(JobClass(f"{period:g} s", count, period, spread, jitter, uneven=uneven, limit=limit))
    return Plan(draw(classes, load, bandwidth, duration_s, seed), bandwidth, duration_s, list(texts))


def plan_of_mix(
    path: Path, load: float | None, bandwidth: float | None, limit: float | None, duration_s: float | None, seed: int
) -> Plan:
    """Create the jobs of a description; options override the file.

    Raises:
        InputError: the file cannot be read.
        ValueError: the jobs cannot be as described.
    """
    mix = read_mix(path)
    bandwidth = bandwidth or mix.bandwidth or _BANDWIDTH
    lasting = duration_s or mix.duration_s
    if mix.classes and lasting is None:
        lasting = _DURATION_S
    if limit is not None:
        mix = mix.model_copy(
            update={
                "classes": [one.model_copy(update={"limit": limit}) for one in mix.classes],
                "jobs": [one.model_copy(update={"limit": limit}) for one in mix.jobs],
            }
        )
    share = load or mix.load or _LOAD
    jobs = jobs_of(mix, load=share, bandwidth=bandwidth, duration_s=lasting or 0.0, seed=seed)
    return Plan(jobs, bandwidth, lasting, [str(path)])


def plan_of_sources(
    sources: Sequence[str],
    start: Start | None,
    bandwidth: float | None,
    limit: float | None,
    duration_s: float | None,
    seed: int,
) -> Plan:
    """Read jobs from traces, archives and running aggregators.

    Raises:
        InputError: a source cannot be read, or none has a job.
    """
    from .real_jobs import place_jobs, read_jobs

    real = read_jobs(sources, duration_s)
    jobs = place_jobs(real, start, seed)
    if limit is not None:
        jobs = [replace(job, limit=limit) for job in jobs]
    notes = list(real.notes)
    if len(jobs) > 1 and not _overlap(jobs):
        notes.append("no two jobs ran at the same time; use --start together or random")
    shared = bandwidth or real.capacity or max(job.limit for job in jobs)
    if not bandwidth and real.capacity:
        notes.append(f"the bandwidth is the {real.capacity_of}; --bandwidth sets another one")
    return Plan(jobs, shared, duration_s or real.duration_s, list(sources), notes)


def _overlap(jobs: Sequence[Job]) -> bool:
    """Return whether jobs overlap in time, each at its speed alone."""
    last = -1.0
    for job in sorted(jobs, key=lambda job: job.start_s):
        if job.start_s < last:
            return True
        last = max(last, job.start_s + sum(job.gaps_s) + sum(job.volumes) / job.limit + job.tail_s)
    return False
