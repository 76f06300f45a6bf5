"""What the layers of a job can be told, with defaults, units and limits."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, Field

from ..file_groups import CountRule


class Thresholds(BaseModel):
    """From when on something is worth a finding. Immutable."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    least_s: float = Field(0.001, ge=0, description="Time that a finding must at least be about, s.")
    least_share: float = Field(
        0.01, ge=0, le=1, description="Share of the time in calls on data that a finding must at least be about."
    )
    time_share: float = Field(
        0.8, gt=0, le=1, description="Share of a layer's time on data that the few busiest processes must have."
    )
    few_processes: float = Field(
        0.25, gt=0, le=1, description="Share of the processes that counts as few, in a layer or a collective."
    )
    waiting_share: float = Field(
        0.5, gt=0, le=1, description="Share of a collective's time that its ranks must spend outside the layers below."
    )
    late_share: float = Field(
        0.25, gt=0, le=1, description="Share of a collective's time that must pass before the last process has come."
    )
    calls_below: float = Field(
        8.0, gt=1, description="Calls that move data which a layer must make below, for each of its own."
    )
    bytes_below: float = Field(
        1.25, gt=1, description="How many times more or fewer bytes must move below a layer than through it."
    )
    computing_share: float = Field(
        0.5, gt=0, le=1, description="Share of the time in a format library's requests that must be its own."
    )
    small_bytes: int = Field(65_536, ge=1, description="Mean size of requests to a file below which they are small.")
    small_calls: int = Field(
        100, ge=1, description="Calls that move data, fewer of which are not called small requests."
    )
    many_files: int = Field(1000, ge=2, description="Opened files of a folder, fewer of which are not many.")
    small_file_bytes: int = Field(
        1_048_576, ge=1, description="Mean volume of the files of a folder below which they are small."
    )
    own_share: float = Field(
        0.01, gt=0, le=1, description="Share of a layer's time that must go to files which only it touches."
    )
    churn_opens: int = Field(
        8, ge=2, description="How often a process must open a file, and a file be opened, on average."
    )
    churn_moves: float = Field(4.0, gt=0, description="Calls that move data for each open, fewer of which are churn.")
    metadata_share: float = Field(
        0.5, gt=0, le=1, description="Share of a layer's own time on data that calls which move none must take."
    )
    failed_share: float = Field(0.1, gt=0, le=1, description="Share of a layer's calls that must have failed.")
    local_share: float = Field(
        0.1, gt=0, le=1, description="Share of the bytes on files that must go to file systems of single nodes."
    )


class LayersSettings(BaseModel):
    """How the layers of one job are kept. Immutable."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    enabled: bool = Field(True, description="Keep each job's layers, handles, files and collectives apart.")
    max_waiting: int = Field(
        65_536,
        ge=1024,
        le=2**16,
        description="Calls that wait for the call they were made in to end; past it those alike are summed up, then "
        "the rest counts as made by the program.",
    )
    max_processes: int = Field(
        20_000, ge=1, le=2**20, description="Processes told apart in a job; the rest is summed up as other."
    )
    max_files: int = Field(
        100_000, ge=1, le=2**22, description="Files told apart in a job's layers; the rest is summed up as other."
    )
    max_file_rows: int = Field(
        400_000, ge=16, le=2**22, description="Pairs of a file and a way down to it that are told apart."
    )
    max_nodes: int = Field(
        2048, ge=16, le=2**16, description="Handles of a job's tree told apart, alike ones of all processes being one."
    )
    max_process_nodes: int = Field(
        65_536, ge=16, le=2**22, description="Pairs of a process and a handle of the tree that are told apart."
    )
    max_handles: int = Field(
        262_144, ge=16, le=2**22, description="Handles of processes whose place in the tree is remembered."
    )
    max_collectives: int = Field(
        65_536, ge=16, le=2**22, description="Pairs of a collective call on a file and a process that are told apart."
    )
    max_rounds: int = Field(
        65_536,
        ge=16,
        le=2**22,
        description="Collective calls on a file that are put together over the processes that make them; past it the "
        "oldest are summed up.",
    )
    system_paths: tuple[str, ...] = Field(
        (),
        description="Further beginnings of paths of what comes with the machine, for layers alone; "
        "detect.system_paths is for all.",
    )
    data_paths: tuple[str, ...] = Field(
        (), description="Beginnings of paths of the program's data, for layers alone; detect.data_paths is for all."
    )
    max_marks: int = Field(
        2048,
        ge=64,
        le=2**20,
        description="Marks of the timeline, at least ten a handle; past it two stretches of time become one.",
    )
    thresholds: Thresholds = Field(
        default_factory=Thresholds.model_construct, description="From when on something is worth a finding."
    )

    def with_paths(self, data_paths: tuple[str, ...], system_paths: tuple[str, ...]) -> Self:
        """Returns settings that know further beginnings of paths."""
        known = {"data_paths": self.data_paths + data_paths, "system_paths": self.system_paths + system_paths}
        return self.model_copy(update=known)

    @property
    def rule(self) -> CountRule:
        """Tells what is data."""
        return CountRule(data_paths=self.data_paths, system_paths=self.system_paths)
