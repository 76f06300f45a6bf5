"""What ``iotide run`` saw of one command."""

from __future__ import annotations

from ..base import MODELS_VERSION, Model
from ..prediction import Prediction
from .job import JobDetail


class UnseenProgram(Model):
    """A program of which no calls are recorded, or not those of one kind, though a traced process started it."""

    program: str
    """Its path; the whole command where it was traced at first; empty: one of many."""
    reason: str
    """Follows the program's name: ``is statically linked``."""
    times: int
    """How often it was started."""


class RunSummary(Model):
    """What ``iotide run`` saw of one command."""

    version: int = MODELS_VERSION
    command: list[str]
    started_at_s: float
    ended_at_s: float
    exit_status: int
    """As a shell reports it: 128 + N for death by signal N."""
    job: JobDetail
    prediction: Prediction | None
    """The last one."""
    predictions: int
    report: str | None
    """Path of the HTML report."""
    archive: str | None = None
    """Path of the archive of all calls."""
    unseen: list[UnseenProgram] = []
    """What is missing in all this."""
