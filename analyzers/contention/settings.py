"""What can be chosen about contention."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class AlertSettings(BaseModel):
    """The table ``contention.alerts``. Immutable."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    looks: int = Field(2, ge=1, description="Looks in a row at which there is contention before an alert is raised.")
    quiet_s: float = Field(120.0, ge=0, description="Time without it after which an alert is resolved, s.")
    ahead_s: float = Field(60.0, gt=0, description="How far ahead a collision is alerted on, s.")
    probability: float = Field(0.8, gt=0, le=1, description="Probability from which on it is; half of it keeps it.")
    min_delay_s: float = Field(1.0, ge=0, description="Longest delay of a job in it below which it is not, s.")


class ContentionSettings(BaseModel):
    """The table ``contention``. Immutable."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    enabled: bool = Field(True, description="Look for contention between jobs.")
    interval_s: float = Field(10.0, ge=0.1, description="Seconds between looks; longer where one takes long.")
    share: float = Field(0.05, gt=0, le=1, description="Share of a core that looks may take.")
    horizon_s: float = Field(3600.0, gt=0, description="How far ahead collisions are foreseen, s.")
    phases_ahead: int = Field(8, ge=1, le=64, description="Phases of a job that are foreseen at most.")
    max_jobs: int = Field(256, ge=2, description="Jobs looked at, the latest active; of one file system at most 64.")
    capacity: dict[str, Annotated[float, Field(gt=0)]] = Field(
        default_factory=dict, description="What file systems can move, bytes/s, by their identity; others are learnt."
    )
    min_completeness: float = Field(
        0.99, ge=0, le=1, description="Share of a job's calls that has to arrive before something is claimed of it."
    )
    p_value: float = Field(
        0.001, gt=0, lt=1, description="Probability at which a slowdown may be an accident, over all that is tested."
    )
    min_slowdown: float = Field(1.2, ge=1, description="Slowdown below which a job is not called slowed down.")
    min_probability: float = Field(0.1, ge=0, le=1, description="Probability from which on a collision is told.")
    alerts: AlertSettings = Field(
        default_factory=AlertSettings.model_construct, description="When alerts are raised and resolved."
    )
