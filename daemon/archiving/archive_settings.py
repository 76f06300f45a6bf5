"""Archive settings."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field


class ArchiveSettings(BaseModel):
    """Folder and limits of archives."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    folder: Path | None = Field(None, description="Folder for one archive per job; none disables archives.")
    checkpoint_s: float = Field(
        60.0,
        gt=0,
        description="Longest time until received calls are on disk, s; a job's first checkpoint is after one second, "
        "and each further interval is twice as long, up to this.",
    )
    quota_bytes: int = Field(
        10 * 2**30, ge=0, description="Bytes that the folder's archives may take; the oldest finished ones go first."
    )
    retain_s: float = Field(30 * 86_400.0, ge=0, description="Seconds that a finished archive is kept.")
    memory_bytes: int = Field(
        2**29,
        ge=0,
        description="Memory for calls that are not on disk yet, bytes; above it, streams are written early.",
    )
    job_bytes: int = Field(
        2**30, ge=0, description="Maximum size of one job's archive, bytes; further calls are counted and left out."
    )
