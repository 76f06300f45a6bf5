"""Interference with a job.

It is the volume of other jobs on its file systems during its I/O, and their shared files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from ...results.interaction import Culprit, Culprits, Ranking
from ..common.state import Floats

_BINS: Final = 1024  # maximum number of bins
_FINEST_S: Final = 0.01  # minimum length of a bin, s
_MAX_FILES: Final = 10  # maximum number of files listed per culprit


@dataclass(frozen=True, slots=True)
class Load:
    """Volume of a job over time, and its file systems.

    Attributes:
        job: job name.
        start_s: start of the first bin.
        bin_s: length of a bin, s.
        moved: bytes per bin.
        mounts: bytes by mount point, "" if unknown.
        local: node-local mount points.
        hosts: hosts of the job.
    """

    job: str
    start_s: float
    bin_s: float
    moved: Floats
    user: str = ""
    mounts: Mapping[str, int] = field(default_factory=dict)
    local: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()

    def over(self, edges: Floats) -> Floats:
        """Return the bytes between successive times, float64[len(edges) - 1]."""
        own = self.start_s + self.bin_s * np.arange(len(self.moved) + 1)
        whole = np.concatenate(([0.0], np.cumsum(self.moved)))
        return np.diff(np.interp(edges, own, whole))

    def common(self, other: Load) -> list[str]:
        """Return the mount points that are the same file system for both. Node-local ones only with a common host."""
        meet = bool(self.hosts & other.hosts)
        return sorted(
            point for point in self.mounts.keys() & other.mounts if meet or point not in self.local | other.local
        )

    def part_on(self, points: Sequence[str]) -> float:
        """Return the share of the job's bytes on some mount points. Returns 1 if its mounts are unknown."""
        whole = sum(self.mounts.values())
        return sum(self.mounts[point] for point in points) / whole if whole else 1.0


def interference_with(
    job: Load, others: Sequence[Load], start_s: float, end_s: float, ranking: Ranking, top: int = 10
) -> Culprits:
    """Compute the volume of other jobs during the I/O of a job.

    Args:
        job: affected job.
        others: other jobs, on the same clock.
        start_s: start of the time range.
        end_s: end of the time range.
        ranking: ranking of jobs by shared files; one without the job adds no files.
        top: maximum number of reported culprits.
    """
    bins = int(np.clip((end_s - start_s) / _FINEST_S, 1, _BINS))
    edges = np.linspace(start_s, end_s, bins + 1)
    own = job.over(edges)
    active = own > 0
    width = (end_s - start_s) / bins
    ties = _ties(ranking, job.job)
    found: list[tuple[float, Culprit]] = []
    for other in others:
        points = job.common(other)
        unknown = not job.mounts or not other.mounts
        there = other.over(edges)
        meanwhile = float(there[active].sum()) * (1.0 if unknown else other.part_on(points))
        files, count = ties.get(other.job, ([], 0))
        if meanwhile < 1 and not count:
            continue
        together = _duration_of(active & (there > 0), width) if meanwhile >= 1 else 0.0
        culprit = Culprit(
            job=other.job,
            user=other.user,
            share=0.0,
            bytes=int(meanwhile),
            together_s=together,
            file_systems=[point for point in points if point],
            files=files[:_MAX_FILES],
            interactions=count,
        )
        found.append((meanwhile, culprit))
    whole = float(own.sum()) + sum(meanwhile for meanwhile, _ in found)
    found.sort(key=lambda one: (-one[0], -one[1].interactions, one[1].job))
    return Culprits(
        job=job.job,
        start_s=start_s,
        end_s=end_s,
        active_s=_duration_of(active, width),
        share=float(own.sum()) / whole if whole else 0.0,
        culprits=[
            one.model_copy(update={"share": min(meanwhile / whole, 1.0) if whole else 0.0})
            for meanwhile, one in found[:top]
        ],
    )


def _duration_of(bins: npt.NDArray[np.bool_], width: float) -> float:
    return float(np.count_nonzero(bins) * width)


def _ties(ranking: Ranking, job: str) -> dict[str, tuple[list[str], int]]:
    """Return the files that each other job shares with a job. It also returns the number of interactions."""
    names = {actor.id: actor.job for actor in ranking.actors}
    paths = {file.id: file.path for file in ranking.files}
    uses: dict[int, dict[str, int]] = {}
    for edge in ranking.edges:
        if edge.source_is_file == edge.target_is_file:
            continue
        file, actor = (edge.source, edge.target) if edge.source_is_file else (edge.target, edge.source)
        of_file = uses.setdefault(file, {})
        of_file[names[actor]] = of_file.get(names[actor], 0) + edge.count
    ties: dict[str, list[tuple[int, str]]] = {}
    for file, counts in uses.items():
        for other, count in counts.items() if job in counts else ():
            if other != job:
                ties.setdefault(other, []).append((count, paths[file]))
    return {
        other: ([path for _, path in sorted(pairs, reverse=True)], sum(count for count, _ in pairs))
        for other, pairs in ties.items()
    }
