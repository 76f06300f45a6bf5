"""Settings of the layer analysis with defaults, units and limits."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, Field

from ..file_groups import CountRule


class Thresholds(BaseModel):
    """Thresholds of findings. Immutable."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    least_s: float = Field(0.001, ge=0, description="Minimum time of a finding, s.")
    least_share: float = Field(
        0.01, ge=0, le=1, description="Minimum time of a finding, as a share of the time in calls on data."
    )
    time_share: float = Field(
        0.8, gt=0, le=1, description="Minimum share of a layer's time on data in the few busiest processes."
    )
    few_processes: float = Field(
        0.25, gt=0, le=1, description="Maximum share of processes that counts as few, in a layer or a collective."
    )
    waiting_share: float = Field(
        0.5,
        gt=0,
        le=1,
        description="Minimum share of a collective's time that its ranks spend outside the layers below.",
    )
    late_share: float = Field(
        0.25, gt=0, le=1, description="Minimum share of a collective's time before the last process arrives."
    )
    calls_below: float = Field(
        8.0, gt=1, description="Minimum number of data calls in the layers below per data call of a layer."
    )
    bytes_below: float = Field(
        1.25, gt=1, description="Minimum ratio of bytes below a layer to bytes through it, or its inverse."
    )
    computing_share: float = Field(
        0.5, gt=0, le=1, description="Minimum share of a format library's own time in its requests."
    )
    small_bytes: int = Field(
        65_536, ge=1, description="Mean request size of a file below which requests count as small, bytes."
    )
    small_calls: int = Field(100, ge=1, description="Minimum number of data calls for a finding of small requests.")
    many_files: int = Field(
        1000, ge=2, description="Minimum number of opened files in a folder for a finding of many files."
    )
    small_file_bytes: int = Field(
        1_048_576, ge=1, description="Mean volume per file of a folder below which its files count as small, bytes."
    )
    own_share: float = Field(
        0.01, gt=0, le=1, description="Minimum share of a layer's time on files that only this layer uses."
    )
    churn_opens: int = Field(8, ge=2, description="Minimum mean number of opens per file and process.")
    churn_moves: float = Field(
        4.0, gt=0, description="Maximum number of data calls per open of a repeatedly opened file."
    )
    metadata_share: float = Field(
        0.5, gt=0, le=1, description="Minimum share of metadata calls in a layer's own time on data."
    )
    failed_share: float = Field(0.1, gt=0, le=1, description="Minimum share of failed calls of a layer.")
    local_share: float = Field(0.1, gt=0, le=1, description="Minimum share of bytes on node-local file systems.")


class LayersSettings(BaseModel):
    """Settings of the layer analysis of one job. Immutable."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    enabled: bool = Field(True, description="Analyze each job's layers, handles, files and collectives.")
    max_waiting: int = Field(
        65_536,
        ge=1024,
        le=2**16,
        description="Maximum number of calls that wait for the end of their enclosing call; beyond it equal "
        "calls are summed, then the rest counts as made by the program.",
    )
    max_processes: int = Field(
        20_000,
        ge=1,
        le=2**20,
        description="Maximum number of distinct processes per job; further ones are summed as other.",
    )
    max_files: int = Field(
        100_000,
        ge=1,
        le=2**22,
        description="Maximum number of distinct files in a job's layers; further ones are summed as other.",
    )
    max_file_rows: int = Field(
        400_000, ge=16, le=2**22, description="Maximum number of distinct pairs of a file and a path of layers to it."
    )
    max_nodes: int = Field(
        2048,
        ge=16,
        le=2**16,
        description="Maximum number of handles in a job's tree; equal handles of all processes count once.",
    )
    max_process_nodes: int = Field(
        65_536, ge=16, le=2**22, description="Maximum number of distinct pairs of a process and a handle of the tree."
    )
    max_handles: int = Field(
        262_144, ge=16, le=2**22, description="Maximum number of handles of processes whose node in the tree is stored."
    )
    max_collectives: int = Field(
        65_536,
        ge=16,
        le=2**22,
        description="Maximum number of distinct pairs of a collective call on a file and a process.",
    )
    max_rounds: int = Field(
        65_536,
        ge=16,
        le=2**22,
        description="Maximum number of collective calls on a file that are matched over their processes; beyond "
        "it the oldest are summed.",
    )
    system_paths: tuple[str, ...] = Field(
        (),
        description="Additional path prefixes of system files, for layers only; detect.system_paths applies to "
        "all analyses.",
    )
    data_paths: tuple[str, ...] = Field(
        (),
        description="Path prefixes of the program's data, for layers only; detect.data_paths applies to all analyses.",
    )
    max_marks: int = Field(
        2048,
        ge=64,
        le=2**20,
        description="Maximum number of timeline marks, at least ten per handle; beyond it time steps are merged "
        "in pairs.",
    )
    thresholds: Thresholds = Field(default_factory=Thresholds.model_construct, description="Thresholds of findings.")

    def with_paths(self, data_paths: tuple[str, ...], system_paths: tuple[str, ...]) -> Self:
        """Return settings with additional path prefixes."""
        known = {"data_paths": self.data_paths + data_paths, "system_paths": self.system_paths + system_paths}
        return self.model_copy(update=known)

    @property
    def rule(self) -> CountRule:
        """Rule that decides which files are data."""
        return CountRule(data_paths=self.data_paths, system_paths=self.system_paths)
