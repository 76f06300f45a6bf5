"""How a journal is kept."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class JournalSettings(BaseModel):
    """What an aggregator that has a folder for its state does for the case that it is killed."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    on: bool = Field(True, description="Acknowledge what came once it is on disk below `state`; needs `state`.")
    snapshot_s: float = Field(
        60.0,
        gt=0,
        description="Seconds between snapshots of all jobs, after which what was journalled before them is removed; "
        "longer where they take more than a twentieth of it.",
    )
    recovery_s: float = Field(
        2.0,
        gt=0,
        description="CPU time of work, s, after which a snapshot is made sooner: about as long does the next daemon "
        "take for what is journalled behind it.",
    )
    segment_bytes: int = Field(
        2**26, ge=2**16, description="Bytes of one file; a snapshot is also made once four files are full."
    )
    quota_bytes: int = Field(
        2**32,
        ge=2**20,
        description="Bytes that all files may take; beyond it what comes is acknowledged and not journalled until the "
        "next snapshot.",
    )
