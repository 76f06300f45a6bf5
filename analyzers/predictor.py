"""One job's rhythm, online and offline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from ..events import EventBatch, Kind
from ..events.errors import ConfigError
from ..events.models import ModeName, Prediction, SignalSeries, Window
from . import reference, tide
from .rhythm import Estimator, Rhythm, View
from .scores import scores_of
from .selection import counted
from .settings import DetectSettings
from .signal import BandwidthSignal, Samples

FileTypes = npt.NDArray[np.uint8]
Times = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

ESTIMATORS: Final[dict[str, Estimator]] = {"tide": tide.estimate, "reference": reference.estimate}
_HISTORY_PERIODS: Final = 12


class Predictor:
    """Follows the I/O of one job: events come in as batches, predictions come out when asked for.

    Memory is bounded by the ring, and so is the work of a prediction. Nothing is read or summed twice. The state is
    plain data and can be pickled.

    After ``window_hits`` predictions in a row with a period, only ``window_periods`` times the last period are looked
    at; a prediction without one brings back the whole observation (seed 001). The whole observation reaches from the
    first event of any kind until now, as far as the ring goes back: a window that ended with the last request would
    hold k phases but only k - 1 periods.

    Attributes:
        reads: the signal of reads, in bytes.
        writes: the signal of writes.
        version: grows whenever bytes were counted.
        changed: whether that happened since the last prediction; an idle job need not be asked again.
    """

    def __init__(self, job: str, settings: DetectSettings | None = None) -> None:
        self.job = job
        self.settings = settings or DetectSettings()
        if self.settings.sampling == "point":
            raise ConfigError("sampling at points needs a finished trace; online, sampling must be 'volume'")
        self.reads = BandwidthSignal(self.settings.bin_ns, self.settings.ring_bins)
        self.writes = BandwidthSignal(self.settings.bin_ns, self.settings.ring_bins)
        self.version = 0
        self.changed = False
        self._observed_from_ns: int | None = None
        self._hits = 0
        self._last_period_s = 0.0

    def update(self, batch: EventBatch, file_types: FileTypes) -> None:
        """Takes in events of one stream, in any order.

        Args:
            batch: the events.
            file_types: FileType of each of the stream's file numbers, uint8; numbers beyond it are of unknown type.
        """
        if not len(batch):
            return
        first = int(batch.start.min())
        if self._observed_from_ns is None or first < self._observed_from_ns:
            self._observed_from_ns = first
        start, end, volume, is_read = _counted_columns(batch, file_types, "both")
        if not len(start):
            return
        if is_read.any():
            self.reads.add(start[is_read], end[is_read], volume[is_read])
        if not is_read.all():
            self.writes.add(start[~is_read], end[~is_read], volume[~is_read])
        self.changed = True
        self.version += 1

    def predict(self, now_ns: int, *, whole: bool = False) -> Prediction:
        """Says what is known of the job's rhythm.

        Args:
            now_ns: the present, on the clock of the events. Data later than now (a node's clock that is ahead) move
                the end of the window with them.
            whole: look at the whole observation, whatever the window, and leave the window's adaptation as it is.
        """
        self.changed = False
        bin_ns = self.settings.bin_ns
        end_ns = max(now_ns // bin_ns * bin_ns, self._last_ns() - bin_ns)
        first_ns = end_ns if self._observed_from_ns is None else min(self._observed_from_ns, end_ns)
        adapted = not whole and self._hits >= self.settings.window_hits
        window_ns, view_ns = first_ns, first_ns
        if adapted:
            periods = self.settings.window_periods
            window_ns = max(first_ns, end_ns - round(periods * self._last_period_s * 1e9))
            view_ns = max(first_ns, end_ns - round(max(periods, _HISTORY_PERIODS) * self._last_period_s * 1e9))
        view = self._view(view_ns, window_ns, end_ns, now_s=max(now_ns, end_ns) / 1e9)
        rhythm = ESTIMATORS[self.settings.method](view, self.settings)
        if not whole:
            self._hits = self._hits + 1 if rhythm.period_s is not None else 0
            self._last_period_s = rhythm.period_s.value if rhythm.period_s is not None else 0.0
        return _prediction(self.job, self.settings, view, rhythm, made_at_s=now_ns / 1e9, adapted=adapted)

    def series(self, from_ns: int, to_ns: int) -> SignalSeries:
        """Returns reads and writes over time, in bins, as far back as the ring of either reaches."""
        read, written = self._aligned([self.reads, self.writes], from_ns, to_ns)
        return SignalSeries(
            job=self.job,
            start_s=read.first_ns / 1e9,
            bin_s=read.bin_ns / 1e9,
            read=read.bandwidth.tolist(),
            written=written.bandwidth.tolist(),
        )

    def _last_ns(self) -> int:
        return max((last for signal in self._signals() if (last := signal.last_ns) is not None), default=0)

    def _signals(self) -> list[BandwidthSignal]:
        chosen = {"read": [self.reads], "write": [self.writes], "both": [self.reads, self.writes]}
        return chosen[self.settings.mode]

    def _aligned(self, signals: list[BandwidthSignal], from_ns: int, to_ns: int) -> list[Samples]:
        """Reads the stretch that all signals still hold."""
        reach = max(signal.last_ns or 0 for signal in signals) - self.settings.bin_ns * self.settings.ring_bins
        from_ns = max(from_ns, reach, to_ns - self.settings.bin_ns * (self.settings.ring_bins - 1))
        parts = [signal.read(min(from_ns, to_ns), to_ns) for signal in signals]
        begin = max(part.first_ns for part in parts)
        return [Samples(begin, part.bin_ns, part.volume[(begin - part.first_ns) // part.bin_ns :]) for part in parts]

    def _view(self, from_ns: int, window_ns: int, to_ns: int, *, now_s: float) -> View:
        parts = self._aligned(self._signals(), from_ns, to_ns)
        first_ns, bin_ns = parts[0].first_ns, parts[0].bin_ns
        bandwidth = parts[0].volume
        for part in parts[1:]:
            bandwidth += part.volume
        bandwidth *= 1e9 / bin_ns
        return View(
            bandwidth,
            bin_s=bin_ns / 1e9,
            start_s=first_ns / 1e9,
            now_s=now_s,
            begin=min(max((window_ns - first_ns) // bin_ns, 0), len(bandwidth)),
            expected_s=self._last_period_s,
            cut=self._observed_from_ns is not None and first_ns > self._observed_from_ns,
        )


def detect(batches: Sequence[tuple[EventBatch, FileTypes]], settings: DetectSettings, job: str) -> Prediction:
    """Finds the rhythm of a finished trace, as ``examine`` does, and returns the prediction alone."""
    return examine(batches, settings, job)[0]


def examine(
    batches: Sequence[tuple[EventBatch, FileTypes]], settings: DetectSettings, job: str
) -> tuple[Prediction, View]:
    """Finds the rhythm of a finished trace: the window is the trace, and the prediction is made at its end.

    The window reaches from the first event of any kind to the end of the last one. The reference's, and any with
    ``sampling="point"``, reaches from the first request of the mode to the end of the last such request.

    Args:
        batches: the events of all streams, each batch with the file types of its stream.
        settings: method and limits.
        job: the job's name in the result.

    Returns:
        The prediction, without a period for an empty trace; and the signal that it was made from.
    """
    columns = [_counted_columns(batch, types, settings.mode) for batch, types in batches if len(batch)]
    start, end, volume = (
        np.concatenate([np.zeros(0, np.int64), *(column[which] for column in columns)]) for which in range(3)
    )
    error = 0.0
    if settings.sampling == "point":
        view, error = _point_view(start, end, volume, settings)
    else:
        signal = BandwidthSignal(settings.bin_ns, settings.trace_bins)
        signal.add(start, end, volume)
        view = _trace_view(signal, [batch for batch, _ in batches if len(batch)], settings)
    rhythm = ESTIMATORS[settings.method](view, settings)
    return _prediction(job, settings, view, rhythm, made_at_s=view.end_s, adapted=False, error=error), view


def _counted_columns(batch: EventBatch, file_types: FileTypes, mode: ModeName) -> tuple[Times, Times, Times, Flags]:
    """Returns start, end, bytes, and whether it is a read, of the events that count."""
    rows = counted(batch, file_types, mode)
    start, end, volume, is_read = batch.start, batch.end, batch.bytes, batch.kind == Kind.READ
    if not rows.all():
        start, end, volume, is_read = start[rows], end[rows], volume[rows], is_read[rows]
    return start.astype(np.int64, copy=False), end, volume.astype(np.int64, copy=False), is_read


def _trace_view(signal: BandwidthSignal, batches: Sequence[EventBatch], settings: DetectSettings) -> View:
    from_ns, to_ns = signal.first_ns or 0, signal.last_ns or 0
    if settings.method != "reference" and len(signal):
        # stamps that are off by more than the ring do not stretch the window
        reach = signal.capacity * signal.bin_ns
        from_ns = min([from_ns, *(early for batch in batches if (early := int(batch.start.min())) > to_ns - reach)])
        to_ns = max([to_ns, *(late for batch in batches if (late := int(batch.end.max())) < from_ns + reach)])
    samples = signal.read(from_ns, to_ns)
    return View(
        samples.bandwidth,
        bin_s=signal.bin_ns / 1e9,
        start_s=samples.first_ns / 1e9,
        now_s=samples.end_ns / 1e9,
        cut=samples.first_ns > from_ns,
    )


def _point_view(start: Times, end: Times, volume: Times, settings: DetectSettings) -> tuple[View, float]:
    """Returns the view and the abstraction error |V(sampled) - V(trace)| / V(trace)."""
    duration_s = (int(end.max()) - int(start.min())) / 1e9 if len(start) else 0.0
    if duration_s * settings.sampling_frequency_hz > settings.trace_bins:
        raise ConfigError(
            f"{duration_s:.6g} s at {settings.sampling_frequency_hz:g} Hz are more than {settings.trace_bins} samples; "
            "lower the sampling frequency, or sample by volume"
        )
    samples = reference.point_samples(start, end, volume, settings.sampling_frequency_hz)
    bin_s = 1 / settings.sampling_frequency_hz
    total = float(volume.sum())
    error = abs(float(samples.sum()) * bin_s - total) / total if total else 0.0
    start_s = int(start.min()) / 1e9 if len(start) else 0.0
    return View(samples, bin_s=bin_s, start_s=start_s, now_s=start_s + len(samples) * bin_s), error


def _prediction(
    job: str,
    settings: DetectSettings,
    view: View,
    rhythm: Rhythm,
    *,
    made_at_s: float,
    adapted: bool,
    error: float = 0.0,
) -> Prediction:
    period = rhythm.period_s
    return Prediction(
        job=job,
        made_at_s=made_at_s,
        mode=settings.mode,
        method=settings.method,
        window=Window(start_s=view.window_start_s, end_s=view.end_s, samples=len(view.window), adapted=adapted),
        sampling_frequency_hz=1 / view.bin_s,
        period_s=period,
        confidence=rhythm.confidence,
        dominant=rhythm.dominant,
        harmonics_dropped=rhythm.harmonics_dropped,
        scores=None if period is None else scores_of(view.window, view.bin_s, period.value),
        next_phase=rhythm.next_phase,
        abstraction_error=error,
    )
