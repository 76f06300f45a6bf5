"""Summary of one command of ``iotide run``."""

from __future__ import annotations

from ..base import MODELS_VERSION, Model
from ..prediction import Prediction
from .job import JobDetail


class UnseenProgram(Model):
    """A program of a traced process without recorded calls, or without those of one kind."""

    program: str
    """Path of the program. The whole command if it was traced at first; empty for one of many."""
    reason: str
    """Predicate that follows the program's name: ``is statically linked``."""
    times: int
    """Number of starts."""


class RunSummary(Model):
    """Summary of one command of ``iotide run``."""

    version: int = MODELS_VERSION
    command: list[str]
    started_at_s: float
    ended_at_s: float
    exit_status: int
    """As a shell reports it: 128 + N for death by signal N."""
    job: JobDetail
    prediction: Prediction | None
    """The last prediction."""
    predictions: int
    report: str | None
    """Path of the HTML report."""
    archive: str | None = None
    """Path of the archive of all calls."""
    unseen: list[UnseenProgram] = []
    """Programs whose calls are missing."""
