"""Settings of the phases of a job by file system."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class FileSystemsSettings(BaseModel):
    """Table ``analyzers.filesystems``. Immutable."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    enabled: bool = Field(True, description="Keep the phases of each job by file system.")
    gap_s: float = Field(0.25, ge=0.1, le=60, description="Maximum pause within a phase, s.")
    max_phases: int = Field(
        512, ge=8, description="Maximum number of latest phases kept per job, over all file systems."
    )
    max_file_systems: int = Field(
        64,
        ge=1,
        le=1000,
        description="Maximum number of distinct file systems per job; further ones are reported as unknown.",
    )
    names: dict[str, str] = Field(
        default_factory=dict,
        description="Names of file systems shared by nodes, by path prefix (/scratch), by source "
        "(server:/export) or by type and source (nfs4:server:/export).",
    )
