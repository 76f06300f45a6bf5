"""The public plan by which collectors have jobs wait for their turn on one file system."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from .base import MODELS_VERSION, Model

MOST_PACED_JOBS = 10_000
_Name = Annotated[str, Field(min_length=1, max_length=400)]
_Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class PhaseForecast(Model):
    """What is predicted of the I/O phase of a job that goes on or comes next."""

    period_s: _Positive
    volume_bytes: _Positive
    gap_s: float = Field(ge=0, allow_inf_nan=False)
    """From the end of the phase before to the start of this one."""
    drift: float = Field(0.0, allow_inf_nan=False)
    """By which share of the period each interval is longer than the one before."""
    confidence: float = Field(ge=0, le=1)
    next_confidence: float = Field(ge=0, le=1)


class PacedJob(Model):
    """A job that may be told to wait."""

    job: _Name
    limit_bytes_per_s: _Positive
    """The fastest that it was seen."""
    forecast: PhaseForecast | None = None
    """None without a period, or with one that is a guess."""
    in_io: bool = False
    """Whether it was seen in an I/O phase, on any node."""
    since_s: float = Field(0.0, ge=0, allow_inf_nan=False)
    """How long ago that phase began, or the computation that goes on."""
    moved_bytes: float = Field(0.0, ge=0, allow_inf_nan=False)
    """Of that phase."""
    age_s: float = Field(0.0, ge=0, allow_inf_nan=False)
    """How long ago the job's first phase began."""
    done_s: float = Field(0.0, ge=0, allow_inf_nan=False)
    """What the job would have needed alone for all that it did before ``since_s`` ago."""


class PacingPlan(Model, defer_build=False):  # FastAPI takes no body whose model is put off
    """Who is to be served, by which policy; holds for ``lasts_s`` after it was heard."""

    version: int = MODELS_VERSION
    file_system: _Name
    policy: _Name
    """As ``iotide schedule --policy`` spells it."""
    capacity_bytes_per_s: _Positive
    longest_wait_s: float = Field(60.0, gt=0, le=3600)
    """Of one job in one phase; after it, the job goes on to the end of the phase."""
    lasts_s: float = Field(2.0, gt=0, le=60)
    jobs: list[PacedJob] = Field(max_length=MOST_PACED_JOBS)
    """Others never wait."""
