"""Public results on all jobs: one page of a sorted and filtered list."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ..base import MODELS_VERSION, Model
from .job import JobState

FleetOrder = Literal["bandwidth", "job", "user", "state", "period", "next", "read", "written", "last"]


class FleetJob(Model):
    """A job as an entry of the job list."""

    job: str
    page: str = ""
    """Address of the job's page, relative to the aggregator's root."""
    name: str = ""
    """Name given by the user, as the batch system reports it."""
    user: str = ""
    command: str = ""
    state: JobState
    nodes: int
    ranks: int
    bandwidth: float
    """Bytes/s, mean over the last ten seconds."""
    bytes_read: int
    bytes_written: int
    last_event_at_s: float | None
    period_s: float | None = None
    confidence: float = Field(0.0, ge=0, le=1)
    next_start_s: float | None = None
    """Expected start of the next phase, Unix time. None without one, or if the trace has its own clock."""
    complete: bool = True
    failures: int = 0
    """Analyses that failed on this job."""
    alerts: int = 0
    """Alerts on contention that name this job."""
    recent: list[float] = Field(default_factory=list)
    """Recent bandwidth, bytes/s, in bins of ``Fleet.recent_bin_s``."""


class Fleet(Model):
    """A page of the list of all jobs that the viewer may see."""

    version: int = MODELS_VERSION
    made_at_s: float
    total: int
    """Number of jobs."""
    matching: int
    """Number of jobs that match the search."""
    begin: int
    """Position of the page's first job among these, from 0."""
    states: dict[str, int]
    """Number of jobs in each state."""
    bandwidth: float
    """Total of all jobs, bytes/s."""
    alerts: int | None = None
    """Raised alerts on contention; None for a viewer who sees only own jobs."""
    recent_bin_s: float
    jobs: list[FleetJob]
