"""Public results: the state of an aggregator for its operator."""

from __future__ import annotations

from pydantic import Field

from .base import MODELS_VERSION, Model


class Trouble(Model):
    """A condition that an operator has to end."""

    part: str
    """Part of the aggregator: journal, snapshots, archives, alerts, predictions or listeners."""
    problem: str
    since_s: float | None = None
    """Start of the condition, Unix time; None where it is not known."""
    remedy: str


class Disk(Model):
    """A folder and the free space of its file system."""

    folder: str
    free_bytes: int | None
    """Bytes that the aggregator's user can still write. None if the file system does not answer."""


class JournalStatus(Model):
    """State of the journal and the snapshots."""

    on: bool
    """False: only an orderly end keeps the jobs."""
    servers: list[str]
    """NATS servers that store the journal; empty: files in the state folder."""
    bytes: int
    quota_bytes: int
    waiting_bytes: int
    """Bytes waiting to be written to the journal."""
    failing: bool
    """True while the journal cannot be written, or NATS servers store nothing, and nothing is acknowledged."""
    deferred_answers: int
    """Messages whose acknowledgement waits for a snapshot."""
    unwritten: dict[str, int]
    """Messages received but not journalled, by reason."""
    failures: int
    damaged_records: int
    snapshots: int
    snapshots_failed: int


class ArchivesStatus(Model):
    """State of the archives of jobs."""

    disk: Disk
    quota_bytes: int
    written_bytes: int
    waiting: int
    """Archives that cannot be written and wait in memory."""
    failed: int
    removed: int
    """Finished archives removed for age or quota."""
    not_archived: dict[str, int]
    """Events left out, by reason."""


class ReachedBound(Model):
    """A bound that was reached since the aggregator started."""

    option: str
    """Option to raise."""
    value: float
    count: int
    """What the bound cost; the metric has the unit."""
    beyond: str
    """Effect on what is beyond the bound."""
    metric: str


class AggregatorStatus(Model):
    """State of an aggregator: health, storage, losses and reached bounds."""

    version: int = MODELS_VERSION
    iotide: str
    """Version of iotide."""
    host: str
    pid: int
    made_at_s: float
    uptime_s: float
    ready: bool
    not_ready: str = ""
    """Reason why no predictions are made."""
    healthy: bool
    """True without troubles."""
    troubles: list[Trouble]
    behind_s: float
    """Delay of the most overdue job, s."""
    loop_held_s: float
    """Longest time for which the event loop was held lately, s."""
    memory_bytes: int
    jobs: dict[str, int]
    """Number of jobs by state."""
    streams: int
    streams_silent: int
    collectors: int
    collectors_lost: int
    events: int
    """Events received since the start."""
    refused_messages: int
    """Messages refused as malformed."""
    state: Disk | None
    """State folder; None: nothing is kept over a restart."""
    journal: JournalStatus | None
    """None without a state folder."""
    archives: ArchivesStatus | None
    """None where archives are off."""
    losses: dict[str, int]
    """Lost events and other losses since the start, by reason."""
    bounds: list[ReachedBound]


class ClusterStatus(Model):
    """State of the partitions of a cluster."""

    version: int = MODELS_VERSION
    partitions: dict[int, AggregatorStatus]
    missing: dict[int, str] = Field(default_factory=dict)
    """Reason for each partition that did not answer."""
