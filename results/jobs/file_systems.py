"""Public results on a job's use of each file system."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ..base import MODELS_VERSION, Model

Place = Literal["shared", "local", "unknown"]


class Latency(Model):
    """Durations of single calls; quantiles have a relative error of at most 20 %."""

    median_s: float
    p90_s: float
    p99_s: float
    longest_s: float


class IoPhase(Model):
    """An interval in which a job moved data on one file system without a long pause."""

    start_s: float
    end_s: float
    bytes_read: int
    bytes_written: int
    calls: int
    """Calls that moved or flushed data."""
    seconds: float
    """Time in these calls, summed over threads and processes."""
    continues: bool = False
    """True if it continues the previous phase: phases are split into pieces of at most a minute."""

    @property
    def moved(self) -> int:
        """Bytes in both directions."""
        return self.bytes_read + self.bytes_written


class MetadataPhase(Model):
    """An interval of metadata calls of a job without a long pause.

    They are open, close, create, rename, remove and stat.
    """

    start_s: float
    end_s: float
    calls: int
    seconds: float
    """Time in these calls, summed over threads and processes."""
    latency: Latency
    continues: bool = False


class FileSystemUse(Model):
    """A job's use of one file system."""

    file_system: str
    """Identity of the file system. A name from the settings; type and source for a shared one (``lustre:mgs@tcp:/fs``);
    host and device or mount point for a node-local one (``n7:/dev/sda1``); ``unknown`` without knowledge of mounts."""
    place: Place
    type: str = ""
    """Type as in mount(8); "" where it is unknown."""
    source: str = ""
    mount_points: list[str] = Field(default_factory=list)
    """Mount points under which the job's files used it; at most eight."""
    hosts: list[str] = Field(default_factory=list)
    """Hosts from which the job used it; at most the first 64."""
    nodes: int = Field(0, ge=0)
    """Number of these hosts."""
    bytes_read: int
    bytes_written: int
    calls: int
    seconds: float
    metadata_calls: int
    metadata_seconds: float
    phases: list[IoPhase]
    """The latest ones, ordered by start."""
    metadata_phases: list[MetadataPhase] = Field(default_factory=list)
    """Phases of metadata calls. They are separate, so that frequent stat calls do not merge data phases."""


class JobFileSystems(Model):
    """A job's use of each file system, most bytes first."""

    version: int = MODELS_VERSION
    job: str
    gap_s: float
    """Pauses up to this length are part of a phase."""
    own_clock: bool = False
    """True if the trace's zero is unknown: times cannot be compared with those of other jobs."""
    file_systems: list[FileSystemUse]
