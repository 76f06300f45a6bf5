"""A job as seen by the aggregator: state, totals, losses, bandwidth."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ..base import MODELS_VERSION, Model
from ..prediction import Prediction

JobState = Literal["running", "idle", "ended"]


class AnalysisFailure(Model):
    """A failed analysis of a job. It does not affect the job's other analyses or other jobs."""

    analysis: str
    """signal, prediction, totals, graph, layers, interactions or groups; job, for what is common to them."""
    at_s: float
    """Time of the first failure."""
    reason: str
    """Reason of the first failure."""
    times: int = Field(1, ge=1)
    stopped: bool = False
    """True if it failed on events: the analysis takes no further events and reports no results."""


class FileTotal(Model):
    """Traffic of one file; only files with counted calls."""

    path: str
    calls: int
    bytes_read: int
    bytes_written: int
    seconds: float


class CallTotal(Model):
    """Traffic of one function: all its calls, and the counted bytes."""

    call: str
    layer: str
    calls: int
    failed: int
    bytes: int
    seconds: float


class BatchFacts(Model):
    """Batch system data of a job; "", 0 and null where unknown."""

    name: str = ""
    account: str = ""
    partition: str = ""
    """Partition or queue."""
    cluster: str = ""
    nodes: str = ""
    """Node list as the batch system writes it: ``node[1-4]``. ``JobSummary.hosts`` lists hosts with observed I/O."""
    node_count: int = 0
    started_at_s: float | None = None
    limit_s: float | None = None
    """Time limit, s."""
    array_task: str = ""
    """Id of a task of a job array: ``4711_3``."""

    @property
    def title(self) -> str:
        """Name beside the job id, with the id within an array."""
        return " ".join(text for text in (self.array_task, self.name) if text)


class JobSummary(Model):
    """A job as seen by the aggregator."""

    version: int = MODELS_VERSION
    job: str
    state: JobState
    user: str = ""
    command: str = ""
    ends_at_s: float | None = None
    """Latest time at which the job is killed, where known."""
    batch: BatchFacts | None = None
    """Data from the batch system."""
    hosts: list[str]
    nodes_unseen: list[str] = []
    """Nodes named by the batch system that have no collector, the first 64. ``losses`` has their number."""
    clocks_off_s: dict[str, float] = {}
    """Clock offset to the aggregator by host, s, positive if ahead. Calls were corrected by it."""
    streams: int
    """Number of open streams."""
    ranks: int
    first_event_at_s: float | None
    last_event_at_s: float | None
    events: int
    bytes_read: int
    bytes_written: int
    bandwidth: float
    """Bytes/s, mean over the last ten seconds."""
    events_dropped: int
    """Events of this job that were lost in transit and counted."""
    bytes_dropped: int = 0
    """Least number of bytes that these events moved."""
    losses: dict[str, int] = {}
    """All losses of this job, by reason."""
    complete: bool = True
    """True if no loss is known."""
    predictions: int
    failures: list[AnalysisFailure] = []
    """Analyses that failed on this job."""
    last_word: Prediction | None = None
    """Prediction from the whole run. In the job-end message and in the details of an ended job."""

    @property
    def title(self) -> str:
        """Job id, with its name where the batch system has one."""
        name = "" if self.batch is None else self.batch.title
        return f"{self.job} ({name})" if name else self.job


class NotCounted(Model):
    """Bytes that no signal, total or table counts: only the program's data is counted."""

    system_read: int = 0
    """From files of the machine and its software: shared libraries, imported modules, /usr, /etc, /proc ..."""
    system_written: int = 0
    channel_read: int = 0
    """From pipes, sockets, terminals and other devices."""
    channel_written: int = 0
    mapped_for_writing: int = 0
    """Length of writable shared file mappings. Stores are not calls: the number of stored bytes is unknown."""
    flushed_at_most: int = 0
    """Length of such mappings that ``msync`` was asked to write back."""
    mapped_for_reading: int = 0
    """Length of readable file mappings. Loads are not calls: the number of loaded bytes is unknown."""
    files_mapped_for_reading: int = 0
    """Number of files with such mappings."""

    @property
    def any_mapped(self) -> bool:
        """Whether the program mapped files, whose loads and stores are not seen."""
        return self.mapped_for_writing > 0 or self.mapped_for_reading > 0


class JobDetail(JobSummary):
    """A job with its largest files and calls."""

    files: list[FileTotal]
    calls: list[CallTotal]
    not_counted: NotCounted = NotCounted()


class JobList(Model):
    """All jobs that the aggregator stores."""

    version: int = MODELS_VERSION
    jobs: list[JobSummary]


class SignalSeries(Model):
    """Bandwidth of a job over time, in bins of equal length."""

    version: int = MODELS_VERSION
    job: str
    start_s: float
    bin_s: float = Field(gt=0)
    read: list[float]
    """Mean bandwidth of each bin, bytes/s."""
    written: list[float]
