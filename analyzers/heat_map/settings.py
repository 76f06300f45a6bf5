"""Settings of the heat map of a job."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class HeatMapSettings(BaseModel):
    """Settings of the heat map. Immutable."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    enabled: bool = Field(True, description="Sum the time in calls by rank or process and over time.")
    rows: int = Field(
        32, ge=2, le=1024, description="Maximum number of rows for ranks, and for processes; neighbours share a row."
    )
