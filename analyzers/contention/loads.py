"""What each job does to one file system, as arrays, and how much of it was seen."""

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
    *("processes_failed", "streams_refused:max_streams", "streams_refused:max_collectors", "streams_refused:max_jobs"),
)
"""Losses that count who is missing, not which calls."""


@dataclass(frozen=True, slots=True)
class JobView:
    """The public results of one job."""

    summary: JobSummary
    use: JobFileSystems
    prediction: Prediction | None = None

    @property
    def completeness(self) -> float:
        """Share of the job's calls that arrived, as far as is known; streams that are missing count by their number."""
        summary = self.summary
        share = summary.events / (summary.events + summary.events_dropped) if summary.events_dropped else 1.0
        if missing := sum(summary.losses.get(reason, 0) for reason in _MISSING):
            known = max(summary.streams, summary.ranks, 1)
            share *= known / (known + missing)
        return min(share, 1.0 if self.prediction is None else self.prediction.completeness)


@dataclass(frozen=True)
class Load:
    """The phases of one job on one file system, of data or of metadata calls, in the order of time.

    Attributes:
        job, user: whose.
        completeness: of the job.
        start, end: of each phase, s; they do not overlap.
        moved: bytes of each, or metadata calls.
        seconds: time in calls of each.
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
        """Returns what a job did on a file system since some time."""
        if measure == "data":
            rows = [(each.start_s, each.end_s, each.moved, each.seconds) for each in use.phases]
        else:
            rows = [(each.start_s, each.end_s, each.calls, each.seconds) for each in use.metadata_phases]
        start, end, moved, seconds = np.array([row for row in rows if row[1] > since_s], np.float64).reshape(-1, 4).T
        if len(start) > 1:  # pieces of a phase may overlap by a long call
            end = np.r_[np.minimum(end[:-1], np.maximum(start[1:], start[:-1])), end[-1]]
        return cls(view.summary.job, view.summary.user, view.completeness, start, end, moved, seconds)

    @cached_property
    def _edges(self) -> Floats:
        return np.stack([self.start, self.end], axis=1).ravel()

    def within(self, start: Floats, end: Floats, values: Floats | None = None) -> Floats:
        """Returns how much of the job's values lies in spans of time, spread evenly over each phase.

        Args:
            start: of the spans.
            end: of them.
            values: one of each phase; by default the time of it.
        """
        if not len(self.start):
            return np.zeros(len(start))
        amounts = self.end - self.start if values is None else values
        steps = np.stack([amounts, np.zeros(len(amounts))], axis=1).ravel()[:-1]
        total = np.r_[0.0, np.cumsum(steps)]
        moved: Floats = np.interp(end, self._edges, total) - np.interp(start, self._edges, total)
        return moved


def busy_share(loads: Sequence[Load], start_s: float, end_s: float) -> float:
    """Returns the share of a time in which any of the jobs did I/O."""
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
