"""Public results of advice: how much of a run goes to I/O, and what to change first.

Times are Unix seconds (or those of the trace's own clock), durations seconds, volumes bytes, shares parts of one. What
something costs is the time of the lane that spends the most on it: a lane is a row of threads of which one begins when
another has ended, so that ranks that wait at the same time cost once.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from .base import Model

ADVICE_VERSION = 1

Cause = Literal[
    "small_requests",
    "small_shared",
    "metadata",
    "reopened",
    "many_files",
    "many_objects",
    "fsync",
    "random",
    "rewritten",
    "read_again",
    "read_back",
    "chunks",
    "imbalance",
    "misaligned",
    "conflict",
    "mount",
    "checkpoints",
    "collisions",
]
"""What costs time: see the table of docs/advice.md."""


class Spent(Model):
    """Where the time of the slowest lane goes, s."""

    read_s: float = 0.0
    write_s: float = 0.0
    sync_s: float = 0.0
    metadata_s: float = 0.0
    """In calls that move nothing: open, close, stat, unlink."""

    @property
    def io_s(self) -> float:
        """All of it."""
        return self.read_s + self.write_s + self.sync_s + self.metadata_s


class Destination(Model):
    """What moved on one file system, or below one folder where mounts are not known."""

    place: str
    """Mount point, or folder."""
    type: str
    """Of the file system, as mountinfo says; "" where it is not known."""
    bytes_read: int
    bytes_written: int
    seconds: float
    """In calls that moved or flushed it, of the slowest lane."""
    rate: float | None
    """Bytes a second, over all lanes, of that time; None where no time is known."""


class AdviceFinding(Model):
    """Something that costs time and can be changed."""

    cause: Cause
    title: str
    """What was seen, in a sentence: calls, bytes, files."""
    why: str
    """Why that costs time."""
    change: str
    """What to change."""
    seconds: float
    """What it costs, of the slowest lane. 0 for what endangers data and costs no time."""
    share: float
    """The same as a part of the run."""
    gain_s: float
    """What the change is expected to save."""
    gain_share: float
    layer: str = ""
    """Of the calls."""
    calls: int = 0
    bytes: int = 0
    files: int = 0
    examples: list[str] = Field(default_factory=list)
    """Paths of files that it is about, those with the most time first; at most three."""
    processes: int = 0
    """Threads that have a part in it."""
    slowest: str = ""
    """Whose time it is: a rank or a process."""
    first_s: float = 0.0
    """When the first of these calls began."""
    last_s: float = 0.0
    numbers: dict[str, float] = Field(default_factory=dict)
    """Further figures by name, in base units."""


class Advice(Model):
    """What a job spends on I/O, and what to change; findings that save the most first."""

    version: int = ADVICE_VERSION
    job: str = ""
    events: int
    first_s: float
    last_s: float
    run_s: float
    """What shares are parts of: how long the command ran where that is known, else from the first event to the last."""
    lanes: int
    """How many lanes spend time on the program's data, at least a hundredth of what the slowest does."""
    slowest: str
    """Who spends the most time in I/O on the program's data: a rank, or a process."""
    spent: Spent
    """Time of that lane in calls on the program's data."""
    io_s: float
    """All of it."""
    io_share: float
    system_s: float
    """What else it spends on what comes with the machine and its software: imports, libraries."""
    waiting_s: float
    """In calls on pipes, sockets and devices, where reading is mostly waiting for somebody else."""
    bytes_read: int
    bytes_written: int
    manner: str = ""
    """How the program moves most of its bytes, in the mean: "through 4 KiB writes"."""
    destinations: list[Destination]
    """Where the data is, those with the most bytes first; at most eight."""
    findings: list[AdviceFinding]
    floor_share: float
    """Part of the run that a finding must at least save."""
    losses: dict[str, int] = Field(default_factory=dict)
    """What is missing in this, by reason."""
