"""Public results of a simulation. They are the effect of I/O scheduling policies on jobs that share one bandwidth."""

from __future__ import annotations

from pydantic import Field

from .base import MODELS_VERSION, Model


class SimulatedJob(Model):
    """Result of one job under one policy."""

    job: str
    kind: str
    """Class of jobs in a mix; "" without classes."""
    predicted: bool
    """Whether the policy got a prediction of any phase."""
    phases: int = Field(ge=0)
    """I/O phases that ended."""
    bytes_moved: float
    io_slowdown: float | None
    """Time in I/O over the time that it takes alone ([IO-Sets]); None without I/O. The rest of a phase that the end of
    the simulation cuts counts as moved without other jobs."""
    job_yield: float = Field(ge=0, le=1)
    """Time that the completed work takes alone over the elapsed time ([Sharing]). Its inverse is the stretch."""
    utilisation: float = Field(ge=0, le=1)
    """Share of the elapsed time in which the job computed."""
    elapsed_s: float
    finished: bool
    """Whether the job ended before the simulation."""


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
    """Time until the last job or the simulation ended, s."""
    jobs: list[SimulatedJob]


class PredictionErrors(Model):
    """Deviation of the policies' predictions from the truth."""

    late: int
    """Phases that passed before a job had predictions."""
    wrong: float
    """Standard deviation of the logarithm of predicted over true periods and volumes."""
    missing: float
    """Share of the jobs without predictions."""


class Simulation(Model):
    """The same jobs under several policies."""

    version: int = MODELS_VERSION
    sources: list[str]
    """Sources of the jobs: files, addresses or classes."""
    seed: int
    bandwidth: float
    """Total bandwidth, bytes/s."""
    duration_s: float | None
    """End of the simulation; None if it runs until all jobs have ended."""
    load: float
    """Bandwidth that the jobs need at their own pace, over the total bandwidth."""
    errors: PredictionErrors
    notes: list[str]
    """Parts of the jobs that were left out or assumed."""
    policies: list[PolicyResult]
