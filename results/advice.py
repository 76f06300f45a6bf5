"""Public results of advice. They are the cost of a run's I/O, and the changes that save most.

Times are Unix seconds (or those of the trace's own clock), durations seconds, volumes bytes, shares fractions of one.
The cost of something is the time of the lane that spends the most on it. A lane is a row of threads that follow one
another: each begins after the previous one has ended. Ranks that wait at the same time therefore cost once.
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
"""Cause of a finding; docs/advice.md has a table of them."""


class Spent(Model):
    """Time of the slowest lane by kind of call, s."""

    read_s: float = 0.0
    write_s: float = 0.0
    sync_s: float = 0.0
    metadata_s: float = 0.0
    """In calls that move no data. It includes the following."""
    opening_s: float = 0.0
    """In calls that open and close files."""
    lookup_s: float = 0.0
    """In calls that look up names and attributes or list folders: stat, access, opendir, readdir."""
    names_s: float = 0.0
    """In calls that make folders and links, or rename and remove names."""

    @property
    def io_s(self) -> float:
        """Sum of all kinds."""
        return self.read_s + self.write_s + self.sync_s + self.metadata_s

    @property
    def other_s(self) -> float:
        """Time in calls that seek, lock or control files, and in others that move no data."""
        return max(self.metadata_s - self.opening_s - self.lookup_s - self.names_s, 0.0)


class Destination(Model):
    """Traffic of one file system, or of one folder where mounts are not known."""

    place: str
    """Mount point or folder."""
    type: str
    """File system type as in mountinfo; "" where it is not known."""
    bytes_read: int
    """Read from it: below a library that converts, compresses or caches, the bytes of its requests."""
    bytes_written: int
    seconds: float
    """Time in calls that moved or flushed data, of the slowest lane, s."""
    rate: float | None
    """Bytes/s over all lanes in that time; None where no time is known."""


class AdviceFinding(Model):
    """A cost that can be reduced, and how."""

    cause: Cause
    title: str
    """The observation in one sentence: calls, bytes, files."""
    why: str
    """Why it costs time."""
    change: str
    """The recommended change."""
    short: str = ""
    """The change in a few words, where it differs from the usual one of the cause."""
    seconds: float
    """Cost, s, of the slowest lane: the time in the calls, or the expected
    saving if that is more. 0 for a risk to data that costs no time."""
    share: float
    """The cost as a share of the run."""
    gain_s: float
    """Expected saving of the change, s: between the two below."""
    gain_least_s: float = 0.0
    """Saving if all time between the calls is the program's own work."""
    gain_most_s: float = 0.0
    """Saving if all short gaps between the calls go with them: time of an interpreter, or of a library."""
    gain_share: float
    gain_at_most: bool = False
    """Whether the saving is an upper bound. The calls are made by a thread other than the main one of its process,
    and other threads may compute meanwhile."""
    layer: str = ""
    """Layer of the calls."""
    calls: int = 0
    bytes: int = 0
    files: int = 0
    examples: list[str] = Field(default_factory=list)
    """Paths of the files concerned, most time first; at most three."""
    processes: int = 0
    """Threads that make these calls."""
    slowest: str = ""
    """Rank or process whose time is given."""
    first_s: float = 0.0
    """Start of the first of these calls."""
    last_s: float = 0.0
    numbers: dict[str, float] = Field(default_factory=dict)
    """Further figures by name, in base units."""


class Advice(Model):
    """I/O cost of a job and what to change; findings with the largest saving first."""

    version: int = ADVICE_VERSION
    job: str = ""
    events: int
    first_s: float
    last_s: float
    run_s: float
    """Reference of the shares: run time of the command where known, else first to last event."""
    lanes: int
    """Lanes that spend time on the program's data, at least 1 % of the slowest lane's time."""
    slowest: str
    """Rank or process that spends the most time in I/O on the program's data."""
    spent: Spent
    """Time of that lane in calls on the program's data."""
    io_s: float
    """Sum of ``spent``, s."""
    io_share: float
    system_s: float
    """Time of that lane in I/O on the machine's own files: imports, libraries."""
    waiting_s: float
    """Time of that lane in calls on pipes, sockets and devices. Reads there mostly wait for another process."""
    bytes_read: int
    bytes_written: int
    manner: str = ""
    """The mean manner of moving the bytes: "through 4 KiB writes"."""
    destinations: list[Destination]
    """File systems or folders of the data, most bytes first; at most eight."""
    findings: list[AdviceFinding]
    floor_share: float
    """Least share of the run that a finding must save to be listed."""
    floor_s: float = 0.0
    """Least saving of a finding to be listed, s: that share of the run, or 20 ms in a short run."""
    losses: dict[str, int] = Field(default_factory=dict)
    """Missing input, by reason."""

    @property
    def overlaps(self) -> bool:
        """Whether calls of one lane overlap, since their ranks or threads are unknown: they take more than the run."""
        return self.io_s > 1.001 * self.run_s > 0
