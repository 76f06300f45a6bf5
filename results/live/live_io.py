"""Public results for I/O schedulers: each job's current and predicted I/O on one file system."""

from __future__ import annotations

from pydantic import Field

from ..base import MODELS_VERSION, Model
from ..contention import Capacity
from ..jobs.file_systems import IoPhase
from ..prediction import Prediction


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
