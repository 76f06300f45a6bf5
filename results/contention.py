"""Public results of how jobs get into one another's way on file systems, now and as far as it can be foreseen."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from .alerts import Alert
from .base import MODELS_VERSION, Estimate, Model
from .jobs.file_systems import Place
from .prediction import Who

CapacityKnown = Literal["configured", "learnt", "at_least", "unknown"]
Measure = Literal["data", "metadata"]
Verdict = Literal["slowed", "not_slowed", "unsure"]


class Capacity(Model):
    """What a file system can move."""

    known: CapacityKnown
    """configured: in the settings; learnt: what jobs moved together while they slowed one another down; at_least: what
    was moved at most, as nobody was slowed down yet."""
    bytes_per_s: Estimate | None = None


class FileSystemState(Model):
    """A file system that jobs use."""

    file_system: str
    place: Place
    type: str = ""
    capacity: Capacity
    jobs: list[str]
    """Those that used it in the last hour, the one with the most bytes first; at most sixty-four."""
    bandwidth: float
    """Bytes/s that these moved, mean over the last minute."""
    busy: float = Field(ge=0, le=1)
    """Share of the last minute in which a job did I/O on it."""


class Culprit(Model):
    """A job that took part of a file system while another one was slowed down."""

    job: str
    user: str = ""
    done: int
    """Bytes, or metadata calls, by the measure, during phases of the one slowed down."""
    share: float = Field(ge=0, le=1)
    """Of what all others did then."""
    overlap_s: float
    """Time in which both did I/O."""
    slowdown: Estimate
    """Of the phases that it overlapped against those that nobody did."""
    p_value: float = Field(ge=0, le=1)
    """Probability of so much without it, over all pairs that were tested."""
    files: list[str] = Field(default_factory=list)
    """Through which both interact (one writes, the other reads or writes), at most ten."""
    interactions: int = Field(0, ge=0)
    """Through these files."""
    rank: float = Field(0.0, ge=0)
    """PageRank of the culprit among the jobs that interact with one another; 0 where it does with none."""


class Slowdown(Model):
    """What other jobs cost one job on one file system."""

    job: str
    file_system: str
    measure: Measure
    """data: time in calls a byte; metadata: time of a metadata call."""
    verdict: Verdict
    slowdown: Estimate | None
    """Measure of the phases that others overlapped over that of those that nobody did; with 90 % interval."""
    p_value: float = Field(1.0, ge=0, le=1)
    alone_phases: int
    shared_phases: int
    last_shared_s: float = 0.0
    """End of the last shared phase, Unix time."""
    blocks: int
    """Runs of shared phases between ones alone: what the test counts as independent."""
    completeness: float = Field(ge=0, le=1)
    """The least of the jobs that it rests on."""
    culprits: list[Culprit] = Field(default_factory=list)
    no_culprit: str = ""
    """Why nobody is named although the job is slowed down."""


class FileUser(Model):
    """A job that uses a file which others use, too."""

    job: str
    interactions: int = Field(ge=0)
    """With others through the file: it writes what another has read or written, or reads what another has written."""


class ContendedFile(Model):
    """A file through which jobs interact that did I/O at the same time on its file system."""

    path: str
    file_system: str
    jobs: list[FileUser]
    """At most sixteen, the one with the most interactions first."""
    together_s: float = Field(ge=0)
    """Time in the last hour in which two of them or more did I/O there."""
    slowed: list[str] = Field(default_factory=list)
    """Those among them that another one of them slows down for sure."""


class Delayed(Model):
    """A job in a collision."""

    job: str
    who: Who | None = None
    """Who of the job has the period that the phase is of; None: everybody."""
    phase: int = Field(ge=0)
    """How many phases ahead: 1 is the next one, 0 the one that goes on."""
    start_s: Estimate
    """Of this phase."""
    volume_bytes: float
    delay_s: Estimate | None
    """By which its phase gets longer if it collides; None where the capacity is not known."""


class Collision(Model):
    """Phases of several jobs that want more than a file system can move."""

    file_system: str
    start_s: Estimate
    """When the overlap begins, if it does."""
    probability: float = Field(ge=0, le=1)
    demand: float
    """Bytes/s that the jobs would take together."""
    excess: float
    """Demand over capacity."""
    jobs: list[Delayed]


class Abstention(Model):
    """A job of which nothing is claimed."""

    job: str
    what: Literal["slowdown", "forecast", "both"]
    reason: str
    completeness: float = Field(ge=0, le=1)


class Contention(Model):
    """How jobs get into one another's way."""

    version: int = MODELS_VERSION
    made_at_s: float
    horizon_s: float
    """The forecast reaches so far, or as many phases of each job as the settings say."""
    completeness: float = Field(ge=0, le=1)
    """The least of the jobs that were looked at."""
    jobs: int
    jobs_left_out: int = 0
    """Beyond the bound of the settings."""
    file_systems: list[FileSystemState]
    slowdowns: list[Slowdown]
    collisions: list[Collision]
    """In the order of their starts."""
    ongoing: list[Collision] = Field(default_factory=list)
    """Jobs that did I/O at once in the last seconds and wanted more than there is, as measured; `delay_s` is what each
    lost in this time."""
    files: list[ContendedFile] = Field(default_factory=list)
    """Those that jobs share, at most fifty; first those of jobs that are slowed down, then the longest together."""
    abstained: list[Abstention]
    alerts: list[Alert] = Field(default_factory=list)
    """Those that are raised."""


class FileSystemList(Model):
    """All file systems that running jobs use."""

    version: int = MODELS_VERSION
    made_at_s: float
    file_systems: list[FileSystemState]
