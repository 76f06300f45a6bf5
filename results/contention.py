"""Public results on contention between jobs on file systems, measured and forecast."""

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
    """Bandwidth capacity of a file system."""

    known: CapacityKnown
    """configured: from the settings; learnt: joint rate of jobs while they slowed one another down; at_least: the
    highest rate seen so far, as no job was slowed down yet."""
    bytes_per_s: Estimate | None = None


class FileSystemState(Model):
    """A file system that jobs use."""

    file_system: str
    place: Place
    type: str = ""
    capacity: Capacity
    jobs: list[str]
    """Jobs that used it in the last hour, most bytes first; at most 64."""
    bandwidth: float
    """Mean rate of these jobs over the last minute, bytes/s."""
    busy: float = Field(ge=0, le=1)
    """Share of the last minute in which any job did I/O on it."""


class Culprit(Model):
    """A job that used a file system while another job was slowed down on it."""

    job: str
    user: str = ""
    done: int
    """Bytes or metadata calls, by the measure, during phases of the slowed job."""
    share: float = Field(ge=0, le=1)
    """Share of what all other jobs did in these phases."""
    overlap_s: float
    """Time in which both jobs did I/O, s."""
    slowdown: Estimate
    """Slowdown of the phases that it overlapped, relative to phases without overlap."""
    p_value: float = Field(ge=0, le=1)
    """Probability of such a slowdown by chance, corrected for all tested pairs."""
    files: list[str] = Field(default_factory=list)
    """Files through which both interact (one writes, the other reads or writes); at most ten."""
    interactions: int = Field(0, ge=0)
    """Number of interactions through these files."""
    rank: float = Field(0.0, ge=0)
    """PageRank of the culprit among interacting jobs; 0 if it interacts with none."""


class Slowdown(Model):
    """Slowdown of one job by other jobs on one file system."""

    job: str
    file_system: str
    measure: Measure
    """data: time in calls per byte; metadata: time per metadata call."""
    verdict: Verdict
    slowdown: Estimate | None
    """Measure of overlapped phases relative to that of phases without overlap, with 90 % interval."""
    p_value: float = Field(1.0, ge=0, le=1)
    alone_phases: int
    shared_phases: int
    last_shared_s: float = 0.0
    """End of the last shared phase, Unix time."""
    blocks: int
    """Runs of shared phases between phases alone; the test counts each as one independent sample."""
    completeness: float = Field(ge=0, le=1)
    """The least completeness of the jobs involved."""
    culprits: list[Culprit] = Field(default_factory=list)
    no_culprit: str = ""
    """Why no culprit is named although the job is slowed down."""


class FileUser(Model):
    """A job that uses a file which other jobs use too."""

    job: str
    interactions: int = Field(ge=0)
    """Interactions with other jobs through the file. It writes what another has read or written, or reads what another
    has written."""


class ContendedFile(Model):
    """A file shared by jobs with simultaneous I/O on its file system."""

    path: str
    file_system: str
    jobs: list[FileUser]
    """At most 16, most interactions first."""
    together_s: float = Field(ge=0)
    """Time in the last hour in which at least two of them did I/O there, s."""
    slowed: list[str] = Field(default_factory=list)
    """Those that another of these jobs slows down with certainty."""


class Delayed(Model):
    """A job in a collision."""

    job: str
    who: Who | None = None
    """Members of the job that have this phase's period; None: all."""
    phase: int = Field(ge=0)
    """Number of phases ahead: 1 is the next phase, 0 the current one."""
    probability: float = Field(1.0, ge=0, le=1)
    """Probability that the job takes part in the collision, if it happens."""
    start_s: Estimate
    """Start of this phase."""
    volume_bytes: float
    delay_s: Estimate | None
    """Expected lengthening of the phase if it collides, s; None where the capacity is unknown."""


class Collision(Model):
    """Phases of several jobs that together exceed the capacity of a file system."""

    file_system: str
    start_s: Estimate
    """Start of the overlap, if it happens."""
    probability: float = Field(ge=0, le=1)
    """Probability that jobs of the collision overlap within a quarter of the shorter period of ``start_s``."""
    demand: float
    """Expected total demand of the jobs that take part, bytes/s."""
    excess: float
    """Demand over capacity; 1 if the capacity is not known."""
    jobs: list[Delayed]


class ExpectedPhase(Model):
    """Next I/O phase of a job on a file system, given the I/O of all other jobs there."""

    job: str
    who: Who | None = None
    """Members of the job that have this period; None: all."""
    file_system: str
    start_s: Estimate
    """Start of the phase, with 90 % interval."""
    duration_s: Estimate | None
    """Time from its start to its end, with the expected delay by other jobs; None beyond the horizon."""
    volume_bytes: float
    period_s: float
    """Mean time between starts of phases."""
    confidence: float = Field(ge=0, le=1)
    """Probability that the phase follows the job's pattern."""
    known_until_s: float = 0.0
    """End of the job's last call that has arrived. The phase is the first one that begins later."""


class Abstention(Model):
    """A job for which no claim is made."""

    job: str
    what: Literal["slowdown", "forecast", "both"]
    reason: str
    completeness: float = Field(ge=0, le=1)


class Contention(Model):
    """Contention between jobs, measured and forecast."""

    version: int = MODELS_VERSION
    made_at_s: float
    horizon_s: float
    """Length of the forecast, s. It also ends after the number of phases per job that is set."""
    completeness: float = Field(ge=0, le=1)
    """The least completeness of the examined jobs."""
    jobs: int
    jobs_left_out: int = 0
    """Jobs beyond the bound of the settings."""
    file_systems: list[FileSystemState]
    slowdowns: list[Slowdown]
    collisions: list[Collision]
    """Ordered by start."""
    next_phases: list[ExpectedPhase] = Field(default_factory=list)
    """Next phase of each job, ordered by start."""
    ongoing: list[Collision] = Field(default_factory=list)
    """Jobs that did I/O together in the last seconds and exceeded the capacity, as measured. `delay_s` is the time
    that each lost."""
    files: list[ContendedFile] = Field(default_factory=list)
    """Files that jobs share; at most 50. Files of slowed jobs come first, then those with the longest common use."""
    abstained: list[Abstention]
    alerts: list[Alert] = Field(default_factory=list)
    """The raised alerts."""


class FileSystemList(Model):
    """All file systems that running jobs use."""

    version: int = MODELS_VERSION
    made_at_s: float
    file_systems: list[FileSystemState]
