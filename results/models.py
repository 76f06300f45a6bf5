"""The public results, the same on every channel: ZeroMQ PUB, HTTP/JSON and ``--json``.

Times are Unix seconds, periods and durations seconds, frequencies hertz, volumes bytes. A trace whose clock has
no known zero keeps its own.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

ModeName = Literal["read", "write", "both"]
CountName = Literal["data", "files", "everything"]
JobState = Literal["running", "idle", "ended"]

MODELS_VERSION = 1
COMPLETE_FROM = 0.99
"""Share of the calls of a window, and of their bytes, that has to arrive before a period is claimed from it.

Stalls of a collector that cost 10 % of the calls have a third of even writers called periodic; 3 % change nothing that
``benchmarks/loss.py`` can measure, and a third of that is left for losses that are counted late.
"""
PERIODIC_FROM = 0.5
"""Confidence above which a job is called periodic."""


class Model(BaseModel):
    """Base of the public results: immutable, and closed to fields that it does not name."""

    model_config = ConfigDict(frozen=True, extra="forbid", ser_json_inf_nan="null", defer_build=True)


class Estimate(Model):
    """A number and the interval that holds it in 90 % of cases, as far as past phases tell."""

    value: float
    low: float
    high: float


class Window(Model):
    """The stretch of signal that an analysis used."""

    start_s: float
    end_s: float
    samples: int = Field(ge=0)
    adapted: bool = False
    """True once the window was cut to three periods after three hits in a row ([FTIO])."""


class Frequency(Model):
    """One component of the spectrum; its confidence is how far it stands out from the others, but for the answer's."""

    frequency_hz: float
    period_s: float
    amplitude: float
    """Single-sided amplitude, bytes/s."""
    phase_rad: float
    z_score: float
    confidence: float = Field(ge=0, le=1)


class Scores(Model):
    """How periodic the signal is; formulas of [FTIO], Section 3.3."""

    sigma_vol: float
    sigma_time: float
    time_ratio: float
    """R_IO: share of the time spent on substantial I/O."""
    bandwidth: float
    """B_IO: bytes/s during substantial I/O."""
    bytes_per_phase: float
    periodicity: float = Field(ge=0, le=1)
    burst_width_s: float = 0.0
    """Mean length of a phase of substantial I/O, to a sampling interval."""
    duty_cycle: float = Field(0.0, ge=0, le=1)
    """Burst width over the period."""


class FollowingPhase(Model):
    """A phase after the one that is expected next."""

    confidence: float = Field(ge=0, le=1)
    """Probability that it starts within a fifth of a period of ``start_s.value``."""
    start_s: Estimate


class NextPhase(Model):
    """The I/O phase that is expected next."""

    confidence: float = Field(0.0, ge=0, le=1)
    """Probability that it starts within a fifth of a period of ``start_s.value``; a pacer needs it."""
    start_s: Estimate
    duration_s: Estimate
    volume_bytes: Estimate
    following: list[FollowingPhase] = []
    """Those after it, in order of time: at most five, and no more than half as many as intervals were seen."""


class Drift(Model):
    """How the period changes from phase to phase."""

    period_s: Estimate
    """The next interval; the mean of those seen is ``Prediction.period_s``."""
    per_phase: float
    """By which share of the mean each interval is longer than the one before; below 0 where they get shorter."""


WhoKind = Literal["ranks", "hosts", "files", "commands", "processes"]


class Who(Model):
    """Those of a job who have a period; at most sixteen names of each kind."""

    kind: WhoKind
    """What tells them from the others."""
    members: list[str]
    """Their names of this kind: ``0-3`` of ranks, commands, paths of files, process ids; ``*`` stands for numbers."""
    share: float = Field(ge=0, le=1)
    """Of the job's bytes that count."""
    ranks: list[str] = []
    """Ranges of ranks, as far as ranks are known; in a job of many ranks these are told apart by ranges."""
    hosts: list[str] = []
    commands: list[str] = []
    files: list[str] = []


Relation = Literal["earlier", "within", "around", "beside"]


class OtherPeriod(Model):
    """A period beside the job's main one."""

    relation: Relation
    """earlier: the main one followed on it; within: bursts inside or between the main phases; around: each so many
    main phases one is larger; beside: others of the job have it at the same time."""
    period_s: Estimate
    confidence: float = Field(ge=0, le=1)
    start_s: float
    end_s: float
    """Between these it was seen."""
    phases: int = Field(ge=2)
    """How many phases of it were seen."""
    who: Who | None = None
    """Who has it; of the relation ``beside``."""
    next_phase: NextPhase | None = None
    """Its next phase, likewise."""
    bytes_per_phase: float | None = None
    """Bytes of one of its phases, likewise."""


class FileSystem(Model):
    """A file system that a job reads or writes."""

    mount_point: str
    type: str
    """As mount(8) calls it: lustre, nfs4, ext4 ..."""
    shared: bool | None = None
    """True: other nodes have it too; None: not known."""


class LastCheckpoint(Model):
    """The last checkpoint of a job that is whole before the job is killed, more likely than not."""

    ahead: int = Field(ge=0)
    """How many starts of checkpoints from now it is; 0: the one that goes on."""
    start_s: Estimate
    end_s: Estimate
    fits: float = Field(ge=0, le=1)
    """Probability that it is whole in time."""


class TimeLimit(Model):
    """What a job has saved when it is killed at a known moment; its periodic writes are taken for checkpoints."""

    ends_at_s: float
    left_s: float
    """From the prediction until then."""
    unknown: str = ""
    """Why nothing, or not which checkpoint is the last, can be told."""
    saved_at_s: float | None = None
    """When the latest whole checkpoint began; None: there was none."""
    last_checkpoint: LastCheckpoint | None = None
    lost_s: Estimate | None = None
    """Time from the start of the last whole checkpoint to the end: the work that is lost."""
    cut_off: float = Field(0.0, ge=0, le=1)
    """Probability that a checkpoint is under way at the end."""
    begin_by_s: float | None = None
    """When a checkpoint on request has to begin, to be whole in 95 of 100 cases; None once that is past."""


class Prediction(Model):
    """What iotide knows of one job's I/O periodicity at one moment."""

    version: int = MODELS_VERSION
    job: str
    made_at_s: float
    mode: ModeName
    method: str
    window: Window
    sampling_frequency_hz: float
    period_s: Estimate | None
    """Mean distance between starts of phases; None when no period was found."""
    confidence: float = Field(ge=0, le=1)
    """Probability that the mean distance of the phases is within 5 % of the period, and no accident; whether the next
    phase comes on time is another matter, and ``next_phase.confidence`` says it."""
    dominant: list[Frequency]
    """Candidates for the dominant frequency, strongest first."""
    harmonics_dropped: int = 0
    scores: Scores | None = None
    next_phase: NextPhase | None = None
    drift: Drift | None = None
    """Where the latest intervals grow or shrink steadily."""
    who: Who | None = None
    """Who has the period, where it is not everybody: then others have periods of their own, or none."""
    others: list[OtherPeriod] = []
    """Further periods; a running job is searched for them now and then, and at its end. Without a period, the
    earlier
    ones that the job was sure to have."""
    abstraction_error: float = 0.0
    """|V(sampled) - V(trace)| / V(trace)."""
    completeness: float = Field(1.0, ge=0, le=1)
    """Share of the window's calls, or of their bytes where that is less, that was not lost on the way; below 0.99 no
    period is claimed."""

    nodes: int = Field(0, ge=0)
    """How many nodes the job is on."""
    hosts: list[str] = []
    """Their names; at most the first 64 of them."""
    file_systems: list[FileSystem] = []
    """Where the files lie that the signal has bytes of; at most sixteen."""
    time_limit: TimeLimit | None = None
    """Of a running job whose end is known."""
    name: str = ""
    """That its user gave the job, as the batch system says it."""
    ranks_unseen: int = 0
    """Ranks of the job that nothing was heard of: what they do is in no volume here, and in no phase."""

    def without_next(self) -> Prediction:
        """Returns the same without phases to come."""
        others = [each.model_copy(update={"next_phase": None}) for each in self.others]
        nothing: dict[str, object] = {"next_phase": None, "time_limit": None}
        return self if self._ends else self.model_copy(update=nothing | {"others": others})

    @property
    def _ends(self) -> bool:
        coming = (self.next_phase, self.time_limit, *(each.next_phase for each in self.others))
        return all(each is None for each in coming)

    @property
    def incomplete(self) -> bool:
        """Whether so much of the window was lost that no period is claimed from it."""
        return self.completeness < COMPLETE_FROM

    @property
    def periodic(self) -> bool:
        """Whether the job is called periodic; below that confidence the period is a guess or a mean interval."""
        return self.period_s is not None and self.confidence > PERIODIC_FROM


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


class PredictionList(Model):
    """The latest predictions of a job that are kept, oldest first."""

    version: int = MODELS_VERSION
    job: str
    predictions: list[Prediction]


class SignalSeries(Model):
    """A job's bandwidth over time, in bins of equal length."""

    version: int = MODELS_VERSION
    job: str
    start_s: float
    bin_s: float = Field(gt=0)
    read: list[float]
    """Mean bandwidth of each bin, bytes/s."""
    written: list[float]


class UnseenProgram(Model):
    """A program of which no calls are recorded, or not those of one kind, though a traced process started it."""

    program: str
    """Its path; the whole command where it was traced at first; empty: one of many."""
    reason: str
    """Follows the program's name: ``is statically linked``."""
    times: int
    """How often it was started."""


class RunSummary(Model):
    """What ``iotide run`` saw of one command."""

    version: int = MODELS_VERSION
    command: list[str]
    started_at_s: float
    ended_at_s: float
    exit_status: int
    """As a shell reports it: 128 + N for death by signal N."""
    job: JobDetail
    prediction: Prediction | None
    """The last one."""
    predictions: int
    report: str | None
    """Path of the HTML report."""
    archive: str | None = None
    """Path of the archive of all calls."""
    unseen: list[UnseenProgram] = []
    """What is missing in all this."""
