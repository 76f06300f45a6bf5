"""Prediction of a job's period and of its next I/O phase."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from .base import MODELS_VERSION, Estimate, Model

ModeName = Literal["read", "write", "both"]
CountName = Literal["data", "files", "everything"]

COMPLETE_FROM = 0.99
"""Least share of a window's calls, and of their bytes, that must arrive for a period to be reported.

When collector stalls cost 10 % of the calls, a third of non-periodic (even) writers are reported as periodic. A loss of
3 % changes nothing that ``benchmarks/accuracy/loss.py`` can measure. A third of that is the limit, as some losses are
counted late."""
MIN_STAMPS_PER_PERIOD = 10
"""Shortest period that is reported, in resolutions of the time stamps.

Whole-second stamps move all calls to full seconds. The signal then has a period of 1 s whatever the program does, and
shorter periods are aliased (Nyquist). A period that is aliased to 10 s or more is within a tenth of a full number of
seconds. Integration over one second leaves at most a tenth of its amplitude (sinc).
"""
PERIODIC_FROM = 0.5
"""Confidence above which a job is reported as periodic."""


class Window(Model):
    """The interval of the signal that an analysis used."""

    start_s: float
    end_s: float
    samples: int = Field(ge=0)
    adapted: bool = False
    """True once the window was cut to three periods after three hits in a row ([FTIO])."""


class Frequency(Model):
    """One component of the spectrum.

    Its confidence measures its distance to the other components, except for the reported period.
    """

    frequency_hz: float
    period_s: float
    amplitude: float
    """Single-sided amplitude, bytes/s."""
    phase_rad: float
    z_score: float
    confidence: float = Field(ge=0, le=1)


class Scores(Model):
    """Periodicity scores of the signal; formulas of [FTIO], Section 3.3."""

    sigma_vol: float
    sigma_time: float
    time_ratio: float
    """R_IO: share of the time spent on substantial I/O."""
    bandwidth: float
    """B_IO: bytes/s during substantial I/O."""
    bytes_per_phase: float
    """Mean volume of a period with substantial I/O, bytes."""
    periodicity: float = Field(ge=0, le=1)
    burst_width_s: float = 0.0
    """Mean length of a phase of substantial I/O, with the resolution of a sampling interval."""
    duty_cycle: float = Field(0.0, ge=0, le=1)
    """Burst width over the period."""


class FollowingPhase(Model):
    """A phase after the next one."""

    confidence: float = Field(ge=0, le=1)
    """Probability that it starts within a fifth of a period of ``start_s.value``."""
    start_s: Estimate


class NextPhase(Model):
    """The next expected I/O phase."""

    confidence: float = Field(0.0, ge=0, le=1)
    """Probability that it starts within a fifth of a period of ``start_s.value``; pacing uses it."""
    start_s: Estimate
    duration_s: Estimate
    volume_bytes: Estimate
    following: list[FollowingPhase] = []
    """Later phases in order of time: at most five, and at most half the number of observed intervals."""


class Drift(Model):
    """Change of the period from phase to phase."""

    period_s: Estimate
    """The next interval; ``Prediction.period_s`` is the mean of the observed ones."""
    per_phase: float
    """Growth of each interval over the previous one, as a share of the mean. Negative if intervals shrink."""


class WorkShifts(Model):
    """Equal numbers of phases with rests between them, of a program that works in shifts."""

    phases: int = Field(ge=1)
    """Phases of a shift."""
    rest_s: Estimate
    """A rest: the time from the end of the last phase of a shift to the start of the next shift."""
    seen: int = Field(ge=0)
    """Number of complete observed shifts with this number of phases."""
    probability: float = Field(ge=0, le=1)
    """Probability that shifts have this number of phases, and rests do not come at random. Above one half."""
    resting: bool = False
    """Whether the job rests now, more likely than not."""
    next_start_s: Estimate | None = None
    """Expected start of the next shift; None if unknown."""
    left: int | None = None
    """Number of phases until the next rest, from the next phase on; None if unknown."""


class Interruptions(Model):
    """Phases that are missing between the observed ones, and pauses of the program."""

    phases: int = Field(ge=2)
    """Number of observed phases."""
    missing: int = Field(0, ge=0)
    """Number of phases missing between them."""
    pauses: int = Field(0, ge=0)
    """Number of further long times without I/O between them."""
    longest_pause_s: float = Field(0.0, ge=0)
    """The longest one: the time from the end of a phase to the start of the next one."""


PatternOf = Literal["intervals", "pauses", "durations", "volumes"]


class Pattern(Model):
    """Values of phases that repeat, e.g. each fourth phase is larger."""

    of: PatternOf
    """intervals: between starts of phases, s; pauses: from the end of a phase to the next start, s; durations: of
    phases, s; volumes: of phases, bytes."""
    values: list[float] = Field(min_length=2)
    """Mean at each place of the pattern, in order of time, the next one first."""


WhoKind = Literal["ranks", "hosts", "files", "commands", "processes"]


class Who(Model):
    """Members of a job that have a period; at most 16 names of each kind."""

    kind: WhoKind
    """Attribute that distinguishes them from the other members."""
    members: list[str]
    """Their names of this kind: ``0-3`` for ranks, commands, file paths, process ids. ``*`` replaces numbers."""
    share: float = Field(ge=0, le=1)
    """Share of the job's counted bytes."""
    ranks: list[str] = []
    """Ranges of ranks, where known. In a job of many ranks, groups are identified by ranges only."""
    hosts: list[str] = []
    commands: list[str] = []
    files: list[str] = []


Relation = Literal["earlier", "within", "around", "beside"]


class OtherPeriod(Model):
    """A period in addition to the job's main one."""

    relation: Relation
    """earlier: the main period replaced it; within: bursts inside or between the main phases; around: every n-th main
    phase is larger; beside: other members of the job have it at the same time."""
    period_s: Estimate
    confidence: float = Field(ge=0, le=1)
    start_s: float
    end_s: float
    """It was observed between these times."""
    phases: int = Field(ge=2)
    """Number of its observed phases."""
    who: Who | None = None
    """Members that have it; only for the relation ``beside``."""
    next_phase: NextPhase | None = None
    """Its next phase; only for the relation ``beside``."""
    bytes_per_phase: float | None = None
    """Bytes of one of its phases; only for the relation ``beside``."""


class FileSystem(Model):
    """A file system that a job reads or writes."""

    mount_point: str
    type: str
    """Type as in mount(8): lustre, nfs4, ext4 ..."""
    shared: bool | None = None
    """True: shared with other nodes; None: unknown."""


class LastCheckpoint(Model):
    """The last checkpoint of a job that probably completes before the job is killed."""

    ahead: int = Field(ge=0)
    """Number of checkpoint starts from now; 0: the current one."""
    start_s: Estimate
    end_s: Estimate
    fits: float = Field(ge=0, le=1)
    """Probability that it completes in time."""


class TimeLimit(Model):
    """Saved work of a job when its time limit ends. Periodic writes are taken for checkpoints."""

    ends_at_s: float
    left_s: float
    """Time from the prediction to the limit, s."""
    unknown: str = ""
    """Why there is no forecast, or why the last checkpoint is not known."""
    saved_at_s: float | None = None
    """Start of the latest complete checkpoint; None: there was none."""
    last_checkpoint: LastCheckpoint | None = None
    lost_s: Estimate | None = None
    """Work that is lost: time from the start of the last complete checkpoint to the limit, s."""
    cut_off: float = Field(0.0, ge=0, le=1)
    """Probability that a checkpoint is in progress at the limit."""
    begin_by_s: float | None = None
    """Latest start of an explicitly requested checkpoint that completes with 95 % probability. None once it has
    passed."""


class Prediction(Model):
    """A job's I/O periodicity as known at one moment."""

    version: int = MODELS_VERSION
    job: str
    made_at_s: float
    mode: ModeName
    method: str
    window: Window
    sampling_frequency_hz: float
    period_s: Estimate | None
    """Mean distance between starts of phases; None if no period was found."""
    confidence: float = Field(ge=0, le=1)
    """Probability that the mean distance of the phases is within 5 % of the period, and not by chance.
    ``next_phase.confidence`` is the separate probability that the next phase comes on time."""
    dominant: list[Frequency]
    """Candidates for the dominant frequency, strongest first."""
    harmonics_dropped: int = 0
    scores: Scores | None = None
    next_phase: NextPhase | None = None
    drift: Drift | None = None
    """Set where the latest intervals grow or shrink steadily."""
    shifts: WorkShifts | None = None
    """Set where the program rests after each few phases. ``period_s`` is then that within shifts."""
    interruptions: Interruptions | None = None
    """Set if phases are missing, or if the program paused, apart from rests between shifts."""
    patterns: list[Pattern] = []
    """Repeated patterns of intervals (or pauses), durations and volumes, at most one of each."""
    who: Who | None = None
    """Members that have the period, unless all have it. Other members have other periods or none."""
    others: list[OtherPeriod] = []
    """Further periods, searched for at times in a running job, and at its end. Without a main period, earlier periods
    that were sure."""
    abstraction_error: float = 0.0
    """|V(sampled) - V(trace)| / V(trace)."""
    completeness: float = Field(1.0, ge=0, le=1)
    """Share of the window's calls, or of their bytes if that is less, that was not lost. Below 0.99 no period is
    reported."""

    stamp_s: float = Field(0.0, ge=0)
    """Resolution of the stamps, where it is so coarse that no period below ten times it is claimed; else 0."""

    nodes: int = Field(0, ge=0)
    """Number of nodes of the job."""
    hosts: list[str] = []
    """Their names; at most the first 64."""
    file_systems: list[FileSystem] = []
    """File systems of the files in the signal; at most 16."""
    time_limit: TimeLimit | None = None
    """Set for a running job with a known time limit."""
    name: str = ""
    """Job name given by the user, as the batch system reports it."""
    ranks_unseen: int = 0
    """Ranks of the job without any data: their I/O is in no volume and no phase."""
    nodes_unseen: int = 0
    """Nodes of the job without a collector: their I/O is in no volume and no phase."""

    def without_next(self) -> Prediction:
        """Return a copy without upcoming phases."""
        others = [each.model_copy(update={"next_phase": None}) for each in self.others]
        nothing: dict[str, object] = {"next_phase": None, "time_limit": None}
        if self.shifts is not None:
            nothing["shifts"] = self.shifts.model_copy(update={"resting": False, "next_start_s": None, "left": None})
        return self if self._ends else self.model_copy(update=nothing | {"others": others})

    def with_stamp_resolution(self, stamp_s: float) -> Prediction:
        """Return a copy without periods that timestamps of this resolution, s, cannot show."""
        if not stamp_s:
            return self
        told: dict[str, object] = {"stamp_s": stamp_s, "others": [row for row in self.others if _shown(row, stamp_s)]}
        if self.period_s is not None and not _shown(self, stamp_s):
            told |= self.no_period()
        return self.model_copy(update=told)

    @staticmethod
    def no_period() -> dict[str, object]:
        """Return the values of all fields that are set only with a period, other periods excepted."""
        nothing: dict[str, object] = dict.fromkeys(
            ("period_s", "next_phase", "scores", "who", "drift", "shifts", "interruptions", "time_limit")
        )
        return nothing | {"confidence": 0.0, "dominant": [], "patterns": []}

    @property
    def _ends(self) -> bool:
        next_shift_s = None if self.shifts is None else self.shifts.next_start_s
        coming = (self.next_phase, self.time_limit, next_shift_s, *(each.next_phase for each in self.others))
        return all(each is None for each in coming)

    @property
    def incomplete(self) -> bool:
        """Whether too much of the window was lost to report a period."""
        return self.completeness < COMPLETE_FROM

    @property
    def periodic(self) -> bool:
        """Whether the job is reported as periodic. With less confidence the period is a guess or a mean interval."""
        return self.period_s is not None and self.confidence > PERIODIC_FROM


def _shown(found: Prediction | OtherPeriod, stamp_s: float) -> bool:
    return found.period_s is not None and found.period_s.value >= MIN_STAMPS_PER_PERIOD * stamp_s


class PredictionList(Model):
    """The stored predictions of a job, oldest first."""

    version: int = MODELS_VERSION
    job: str
    predictions: list[Prediction]
