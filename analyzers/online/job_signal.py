"""Signal of one job at several resolutions. It provides windows and the period of a window."""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace

from ...events import EventBatch, Kind
from ...results.jobs.job import SignalSeries
from ...results.prediction import PERIODIC_FROM
from ..periodicity.aliasing import is_stream
from ..periodicity.estimator import KnownPhases, PeriodEstimate, SignalWindow
from ..periodicity.estimators.named_estimators import ESTIMATORS
from ..periodicity.phases.dominant_burst import without_bursts
from ..periodicity.tuning import TUNING
from ..periodicity.upcoming.shifts import with_earlier
from ..settings import DetectSettings
from ..signal.bandwidth import BandwidthSignal, Resolutions
from ..signal.selection import FEW, LeftOut, Times, counted_columns, counted_of_few
from ..totals import SATURATION, saturating_sum


class ReadWriteSignals:
    """Signals of one job's reads and writes, in rings of bounded length. No data is read or summed twice.

    Attributes:
        reads: signal of reads, bytes.
        writes: signal of writes, bytes.
        resolutions: bin lengths of the signals.
        from_ns: start of the first event of any kind; None before it.
        bytes_read, bytes_written: bytes of the events that count, at most 2**62.
    """

    def __init__(self, settings: DetectSettings) -> None:
        self.resolutions = Resolutions.of(settings)
        self.reads = self.resolutions.signal()
        self.writes = self.resolutions.signal()
        self.from_ns: int | None = None
        self.bytes_read = 0
        self.bytes_written = 0

    def add(self, batch: EventBatch, left_out: LeftOut, now_ns: int | None) -> tuple[int, int] | None:
        """Add events; return start and end of those that count, or None if none counts."""
        if len(batch) <= FEW:
            return self._add_few(batch, left_out, now_ns)
        first = int(batch.start.min())
        if self.from_ns is None or first < self.from_ns:
            self.from_ns = first
        start, end, volume, is_read = counted_columns(batch, left_out, "both")
        if not len(start):
            return None
        if is_read.all():
            self._add_reads(start, end, volume, now_ns)
        elif not is_read.any():
            self._add_writes(start, end, volume, now_ns)
        else:
            reads, writes = np.flatnonzero(is_read), np.flatnonzero(~is_read)
            self._add_reads(start.take(reads), end.take(reads), volume.take(reads), now_ns)
            self._add_writes(start.take(writes), end.take(writes), volume.take(writes), now_ns)
        return int(start.min()), int(end.max())

    def _add_few(self, batch: EventBatch, left_out: LeftOut, now_ns: int | None) -> tuple[int, int] | None:
        starts, kinds, volumes = batch.start.tolist(), batch.kind.tolist(), batch.bytes.tolist()
        first = min(starts)
        if self.from_ns is None or first < self.from_ns:
            self.from_ns = first
        rows = counted_of_few(batch, left_out)
        if not rows:
            return None
        ends = [start + duration for start, duration in zip(starts, batch.duration.tolist(), strict=True)]
        for kind, signal in ((Kind.READ, self.reads), (Kind.WRITE, self.writes)):
            if some := [row for row in rows if kinds[row] == kind]:
                volume = [volumes[row] for row in some]
                if kind is Kind.READ:
                    self.bytes_read = min(self.bytes_read + sum(volume), SATURATION)
                else:
                    self.bytes_written = min(self.bytes_written + sum(volume), SATURATION)
                signal.add_few([starts[row] for row in some], [ends[row] for row in some], volume, now_ns)
        return min(starts[row] for row in rows), max(ends[row] for row in rows)

    def _add_reads(self, start: Times, end: Times, volume: Times, now_ns: int | None) -> None:
        self.bytes_read = saturating_sum(self.bytes_read, volume)
        self.reads.add(start, end, volume, now_ns)

    def _add_writes(self, start: Times, end: Times, volume: Times, now_ns: int | None) -> None:
        self.bytes_written = saturating_sum(self.bytes_written, volume)
        self.writes.add(start, end, volume, now_ns)


class JobSignal:
    """Signal of a job in the directions given by the settings: windows, and their periods.

    Args:
        settings: method, limits and mode.
        seen: signals of the job.
    """

    phases: KnownPhases | None = None
    """Phases of the period found last; a default for snapshots of earlier versions."""
    _data_until_ns: int = 0

    def __init__(self, settings: DetectSettings, seen: ReadWriteSignals) -> None:
        self.seen = seen
        self.resolutions = seen.resolutions
        self._settings = settings

    @property
    def last_ns(self) -> int:
        """End of the newest bin of the analyzed signal, ns; 0 if empty."""
        return max((last for signal in self._signals() if (last := signal.last_ns) is not None), default=0)

    def first_ns(self, end_ns: int) -> int:
        """Return the start of the observation, at most ``end_ns``."""
        return end_ns if self.seen.from_ns is None else min(self.seen.from_ns, end_ns)

    def note_phases(self, found: KnownPhases | None, now_ns: int, data_until_ns: int) -> None:
        """Remember the phases of a prediction. They remain complete as long as no more data come.

        Args:
            found: phases; None if there is no period.
            now_ns: time of the prediction.
            data_until_ns: end of the newest bytes.
        """
        if found is not None:
            self.phases = found if self.phases is None else with_earlier(found, self.phases)
        elif self.phases is not None and data_until_ns == self._data_until_ns:
            self.phases = replace(self.phases, until_s=now_ns / 1e9)
        self._data_until_ns = data_until_ns

    def series(self, job: str, from_ns: int, to_ns: int) -> SignalSeries:
        """Return reads and writes over time, in the finest bins that cover the range."""
        from_ns = min(from_ns, to_ns)
        level = self.resolutions.of_span(max(to_ns, self.last_ns) - from_ns)
        bin_ns = self.resolutions.length_ns(level)
        low, high = self._bins(level, from_ns, to_ns)
        rate = 1e9 / bin_ns
        return SignalSeries(
            job=job,
            start_s=low * bin_ns / 1e9,
            bin_s=bin_ns / 1e9,
            read=(self.seen.reads.bins(level, low, high) * rate).tolist(),
            written=(self.seen.writes.bins(level, low, high) * rate).tolist(),
        )

    def estimate(
        self,
        level: int,
        now_ns: int,
        from_ns: int,
        window_ns: int | None = None,
        expected_s: float = 0.0,
        thorough: bool = True,
        followed: int = 0,
        ended: bool = False,
    ) -> tuple[SignalWindow, PeriodEstimate]:
        """Return the window of a level and its period. Single bursts that hide a period are removed.

        Args:
            level: level of resolution.
            now_ns: current time.
            from_ns: start of the signal before the window.
            window_ns: start of the window.
            expected_s: period found last, s; 0 if there is none.
            thorough: whether to try other hypotheses.
            followed: number of programs with the last period, if only this period is measured while it holds.
            ended: whether the job has ended, so that a burst at the end may be removed, too.
        """
        window = self.window(level, now_ns, from_ns, from_ns if window_ns is None else window_ns, expected_s)
        window = replace(window, thorough=thorough, followed=followed, ended=ended, earlier=self.phases)
        estimate = self._estimate_in(level, window)
        if estimate.confidence >= PERIODIC_FROM or self._settings.method != "tide":
            return window, estimate
        for shorter in without_bursts(window):
            if not ended and shorter.end_s < window.end_s:
                break
            found = self._estimate_in(level, shorter)
            if found.confidence > max(estimate.confidence, PERIODIC_FROM):
                return shorter, found
        return window, estimate

    def _estimate_in(self, level: int, window: SignalWindow) -> PeriodEstimate:
        estimate = ESTIMATORS[self._settings.method](window, self._settings)
        if (
            estimate.period_s is not None
            and window.thorough
            and self._is_stream(level, window, estimate.period_s.value)
        ):
            return PeriodEstimate()
        return estimate

    def _is_stream(self, level: int, window: SignalWindow, period_s: float) -> bool:
        """Return whether the period is due to bins with alternately one request more or less."""
        if self._settings.method != "tide":
            return False
        finer = max(level - 1, 0)
        bin_ns = self.resolutions.length_ns(finer)
        low, high = self._bins(
            finer,
            round((window.end_s - TUNING.secondary_periods.min_stream_periods * period_s) * 1e9),
            round(window.end_s * 1e9),
        )
        bandwidth = sum((signal.bins(finer, low, high) for signal in self._signals()), np.zeros(high - low))
        return len(bandwidth) > 0 and is_stream(bandwidth, period_s * 1e9 / bin_ns, finest=finer == level)

    def window(self, level: int, now_ns: int, from_ns: int, window_ns: int, expected_s: float) -> SignalWindow:
        """Return a range of the signal at one resolution."""
        bin_ns = self.resolutions.length_ns(level)
        end_ns = max(now_ns // bin_ns, (self.last_ns - 1) // bin_ns) * bin_ns
        low, high = self._bins(level, min(from_ns, end_ns), end_ns)
        bandwidth = np.zeros(high - low)
        for signal in self._signals():
            bandwidth += signal.bins(level, low, high)
        bandwidth *= 1e9 / bin_ns
        return SignalWindow(
            bandwidth,
            bin_s=bin_ns / 1e9,
            start_s=low * bin_ns / 1e9,
            now_s=max(now_ns, end_ns) / 1e9,
            begin=min(max(window_ns // bin_ns - low, 0), high - low),
            expected_s=expected_s,
            cut=self.seen.from_ns is not None and low * bin_ns > self.seen.from_ns,
        )

    def _bins(self, level: int, from_ns: int, to_ns: int) -> tuple[int, int]:
        """Return the first stored bin that overlaps [from, to). It also returns the bin after the last."""
        bin_ns, most = self.resolutions.length_ns(level), self.resolutions.bins
        low, high = from_ns // bin_ns, -(-to_ns // bin_ns)
        reach = (self.last_ns - 1) // bin_ns - most + 1 if self.last_ns else 0
        return min(max(low, reach, high - most), high), high

    def _signals(self) -> list[BandwidthSignal]:
        reads, writes = self.seen.reads, self.seen.writes
        chosen = {"read": [reads], "write": [writes], "both": [reads, writes]}
        return chosen[self._settings.mode]
