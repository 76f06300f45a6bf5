"""Files that several jobs change or read at the same time. They come from the ranking of jobs by shared files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from ...results.contention import ContendedFile, FileUser, Slowdown
from ...results.interaction import Ranking
from .loads import JobView, Load

_MAX_FILES: Final = 50  # maximum number of reported files
_MAX_USERS: Final = 16  # maximum number of jobs listed per file
_MAX_TIES: Final = 10  # maximum number of files listed per culprit


@dataclass(frozen=True)
class SharedFiles:
    """Interactions of jobs through files.

    Attributes:
        users: number of interactions of each job, by path.
        ranks: PageRank of each job among those that it interacts with.
    """

    users: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    ranks: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def of(cls, ranking: Ranking | None) -> SharedFiles:
        """Convert a ranking of jobs; None gives an empty result."""
        if ranking is None:
            return cls()
        jobs = {actor.id: actor.job for actor in ranking.actors}
        paths = {file.id: file.path for file in ranking.files}
        users: dict[str, dict[str, int]] = {}
        for edge in ranking.edges:
            if edge.source_is_file == edge.target_is_file:
                continue
            file, actor = (edge.source, edge.target) if edge.source_is_file else (edge.target, edge.source)
            if file in paths and actor in jobs:
                of_file = users.setdefault(paths[file], {})
                of_file[jobs[actor]] = of_file.get(jobs[actor], 0) + edge.count
        return cls(users, {actor.job: actor.rank_converged for actor in ranking.actors})

    def with_ties(self, slowdown: Slowdown) -> Slowdown:
        """Return a slowdown with the files shared between each culprit and the slowed job."""
        if not slowdown.culprits or not self.users:
            return slowdown
        culprits = []
        for culprit in slowdown.culprits:
            both = {
                path: min(counts[slowdown.job], counts[culprit.job])
                for path, counts in self.users.items()
                if slowdown.job in counts and culprit.job in counts
            }
            most = sorted(both, key=lambda path: (-both[path], path))[:_MAX_TIES]
            more = {"files": most, "interactions": sum(both.values()), "rank": self.ranks.get(culprit.job, 0.0)}
            culprits.append(culprit.model_copy(update=more))
        return slowdown.model_copy(update={"culprits": culprits})

    def contended_files(
        self, views: Sequence[JobView], loads: Mapping[str, Sequence[Load]], slowdowns: Sequence[Slowdown]
    ) -> list[ContendedFile]:
        """Return the shared files of jobs that did I/O simultaneously on the files' file system.

        Args:
            views: results of the jobs.
            loads: loads by file system.
            slowdowns: slowdowns with their culprits.
        """
        places = _places(views)
        accused = {(each.job, one.job) for each in slowdowns for one in each.culprits}
        found = []
        for path, counts in self.users.items():
            name = _place_of(path, places, counts) or _common(views, counts)
            here = [load for load in loads.get(name, ()) if load.job in counts]
            together_s = _overlap_s(here)
            if together_s <= 0:
                continue
            users = sorted((FileUser(job=load.job, interactions=counts[load.job]) for load in here), key=_most_first)
            names = {user.job for user in users}
            found.append(
                ContendedFile(
                    path=path,
                    file_system=name,
                    jobs=users[:_MAX_USERS],
                    together_s=together_s,
                    slowed=sorted({job for job, who in accused if job in names and who in names}),
                )
            )
        found.sort(key=lambda each: (-len(each.slowed), -each.together_s, each.path))
        return found[:_MAX_FILES]


def _most_first(user: FileUser) -> tuple[int, str]:
    return -user.interactions, user.job


def _places(views: Sequence[JobView]) -> dict[str, list[tuple[str, str]]]:
    """Return mount points and identities of file systems by job, longest first."""
    return {
        view.summary.job: sorted(
            ((point, use.file_system) for use in view.use.file_systems for point in use.mount_points),
            key=lambda pair: -len(pair[0]),
        )
        for view in views
    }


def _place_of(path: str, places: Mapping[str, Sequence[tuple[str, str]]], jobs: Mapping[str, int]) -> str:
    for job in sorted(jobs):
        for point, name in places.get(job, ()):
            if path == point or path.startswith(point.rstrip("/") + "/"):
                return name
    return ""


def _common(views: Sequence[JobView], jobs: Mapping[str, int]) -> str:
    """Return the only file system common to some jobs, if no mount point matches. Returns "" if there are several."""
    used = [{use.file_system for use in view.use.file_systems} for view in views if view.summary.job in jobs]
    common = set.intersection(*used) if used else set()
    return common.pop() if len(common) == 1 else ""


def _overlap_s(loads: Sequence[Load]) -> float:
    """Return how long at least two of the jobs did I/O at once, s."""
    edges = np.unique(np.concatenate([np.zeros(0), *(np.r_[load.start, load.end] for load in loads)]))
    if len(loads) < 2 or len(edges) < 2:
        return 0.0
    busy = np.array([load.within(edges[:-1], edges[1:]) > 0 for load in loads])
    return float(np.diff(edges)[busy.sum(axis=0) >= 2].sum())
