"""Public results of a replay: predictions for a finished trace as if it were still running."""

from __future__ import annotations

from pydantic import Field

from ..base import MODELS_VERSION, Model
from ..prediction import Prediction


class ReplayStep(Model):
    """One prediction and what followed."""

    prediction: Prediction
    phases_seen: int = Field(ge=0)
    """Phases of the trace that had begun by then."""
    came_s: float | None
    """Actual start of the next phase; None after the last one."""
    error: float | None
    """Predicted minus actual start, as a share of the trace's period. None where either is missing."""
    covered: bool | None
    """Whether the interval of the predicted start contains the actual one."""


class Replay(Model):
    """Predictions for a trace as if it were live, and their accuracy."""

    version: int = MODELS_VERSION
    job: str
    period_s: float | None
    """Period of the whole trace; None without one, and then nothing is compared."""
    phases: int
    """Phases of the whole trace."""
    steps: list[ReplayStep]
    answered: int
    """Predictions with a period."""
    compared: int
    """Predictions of a next start that happened."""
    median_error: float | None
    """Median of the errors' absolute values, as a share of the period."""
    coverage: float | None
    """Share of the compared predictions whose 90 % interval contains the actual start."""
    phases_until_answer: int | None
    """Phases that had begun when a period was first reported."""
