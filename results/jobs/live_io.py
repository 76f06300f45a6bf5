"""Public results for schedulers of I/O: what each job does on one file system now, and what is predicted of it."""

from __future__ import annotations

from pydantic import Field

from ..base import MODELS_VERSION, Model
from ..contention import Capacity
from ..prediction import Prediction
from .file_systems import IoPhase


class LiveJob(Model):
    """A running job and its latest I/O phase on the file system."""

    job: str
    user: str = ""
    hosts: list[str] = Field(default_factory=list)
    completeness: float = Field(ge=0, le=1)
    """Share of its calls, or of their bytes where that is less, that was not lost on the way."""
    phase: IoPhase
    """The latest; pieces of a long one are joined. It goes on if its end is now, but for ``LiveIo.gap_s``."""
    bytes_moved: int
    """On the file system, since the job began."""
    prediction: Prediction | None = None
    """Of the whole job; ``others`` are the periods of groups of its members that have phases to come."""


class LiveIo(Model):
    """Jobs that use one file system, the one with the latest I/O first."""

    version: int = MODELS_VERSION
    made_at_s: float
    file_system: str
    gap_s: float
    """Pauses up to this length are part of a phase."""
    capacity: Capacity
    jobs: list[LiveJob]
