"""Settings of the contention analysis."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class AlertSettings(BaseModel):
    """Table ``contention.alerts``. Immutable."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    looks: int = Field(2, ge=1, description="Consecutive looks with contention before an alert is raised.")
    quiet_s: float = Field(120.0, ge=0, description="Time without contention after which an alert is resolved, s.")
    ahead_s: float = Field(
        60.0, gt=0, description="Maximum time from now to a predicted collision that raises an alert, s."
    )
    probability: float = Field(
        0.8,
        gt=0,
        le=1,
        description="Minimum probability of a collision that raises an alert; half of it keeps the alert.",
    )
    min_delay_s: float = Field(
        1.0, ge=0, description="Minimum longest delay of a job in a collision that raises an alert, s."
    )


class ContentionSettings(BaseModel):
    """Table ``contention``. Immutable."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    enabled: bool = Field(True, description="Detect contention between jobs.")
    interval_s: float = Field(10.0, ge=0.1, description="Time between looks, s; longer if a look takes long.")
    share: float = Field(0.05, gt=0, le=1, description="Maximum share of a CPU core used by looks.")
    horizon_s: float = Field(3600.0, gt=0, description="How far ahead collisions are predicted, s.")
    phases_ahead: int = Field(8, ge=1, le=64, description="Maximum number of predicted phases per job.")
    max_jobs: int = Field(
        256,
        ge=2,
        description="Maximum number of analyzed jobs, most recently active first; at most 64 per file system.",
    )
    capacity: dict[str, Annotated[float, Field(gt=0)]] = Field(
        default_factory=dict, description="Capacities of file systems, bytes/s, by their identity; others are learned."
    )
    min_completeness: float = Field(
        0.99, ge=0, le=1, description="Minimum share of a job's calls that must be received for any claim about it."
    )
    p_value: float = Field(
        0.001, gt=0, lt=1, description="Maximum probability that a reported slowdown is due to chance, over all tests."
    )
    min_slowdown: float = Field(1.2, ge=1, description="Minimum slowdown of a job reported as slowed.")
    min_probability: float = Field(0.1, ge=0, le=1, description="Minimum probability of a reported collision.")
    alerts: AlertSettings = Field(
        default_factory=AlertSettings.model_construct, description="Thresholds for raising and resolving alerts."
    )
