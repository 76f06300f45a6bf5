"""Expected next phase of each job, given the I/O of all other jobs on the file system."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...results.contention import ExpectedPhase
from .collisions import estimate
from .scenarios import Expected, Scenarios


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
