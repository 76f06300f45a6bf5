"""Public plan by which collectors delay jobs' I/O on one file system."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from .base import MODELS_VERSION, Request

MAX_PACED_JOBS = 10_000
_Name = Annotated[str, Field(min_length=1, max_length=400)]
_Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class PhaseForecast(Request):
    """Prediction of a job's current or next I/O phase."""

    period_s: _Positive
    volume_bytes: _Positive
    gap_s: float = Field(ge=0, allow_inf_nan=False)
    """Time from the end of the previous phase to the start of this one, s."""
    drift: float = Field(0.0, allow_inf_nan=False)
    """Growth of each interval over the previous one, as a share of the period."""
    confidence: float = Field(ge=0, le=1)
    next_confidence: float = Field(ge=0, le=1)


class PacedJob(Request):
    """A job that may be delayed."""

    job: _Name
    limit_bytes_per_s: _Positive
    """Highest observed rate of the job."""
    forecast: PhaseForecast | None = None
    """None without a period, or with an unsure one."""
    in_io: bool = False
    """Whether the job was seen in an I/O phase, on any node."""
    since_s: float = Field(0.0, ge=0, allow_inf_nan=False)
    """Time since the start of that phase or of the current computation, s."""
    moved_bytes: float = Field(0.0, ge=0, allow_inf_nan=False)
    """Bytes moved in that phase."""
    age_s: float = Field(0.0, ge=0, allow_inf_nan=False)
    """Time since the start of the job's first phase, s."""
    done_s: float = Field(0.0, ge=0, allow_inf_nan=False)
    """Time alone, s, of all work of the job before ``since_s`` ago."""


class PacingPlan(Request, defer_build=False):  # FastAPI takes no body whose model build is deferred
    """Jobs to schedule and the policy; valid for ``lasts_s`` after receipt."""

    version: int = MODELS_VERSION
    file_system: _Name
    policy: _Name
    """Name as in ``iotide schedule --policy``."""
    capacity_bytes_per_s: _Positive
    longest_wait_s: float = Field(60.0, gt=0, le=3600)
    """Maximum wait of one job in one phase, s. Then the job runs on until the end of the phase."""
    lasts_s: float = Field(2.0, gt=0, le=60)
    jobs: list[PacedJob] = Field(max_length=MAX_PACED_JOBS)
    """Jobs that are not listed are never delayed."""
