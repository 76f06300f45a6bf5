"""Load of each job on one file system, as arrays, and its completeness."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from ...results.contention import Measure
from ...results.jobs.file_systems import FileSystemUse, JobFileSystems
from ...results.jobs.job import JobSummary
from ...results.prediction import Prediction

Floats = npt.NDArray[np.float64]
_MISSING: Final = (
    *("streams_cut_off", "streams_silent", "ranks_unheard", "nodes_unseen", "processes_unheard", "processes_refused"),
    *("processes_refused:max_users", "processes_refused:waiting"),
    *("processes_failed", "processes_left_running"),
    *("streams_refused:max_streams", "streams_refused:max_collectors", "streams_refused:max_jobs"),
)
"""Losses that count missing streams or processes, not calls."""


@dataclass(frozen=True, slots=True)
class JobView:
    """Public results of one job."""

    summary: JobSummary
    use: JobFileSystems
    prediction: Prediction | None = None

    @property
    def completeness(self) -> float:
        """Known share of the job's received calls; missing streams count by their number."""
        summary = self.summary
        share = summary.events / (summary.events + summary.events_dropped) if summary.events_dropped else 1.0
        if missing := sum(summary.losses.get(reason, 0) for reason in _MISSING):
            known = max(summary.streams, summary.ranks, 1)
            share *= known / (known + missing)
        return min(share, 1.0 if self.prediction is None else self.prediction.completeness)


@dataclass(frozen=True)
class Load:
    """Phases of one job on one file system, in order of time. They are phases of data or of metadata calls.

    Attributes:
        job, user: job name and user name.
        completeness: completeness of the job.
        start, end: start and end of each phase, s; phases do not overlap.
        moved: bytes of each phase, or metadata calls.
        seconds: time in calls of each phase.
    """

    job: str
    user: str
    completeness: float
    start: Floats
    end: Floats
    moved: Floats
    seconds: Floats

    @classmethod
    def of(cls, view: JobView, use: FileSystemUse, since_s: float, measure: Measure = "data") -> Load:
        """Return the load of a job on a file system since a given time."""
        if measure == "data":
            rows = [(each.start_s, each.end_s, each.moved, each.seconds) for each in use.phases]
        else:
            rows = [(each.start_s, each.end_s, each.calls, each.seconds) for each in use.metadata_phases]
        start, end, moved, seconds = np.array([row for row in rows if row[1] > since_s], np.float64).reshape(-1, 4).T
        if len(start) > 1:  # pieces of a phase may overlap because of a long call
            end = np.r_[np.minimum(end[:-1], np.maximum(start[1:], start[:-1])), end[-1]]
        return cls(view.summary.job, view.summary.user, view.completeness, start, end, moved, seconds)

    @cached_property
    def _edges(self) -> Floats:
        return np.stack([self.start, self.end], axis=1).ravel()

    def within(self, start: Floats, end: Floats, values: Floats | None = None) -> Floats:
        """Return the part of the job's values within time spans. Each phase is assumed to be evenly distributed.

        Args:
            start: start of each span, s.
            end: end of each span, s.
            values: one value per phase; by default its duration.
        """
        if not len(self.start):
            return np.zeros(len(start))
        amounts = self.end - self.start if values is None else values
        steps = np.stack([amounts, np.zeros(len(amounts))], axis=1).ravel()[:-1]
        total = np.r_[0.0, np.cumsum(steps)]
        moved: Floats = np.interp(end, self._edges, total) - np.interp(start, self._edges, total)
        return moved


def busy_share(loads: Sequence[Load], start_s: float, end_s: float) -> float:
    """Return the share of a time span in which any of the jobs did I/O."""
    spans = sorted(
        (max(begin, start_s), min(stop, end_s))
        for load in loads
        for begin, stop in zip(load.start.tolist(), load.end.tolist(), strict=True)
        if stop > start_s and begin < end_s
    )
    covered, until = 0.0, start_s
    for begin, stop in spans:
        if stop > until:
            covered += stop - max(begin, until)
            until = stop
    return min(covered / (end_s - start_s), 1.0)
