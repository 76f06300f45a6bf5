"""What is said of a job's period and of its next I/O phase."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from .base import MODELS_VERSION, Estimate, Model

ModeName = Literal["read", "write", "both"]
CountName = Literal["data", "files", "everything"]

COMPLETE_FROM = 0.99
"""Share of the calls of a window, and of their bytes, that has to arrive before a period is claimed from it.

Stalls of a collector that cost 10 % of the calls have a third of even writers called periodic; 3 % change nothing that
``benchmarks/accuracy/loss.py`` can measure, and a third of that is left for losses that are counted late.
"""
PERIODIC_FROM = 0.5
"""Confidence above which a job is called periodic."""


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
    earlier ones that the job was sure to have."""
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
    nodes_unseen: int = 0
    """Nodes of the job without a collector, likewise."""

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


class PredictionList(Model):
    """The latest predictions of a job that are kept, oldest first."""

    version: int = MODELS_VERSION
    job: str
    predictions: list[Prediction]
