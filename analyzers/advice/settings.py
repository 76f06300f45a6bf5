"""Settings of advice."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class AdviceSettings(BaseModel):
    """Bounds of the advice analyzer, and thresholds of its findings. Immutable."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    enabled: bool = Field(True, description="Report how much time a job spends on I/O and what to change.")
    floor_share: float = Field(
        0.02, ge=0, le=1, description="Minimum expected saving of a reported change, as a share of the run."
    )
    floor_s: float = Field(0.02, ge=0, description="Minimum expected saving of a reported change, s.")
    small_bytes: int = Field(65_536, ge=1, description="Mean request size below which requests count as small, bytes.")
    max_rows: int = Field(
        65_536,
        ge=64,
        le=2**22,
        description="Maximum number of sums by thread, file and kind of call; further ones are summed as other.",
    )
    max_threads: int = Field(
        16_384, ge=1, le=2**20, description="Maximum number of distinct threads; further ones are summed as other."
    )
    max_ordered_calls: int = Field(
        65_536,
        ge=0,
        le=2**40,
        description="Maximum number of calls per job, from its start, whose order and file positions are analyzed.",
    )
    max_handles: int = Field(
        16_384,
        ge=1,
        le=2**22,
        description="Maximum number of open files with tracked positions; beyond it the oldest is evicted.",
    )
    max_extents: int = Field(
        16_384,
        ge=0,
        le=2**24,
        description="Maximum number of byte ranges kept to detect processes that write the same bytes; 0 disables it.",
    )
    mtbf_s: float = Field(
        86_400.0, gt=0, description="Mean time between failures of a job's nodes, s; used for checkpoint intervals."
    )
