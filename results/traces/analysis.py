"""Results on finished traces: of ``iotide detect`` with its optional analyses, ``iotide replay`` and conversions.

Units and clocks are those of ``results/base.py``.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ..base import MODELS_VERSION, Model
from ..jobs.job import NotCounted
from ..prediction import Prediction
from .replay import Replay

GroupKind = Literal["rank", "host", "file", "job"]


class Stretch(Model):
    """An interval of time."""

    start_s: float
    end_s: float


class Validity(Model):
    """When the reported period was present, by a continuous wavelet transform at that period."""

    period_s: float
    stretches: list[Stretch]
    """In order of time, without overlap; empty if the period is significant nowhere."""
    share: float = Field(ge=0, le=1)
    """Their total length over the length of the window."""


class WaveletView(Model):
    """Power of the signal over time and period, by a continuous wavelet transform (Morlet), for charts.

    The matrix is bounded (at most 128 periods by 512 times); each value is the mean over its column of time.
    """

    times_s: list[float]
    """Middle of each column, ascending, equally spaced."""
    periods_s: list[float]
    """Ascending, equally spaced on a logarithmic scale."""
    power: list[list[float]]
    """power[i][j] at periods_s[i] and times_s[j], over the signal's variance. It is rectified, so that waves of equal
    height have equal power at any period."""
    cone_s: list[float]
    """Longest period at each time that is free of edge effects (cone of influence)."""


class Wave(Model):
    """One cosine: amplitude * cos(2 pi frequency (t - window start) + phase)."""

    frequency_hz: float
    period_s: float
    amplitude: float
    """Bytes/s."""
    phase_rad: float
    share: float = Field(ge=0, le=1)
    """Share of the signal's variance."""


class Reconstruction(Model):
    """The signal as its mean and its strongest waves ([FTIO], Eq. 4)."""

    start_s: float
    """Reference time of the phases: start of the window."""
    mean: float
    """Bytes/s."""
    waves: list[Wave]
    """Strongest first."""
    relative_residual: float = Field(ge=0)
    """Standard deviation of signal minus reconstruction over that of the signal: 0 is perfect, 1 explains nothing."""


class AutocorrelationAnswer(Model):
    """The period from the signal's autocorrelation."""

    period_s: float | None
    """None with fewer than two significant peaks."""
    confidence: float = Field(ge=0, le=1)
    """1 - standard deviation over mean of the intervals between peaks. Except with the method ``reference``, times
    the height of the peaks."""
    peaks_s: list[float]
    """Lags of the peaks."""
    intervals_s: list[float]
    """Intervals between peaks, without outliers."""
    outliers_s: list[float]
    """The outliers."""
    merged: bool = False
    """True if the report's prediction merges this result with that of the DFT."""


class Group(Model):
    """The result for one rank, node, file or job."""

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
    """One result for each of the largest groups, by bytes."""

    by: GroupKind
    groups: list[Group]
    left_out: int = 0
    """Smaller groups that are not listed."""
    bytes_left_out: int = 0


class Analysis(Model):
    """The requested analyses in addition to the period."""

    validity: Validity | None = None
    wavelet: WaveletView | None = None
    autocorrelation: AutocorrelationAnswer | None = None
    reconstruction: Reconstruction | None = None
    modes: list[Prediction] | None = None
    """Results for reads, writes and both, in this order, with ``--mode all``."""
    grouping: Grouping | None = None
    replay: Replay | None = None


class InputProblem(Model):
    """One malformed piece of input that was skipped."""

    where: str
    line: int | None
    problem: str
    expected: str


class NotCarried(Model):
    """A kind of information in a trace that events cannot represent."""

    what: str
    """Plural noun."""
    count: int


class DetectionReport(Model):
    """The output of ``iotide detect`` for one set of files."""

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
    """End of the trace's last event."""
    wall_clock: bool = True
    """False where the zero of the trace's clock is unknown. Times then count from this zero."""
    prediction: Prediction
    analysis: Analysis = Analysis.model_construct()
    problems: list[InputProblem]
    problems_total: int
    not_carried: list[NotCarried] = Field(default_factory=list)
    """Contents of the traces that the result cannot represent; most frequent first."""


class ConversionReport(Model):
    """The output of ``iotide archive convert --json``."""

    version: int = MODELS_VERSION
    files: list[str]
    """The files that were read."""
    output: str
    format: str
    """``chrome``, ``parquet``, ``jsonl``, ``otf2`` or ``hdf5``."""
    calls: int
    bytes: int
    not_carried: list[NotCarried]
    """Contents of the files that are not in the output, most frequent first."""
    problems: list[InputProblem]
    """The first hundred damaged or malformed pieces, which were skipped."""
    problems_total: int


class Replayed(Model):
    """Finished traces that were sent to an aggregator as if their programs ran now."""

    version: int = MODELS_VERSION
    files: list[str]
    jobs: list[str]
    """Job ids at the aggregator."""
    streams: int = Field(ge=0)
    calls: int = Field(ge=0)
    """Calls in the traces."""
    sent: int = Field(ge=0)
    """Calls that the aggregator acknowledged; fewer when the replay was interrupted."""
    dropped: dict[str, int]
    """Calls that the aggregator refused, by reason."""
    complete: bool
    """True if all calls were sent and acknowledged."""
    recorded_s: float = Field(ge=0)
    """Time from the start of the first call to the end of the last one, s."""
    took_s: float = Field(ge=0)
    speed: float | None
    """Requested speed; None: as fast as the aggregator accepts."""
    shift_s: float
    """Offset added to the times of the calls, s."""
    problems: list[InputProblem]
    problems_total: int = Field(ge=0)
    not_carried: list[NotCarried]
