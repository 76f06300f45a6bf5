"""What ``iotide detect`` says of finished traces: its report, and the results of the analyses that one may ask for.

Units and clocks are those of ``results/base.py``.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ..base import MODELS_VERSION, Model
from ..jobs.job import NotCounted
from ..prediction import Prediction
from .replay_evaluation import Replay

GroupKind = Literal["rank", "host", "file", "job"]


class Stretch(Model):
    """An interval of time."""

    start_s: float
    end_s: float


class Validity(Model):
    """When the period that was found was really there, by a continuous wavelet transform at that period."""

    period_s: float
    stretches: list[Stretch]
    """In order of time, without overlap; empty when the period is significant nowhere."""
    share: float = Field(ge=0, le=1)
    """Their length over the length of the window."""


class WaveletView(Model):
    """Power of the signal over time and period, by a continuous wavelet transform (Morlet), for pictures.

    The matrix is bounded (at most 128 periods by 512 times); each value is the mean over its column of time.
    """

    times_s: list[float]
    """Middle of each column, ascending, equally spaced."""
    periods_s: list[float]
    """Ascending, equally spaced on a logarithmic scale."""
    power: list[list[float]]
    """power[i][j] at periods_s[i] and times_s[j], over the signal's variance; rectified, so that equally high waves
    have equal power at any period."""
    cone_s: list[float]
    """Longest period at each time that the edges of the window leave alone (the cone of influence)."""


class Wave(Model):
    """One cosine: amplitude * cos(2 pi frequency (t - window start) + phase)."""

    frequency_hz: float
    period_s: float
    amplitude: float
    """Bytes/s."""
    phase_rad: float
    share: float = Field(ge=0, le=1)
    """Of the signal's variance."""


class Reconstruction(Model):
    """The signal as its mean and its strongest waves ([FTIO], Eq. 4)."""

    start_s: float
    """Time at which the phases are those of the waves: the window's start."""
    mean: float
    """Bytes/s."""
    waves: list[Wave]
    """Strongest first."""
    relative_residual: float = Field(ge=0)
    """Standard deviation of signal minus reconstruction over that of the signal: 0 is perfect, 1 says nothing."""


class AutocorrelationAnswer(Model):
    """The period by the signal's likeness to itself at later times."""

    period_s: float | None
    """None when fewer than two peaks stand out."""
    confidence: float = Field(ge=0, le=1)
    """1 - standard deviation over mean of the intervals between peaks; except with the method ``reference``, times the
    height of the peaks."""
    peaks_s: list[float]
    """Lags of the peaks."""
    intervals_s: list[float]
    """Between peaks, outliers left out."""
    outliers_s: list[float]
    """Intervals that were left out."""
    merged: bool = False
    """True where the report's prediction is the DFT's answer merged with this one."""


class Group(Model):
    """The answer for one rank, node, file or job."""

    name: str
    requests: int
    """Reads and writes that count towards the signal."""
    bytes_read: int
    bytes_written: int
    prediction: Prediction | None
    """None where the group is too small."""
    note: str = ""
    """Why there is no prediction."""


class Grouping(Model):
    """One answer for each of the largest groups, by bytes."""

    by: GroupKind
    groups: list[Group]
    left_out: int = 0
    """Smaller groups that are not listed."""
    bytes_left_out: int = 0


class Analysis(Model):
    """The analyses that were asked for beyond the period."""

    validity: Validity | None = None
    wavelet: WaveletView | None = None
    autocorrelation: AutocorrelationAnswer | None = None
    reconstruction: Reconstruction | None = None
    modes: list[Prediction] | None = None
    """Reads, writes and both, in this order, with ``--mode all``."""
    grouping: Grouping | None = None
    replay: Replay | None = None


class InputProblem(Model):
    """One malformed piece of input that was skipped."""

    where: str
    line: int | None
    problem: str
    expected: str


class NotCarried(Model):
    """A kind of thing that a trace says and events have no place for."""

    what: str
    """A plural in words."""
    count: int


class DetectionReport(Model):
    """The answer of ``iotide detect`` for one set of files."""

    version: int = MODELS_VERSION
    files: list[str]
    source: str
    events: int
    bytes_read: int
    bytes_written: int
    not_counted: NotCounted = NotCounted()
    start_s: float = 0.0
    """Start of the trace's first event, the zero of ``--from`` and ``--to``."""
    end_s: float = 0.0
    """End of its last one."""
    wall_clock: bool = True
    """False where the zero of the trace's clock is not known; times then count from it."""
    prediction: Prediction
    analysis: Analysis = Analysis.model_construct()
    problems: list[InputProblem]
    problems_total: int
    not_carried: list[NotCarried] = Field(default_factory=list)
    """What the traces say and the answer cannot know of; most frequent first."""
