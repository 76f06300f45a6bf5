"""Public results of a simulation: what policies of I/O scheduling do to jobs that share one bandwidth."""

from __future__ import annotations

from pydantic import Field

from .base import MODELS_VERSION, Model


class SimulatedJob(Model):
    """What became of one job under one policy."""

    job: str
    kind: str
    """Class of jobs in a mix; "" without classes."""
    predicted: bool
    """Whether the policy was told a prediction of any phase."""
    phases: int = Field(ge=0)
    """I/O phases that ended."""
    bytes_moved: float
    io_slowdown: float | None
    """Time in I/O over the time that it takes alone ([IO-Sets]); None without I/O. A phase that the end of the
    simulation cuts counts as if its rest were moved without other jobs."""
    job_yield: float = Field(ge=0, le=1)
    """Time that the work done takes alone over the time elapsed ([Sharing]); its inverse is the stretch."""
    utilisation: float = Field(ge=0, le=1)
    """Share of the time elapsed in which the job computed."""
    elapsed_s: float
    finished: bool
    """Whether it ended before the simulation did."""


class PolicyResult(Model):
    """All jobs under one policy."""

    policy: str
    io_slowdown: float | None
    """Mean over the jobs; None where no job did I/O."""
    io_slowdown_geometric: float | None
    io_slowdown_highest: float | None
    yield_lowest: float
    yield_mean: float
    utilisation: float
    """Mean over the jobs."""
    elapsed_s: float
    """Until the last job ended, or the simulation did."""
    jobs: list[SimulatedJob]


class PredictionErrors(Model):
    """How the predictions that policies were told differ from the truth."""

    late: int
    """Phases that passed before something was known of a job."""
    wrong: float
    """Standard deviation of the logarithm of predicted over true periods and volumes."""
    missing: float
    """Share of the jobs without prediction."""


class Simulation(Model):
    """The same jobs under several policies."""

    version: int = MODELS_VERSION
    sources: list[str]
    """Files, addresses or classes of jobs that the jobs come from."""
    seed: int
    bandwidth: float
    """bytes/s that all jobs share."""
    duration_s: float | None
    """When the simulation stops; None for when all jobs have ended."""
    load: float
    """Bandwidth that the jobs need, each at its own pace, over the bandwidth."""
    errors: PredictionErrors
    notes: list[str]
    """What of the jobs was left out or assumed."""
    policies: list[PolicyResult]
