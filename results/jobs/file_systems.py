"""Public results of what a job does to each file system that it uses."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ..base import MODELS_VERSION, Model

Place = Literal["shared", "local", "unknown"]


class Latency(Model):
    """How long single calls took; quantiles are right to a fifth."""

    median_s: float
    p90_s: float
    p99_s: float
    longest_s: float


class IoPhase(Model):
    """A time in which a job moved data on one file system without a long pause."""

    start_s: float
    end_s: float
    bytes_read: int
    bytes_written: int
    calls: int
    """That moved or flushed data."""
    seconds: float
    """Time in these calls, summed over threads and processes."""
    continues: bool = False
    """It goes on from the phase before: phases are told in pieces of a minute at most."""

    @property
    def moved(self) -> int:
        """Bytes in both directions."""
        return self.bytes_read + self.bytes_written


class MetadataPhase(Model):
    """A time in which a job opened, closed, made, named, removed or looked at files without a long pause."""

    start_s: float
    end_s: float
    calls: int
    seconds: float
    """Time in these calls, likewise."""
    latency: Latency
    continues: bool = False


class FileSystemUse(Model):
    """What a job did on one file system."""

    file_system: str
    """Its identity: a name of the settings; type and source of one that nodes share (``lustre:mgs@tcp:/fs``); host and
    device or mount point of one of a single node (``n7:/dev/sda1``); ``unknown`` without knowledge of mounts."""
    place: Place
    type: str = ""
    """As mount(8) calls it; "" where that is not known."""
    source: str = ""
    mount_points: list[str] = Field(default_factory=list)
    """Where files of the job saw it; at most eight."""
    hosts: list[str] = Field(default_factory=list)
    """From which hosts the job used it; at most the first 64."""
    nodes: int = Field(0, ge=0)
    """How many hosts these are."""
    bytes_read: int
    bytes_written: int
    calls: int
    seconds: float
    metadata_calls: int
    metadata_seconds: float
    phases: list[IoPhase]
    """The latest ones, in the order of their starts."""
    metadata_phases: list[MetadataPhase] = Field(default_factory=list)
    """Those of metadata calls, likewise: who asks for the state of files all the time still has phases of data."""


class JobFileSystems(Model):
    """What a job did on each file system that it used, the one with the most bytes first."""

    version: int = MODELS_VERSION
    job: str
    gap_s: float
    """Pauses up to this length are part of a phase."""
    own_clock: bool = False
    """The trace's zero is unknown, so that its times cannot be compared with those of other jobs."""
    file_systems: list[FileSystemUse]
