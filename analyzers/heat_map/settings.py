"""What can be chosen about the heat map of a job."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class HeatMapSettings(BaseModel):
    """What can be chosen about the heat map. Immutable."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    enabled: bool = Field(True, description="Sum up the time in calls by rank or process and by moment.")
    rows: int = Field(32, ge=2, le=1024, description="Most rows of ranks, and of processes; neighbours share one.")
