"""A job as the aggregator sees it: state, sums, losses, bandwidth."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ..base import MODELS_VERSION, Model
from ..prediction import Prediction

JobState = Literal["running", "idle", "ended"]


class AnalysisFailure(Model):
    """An analysis of a job that broke; the job's other analyses, and other jobs, are as they would be without."""

    analysis: str
    """signal, prediction, totals, graph, layers, interactions or groups; or job, for what is common to them."""
    at_s: float
    """When it first did."""
    reason: str
    """Of the first time."""
    times: int = Field(1, ge=1)
    stopped: bool = False
    """It broke over events, and takes in no more; what it would tell is told no more."""


class FileTotal(Model):
    """Traffic of one file, of which something counts."""

    path: str
    calls: int
    bytes_read: int
    bytes_written: int
    seconds: float


class CallTotal(Model):
    """Traffic through one function: all its calls, and the bytes that count."""

    call: str
    layer: str
    calls: int
    failed: int
    bytes: int
    seconds: float


class BatchFacts(Model):
    """A job as its batch system knows it; "", 0 and null where nobody has said so."""

    name: str = ""
    account: str = ""
    partition: str = ""
    """Or queue."""
    cluster: str = ""
    nodes: str = ""
    """As the batch system writes them: ``node[1-4]``; ``JobSummary.hosts`` has those that I/O was seen on."""
    node_count: int = 0
    started_at_s: float | None = None
    limit_s: float | None = None
    """For how long it may run."""


class JobSummary(Model):
    """A job as the aggregator sees it."""

    version: int = MODELS_VERSION
    job: str
    state: JobState
    user: str = ""
    command: str = ""
    ends_at_s: float | None = None
    """When it is killed at the latest, as far as that is known."""
    batch: BatchFacts | None = None
    """What the batch system says of it."""
    hosts: list[str]
    nodes_unseen: list[str] = []
    """Of the nodes that the batch system names those without a collector, the first 64; how many is in ``losses``."""
    clocks_off_s: dict[str, float] = {}
    """Hosts whose clock was ahead of the aggregator's by so much, or behind; their calls were moved by as much."""
    streams: int
    """Streams open now."""
    ranks: int
    first_event_at_s: float | None
    last_event_at_s: float | None
    events: int
    bytes_read: int
    bytes_written: int
    bandwidth: float
    """Bytes/s, mean over the last ten seconds."""
    events_dropped: int
    """Events of this job that were lost on the way and counted."""
    bytes_dropped: int = 0
    """Bytes that these events moved, at least."""
    losses: dict[str, int] = {}
    """All that was lost of it, by reason."""
    complete: bool = True
    """Nothing of it was lost, as far as can be known."""
    predictions: int
    failures: list[AnalysisFailure] = []
    """Analyses that broke over this job."""
    last_word: Prediction | None = None
    """The prediction from the whole run; in the message that a job has ended, and in the details of an ended one."""


class NotCounted(Model):
    """Bytes that are in no signal, sum or table of bytes: what is counted is the program's data."""

    system_read: int = 0
    """From what comes with the machine and its software: shared libraries, imported modules, /usr, /etc, /proc ..."""
    system_written: int = 0
    channel_read: int = 0
    """From pipes, sockets, terminals and other devices."""
    channel_written: int = 0
    mapped_for_writing: int = 0
    """Length of mappings through which stores reach a file. Stores are no calls: how much was stored is not known."""
    flushed_at_most: int = 0
    """Length of such mappings that ``msync`` was to write back."""


class JobDetail(JobSummary):
    """A job with its largest files and calls."""

    files: list[FileTotal]
    calls: list[CallTotal]
    not_counted: NotCounted = NotCounted()


class JobList(Model):
    """All jobs that the aggregator holds."""

    version: int = MODELS_VERSION
    jobs: list[JobSummary]


class SignalSeries(Model):
    """A job's bandwidth over time, in bins of equal length."""

    version: int = MODELS_VERSION
    job: str
    start_s: float
    bin_s: float = Field(gt=0)
    read: list[float]
    """Mean bandwidth of each bin, bytes/s."""
    written: list[float]
