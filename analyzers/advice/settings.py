"""What can be chosen about advice."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class AdviceSettings(BaseModel):
    """How advice is kept and from when on it is given. Immutable."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    enabled: bool = Field(True, description="Say what a job spends on I/O and what to change.")
    floor_share: float = Field(
        0.02, ge=0, le=1, description="Part of the run that a change must be expected to save to be told."
    )
    floor_s: float = Field(0.02, ge=0, description="Time that it must be expected to save, s.")
    small_bytes: int = Field(65_536, ge=1, description="Mean size of requests below which they are small, bytes.")
    max_rows: int = Field(
        65_536, ge=64, le=2**22, description="Sums by thread, file and kind of call; the rest is summed up as other."
    )
    max_threads: int = Field(16_384, ge=1, le=2**20, description="Threads told apart; the rest is summed up as other.")
    max_ordered_calls: int = Field(
        65_536,
        ge=0,
        le=2**40,
        description="Calls of a job, the first ones, whose order and places in files are looked at.",
    )
    max_handles: int = Field(
        16_384, ge=1, le=2**22, description="Open files whose positions are followed; past it the oldest is forgotten."
    )
    max_extents: int = Field(
        16_384,
        ge=0,
        le=2**24,
        description="Runs of bytes that are kept to find processes that write the same ones; 0 looks for none.",
    )
    mtbf_s: float = Field(
        86_400.0, gt=0, description="Mean time between failures of the nodes of a job, s: for intervals of checkpoints."
    )
