"""Results of live pages and of I/O schedulers: data of one job, and the I/O of all jobs on one file system."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct
from pydantic import Field

from .base import MODELS_VERSION, Model
from .contention import Capacity
from .findings import Findings
from .jobs.file_systems import IoPhase
from .jobs.job import JobDetail, SignalSeries
from .jobs.ledger import JobLedger
from .prediction import Prediction


class JobView(Struct, frozen=True):
    """Current data of a job, as its live page shows it.

    Attributes:
        detail: totals, largest files and calls.
        prediction: the latest one.
        history: the latest predictions, oldest first; may be iterated only once.
        signal: bandwidth over time.
        findings: results of its analyzers.
        ledger: account of its events.
        wall_clock: whether times are Unix time.
    """

    detail: JobDetail
    prediction: Prediction | None
    history: Iterable[Prediction]
    signal: SignalSeries
    findings: Findings
    ledger: JobLedger | None = None
    wall_clock: bool = True


class LiveJob(Model):
    """A running job and its latest I/O phase on the file system."""

    job: str
    user: str = ""
    hosts: list[str] = Field(default_factory=list)
    completeness: float = Field(ge=0, le=1)
    """Share of its calls, or of their bytes if that is less, that was not lost."""
    phase: IoPhase
    """The latest phase; pieces of a long one are joined. It is ongoing if it ends within ``LiveIo.gap_s`` of now."""
    bytes_moved: int
    """Bytes moved on the file system since the job began."""
    prediction: Prediction | None = None
    """Prediction of the whole job. ``others`` are the periods of groups of members with upcoming phases."""


class LiveIo(Model):
    """Jobs that use one file system, latest I/O first."""

    version: int = MODELS_VERSION
    made_at_s: float
    file_system: str
    gap_s: float
    """Pauses up to this length are part of a phase."""
    capacity: Capacity
    jobs: list[LiveJob]
