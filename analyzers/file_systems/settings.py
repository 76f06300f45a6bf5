"""What can be chosen about the phases of a job by file system."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class FileSystemsSettings(BaseModel):
    """The table ``analyzers.filesystems``. Immutable."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    enabled: bool = Field(True, description="Keep the phases of each job by file system.")
    gap_s: float = Field(0.25, ge=0.1, le=60, description="Pauses up to this length are part of a phase, s.")
    max_phases: int = Field(512, ge=8, description="Phases remembered of a job, over all file systems; the latest.")
    max_file_systems: int = Field(
        64, ge=1, le=1000, description="File systems told apart in a job; what is on others is told as unknown."
    )
    names: dict[str, str] = Field(
        default_factory=dict,
        description="Names of file systems that nodes share, by the beginning of paths (/scratch), by source "
        "(server:/export) or by type and source (nfs4:server:/export).",
    )
