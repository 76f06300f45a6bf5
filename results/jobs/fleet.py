"""Public results of all jobs at a glance: a page of a sorted and searched list."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ..base import MODELS_VERSION, Model
from .job import JobState

FleetOrder = Literal["bandwidth", "job", "user", "state", "period", "next", "read", "written", "last"]


class FleetJob(Model):
    """A job as the list of all jobs shows it."""

    job: str
    name: str = ""
    """That its user gave it, as the batch system says it."""
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
    """When the next phase is expected, Unix time; None where none is, or the trace has a clock of its own."""
    complete: bool = True
    failures: int = 0
    """Analyses that broke over it."""
    alerts: int = 0
    """Alerts on contention that name it."""
    recent: list[float] = Field(default_factory=list)
    """Bandwidth up to now, bytes/s, in bins of ``Fleet.recent_bin_s``."""


class Fleet(Model):
    """A page of the list of all jobs that who asks may see."""

    version: int = MODELS_VERSION
    made_at_s: float
    total: int
    """Jobs that there are."""
    matching: int
    """Those that the search finds."""
    begin: int
    """Place of the first of the page among these, from 0."""
    states: dict[str, int]
    """How many jobs are in each state."""
    bandwidth: float
    """Of all jobs together, bytes/s."""
    alerts: int | None = None
    """Alerts on contention that are raised; None for who sees one's own jobs alone."""
    recent_bin_s: float
    jobs: list[FleetJob]
