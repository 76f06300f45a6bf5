"""Selection of the window for a running job's period."""

from __future__ import annotations

import math
from collections import deque
from typing import Final

import numpy as np
import numpy.typing as npt

from ..periodicity.estimator import SignalWindow
from ..periodicity.phases.changes import last_change
from ..periodicity.phases.phases import median, merge, runs
from ..periodicity.tuning import TUNING
from ..settings import DetectSettings
from .change_detectors import DETECTORS, ChangeDetector

_LIVE: Final = TUNING.live
Floats = npt.NDArray[np.float64]


class WindowPolicy:
    """Selects the start of the current period's signal.

    ``hits`` uses the last ``window_periods`` periods once ``window_hits`` predictions in a row had one ([FTIO]).
    ``whole`` uses all, ``fixed`` the last ``window_s`` seconds, and ``flushes`` the data of the last ``window_flushes``
    flushes. ``change`` uses all since the last change that the configured detector found in the intervals between
    phases. No window reaches back over a clear change of period: three intervals or more that differ from those before
    by more than a factor of 1.5.
    """

    def __init__(self, settings: DetectSettings) -> None:
        self._settings = settings
        self.changed_ns: int | None = None
        """Start of the current period, ns; None if there was no other one before."""
        self._flushes: deque[tuple[int, int]] = deque(maxlen=settings.window_flushes)
        self._detector: ChangeDetector = DETECTORS[settings.change_detector]()
        self._fed_s = 0.0

    def flush(self, first_ns: int, last_ns: int) -> None:
        """Add a flush with the requests of [first, last]. Overlapping flushes of several streams are merged."""
        if self._flushes and first_ns < self._flushes[-1][1]:
            first, last = self._flushes[-1]
            self._flushes[-1] = (min(first, first_ns), max(last, last_ns))
        else:
            self._flushes.append((first_ns, last_ns))

    @property
    def flushed_ns(self) -> int | None:
        """End of the data of the last flush, ns."""
        return self._flushes[-1][1] if self._flushes else None

    def since(self, first_ns: int) -> int:
        """Return the earliest usable time; ``first_ns`` is the start of the observation."""
        return first_ns if self.changed_ns is None else max(first_ns, self.changed_ns)

    def start(self, first_ns: int, end_ns: int, *, hits: int, period_s: float, rest_s: float = 0.0) -> int:
        """Return the start of the window.

        Args:
            first_ns: start of the observation.
            end_ns: end of the window.
            hits: number of consecutive predictions with a period.
            period_s: period found last, s; 0 if there is none.
            rest_s: length of a rest between phases, s, by which the window is longer.
        """
        first_ns = self.since(first_ns)
        match self._settings.window:
            case "hits" if hits >= self._settings.window_hits and period_s > 0:
                length_ns = round((self._settings.window_periods * period_s + rest_s) * 1e9)
                return max(first_ns, end_ns - length_ns)
            case "fixed":
                return max(first_ns, end_ns - round(self._settings.window_s * 1e9))
            case "flushes" if self._flushes:
                return max(first_ns, self._flushes[0][0])
        return first_ns

    def watch(self, view: SignalWindow, period_s: float) -> bool:
        """Examine the phases of a view. Returns whether a change was found, so that the view reaches back too far."""
        starts = view.start_s + onsets(view.bandwidth, period_s / view.bin_s) * view.bin_s
        intervals = starts[1:] - starts[:-1]
        at = clear_change(intervals)
        if self._settings.window == "change":
            at = max(at, self._detected(starts, view.end_s - _LIVE.window_margin_intervals * period_s))
        if at <= 0:
            return False
        before = min(float(intervals[at - 1 : at + 1].min()) * _LIVE.window_margin_intervals, period_s)
        changed_ns = round((float(starts[at]) - before) * 1e9)
        if self.changed_ns is not None and changed_ns <= self.changed_ns:
            return False
        self.changed_ns = changed_ns
        return True

    def _detected(self, starts: Floats, until_s: float) -> int:
        """Feed the detector.

        Returns the index of the first start of the current behaviour, 0 if there is no change.
        """
        at = 0
        for number in range(1, len(starts)):
            if self._fed_s < starts[number] <= until_s:
                self._fed_s = float(starts[number])
                if self._detector.update(math.log(float(starts[number] - starts[number - 1]))):
                    at = max(number - self._detector.kept, 0)
        return at


def onsets(bandwidth: Floats, period: float) -> Floats:
    """Find starts of phases. The signal rises above its mean after a pause of a quarter of the period.

    Args:
        bandwidth: signal.
        period: approximate period, bins.

    Returns:
        Starts in bins, float64; without small phases, and without a phase that runs from the first bin on.
    """
    first, stop = merge(
        *runs(bandwidth > bandwidth.mean() * (1 + 1e-9)), max(period * TUNING.segmentation.max_gap_periods, 1.0)
    )
    if not len(first):
        return np.zeros(0)
    running = np.concatenate([[0.0], np.cumsum(bandwidth)])
    volume = running[stop] - running[first]
    starts: Floats = first[(volume >= TUNING.segmentation.min_volume_share * volume.mean()) & (first > 0)].astype(
        np.float64
    )
    return starts


def clear_change(intervals: Floats) -> int:
    """Return the index of the first interval of a new period. Returns 0 if there is no certain change.

    Three intervals are needed, with a change by a factor of more than 1.5, because the cut is permanent. Estimators cut
    anew each time, and so detect a change earlier (``phases.changes``).
    """
    at = last_change(intervals) if len(intervals) >= 2 * _LIVE.min_changed_intervals else 0
    if not 0 < at <= len(intervals) - _LIVE.min_changed_intervals:
        return 0
    old, new = (median(part) for part in (intervals[:at], intervals[at:]))
    return at if abs(math.log(new / old)) > math.log(_LIVE.window_change_ratio) else 0


def share_at_period(view: SignalWindow, period_s: float) -> float:
    """Return the share of a view in which phases follow one another at a period."""
    period = period_s / view.bin_s
    intervals = np.diff(onsets(view.bandwidth, period))
    like = np.abs(np.log(np.maximum(intervals, 1e-9) / period)) <= math.log(_LIVE.same_interval_ratio)
    return float(intervals[like].sum()) / max(len(view.bandwidth), 1)
