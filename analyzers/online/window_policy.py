"""Which stretch of an online job's signal its period is taken from."""

from __future__ import annotations

import math
from collections import deque
from typing import Final

import numpy as np
import numpy.typing as npt

from ..periodicity.estimator import SignalWindow
from ..periodicity.phases.changes import last_change
from ..periodicity.phases.phases import merge, runs
from ..periodicity.tuning import TUNING
from ..settings import DetectSettings
from .change_detectors import DETECTORS, ChangeDetector

_FOLLOWING: Final = TUNING.following
Floats = npt.NDArray[np.float64]


class WindowPolicy:
    """Says from when on the signal belongs to the present period.

    ``hits`` is the last ``window_periods`` periods once ``window_hits`` predictions in a row had one ([FTIO]),
    ``whole`` all, ``fixed`` the last ``window_s`` seconds, ``flushes`` what the last ``window_flushes`` flushes
    brought, ``change`` all since the last change that the chosen detector found in the intervals between phases.

    Whatever the window, it does not reach back over a clear change of period: three intervals or more that are
    half as long again, or as short, as those before them.
    """

    def __init__(self, settings: DetectSettings) -> None:
        self._settings = settings
        self.changed_ns: int | None = None
        """Since when the present period goes on; None where no other one was before."""
        self._flushes: deque[tuple[int, int]] = deque(maxlen=settings.window_flushes)
        self._detector: ChangeDetector = DETECTORS[settings.change_detector]()
        self._fed_s = 0.0

    def flush(self, first_ns: int, last_ns: int) -> None:
        """Takes in that a flush brought the requests of [first, last]; streams that overlap flush together."""
        if self._flushes and first_ns < self._flushes[-1][1]:
            first, last = self._flushes[-1]
            self._flushes[-1] = (min(first, first_ns), max(last, last_ns))
        else:
            self._flushes.append((first_ns, last_ns))

    @property
    def flushed_ns(self) -> int | None:
        """End of what the last flush brought."""
        return self._flushes[-1][1] if self._flushes else None

    def since(self, first_ns: int) -> int:
        """Returns the start of all that may be looked at; ``first_ns`` is the start of the observation."""
        return first_ns if self.changed_ns is None else max(first_ns, self.changed_ns)

    def start(self, first_ns: int, end_ns: int, *, hits: int, period_s: float) -> int:
        """Returns the start of the window.

        Args:
            first_ns: start of the observation.
            end_ns: end of the window.
            hits: predictions in a row that had a period.
            period_s: the period found last, 0 where there is none.
        """
        first_ns = self.since(first_ns)
        match self._settings.window:
            case "hits" if hits >= self._settings.window_hits and period_s > 0:
                length_ns = round(self._settings.window_periods * period_s * 1e9)
                return max(first_ns, end_ns - length_ns)
            case "fixed":
                return max(first_ns, end_ns - round(self._settings.window_s * 1e9))
            case "flushes" if self._flushes:
                return max(first_ns, self._flushes[0][0])
        return first_ns

    def watch(self, view: SignalWindow, period_s: float) -> bool:
        """Looks at the phases of a view; returns whether a change was found, so that the view reaches back too far."""
        starts = view.start_s + onsets(view.bandwidth, period_s / view.bin_s) * view.bin_s
        intervals = starts[1:] - starts[:-1]
        at = clear_change(intervals)
        if self._settings.window == "change":
            at = max(at, self._detected(starts, view.end_s - _FOLLOWING.margin * period_s))
        if at <= 0:
            return False
        before = min(float(intervals[at - 1 : at + 1].min()) * _FOLLOWING.margin, period_s)
        changed_ns = round((float(starts[at]) - before) * 1e9)
        if self.changed_ns is not None and changed_ns <= self.changed_ns:
            return False
        self.changed_ns = changed_ns
        return True

    def _detected(self, starts: Floats, until_s: float) -> int:
        """Feeds the detector; returns the number of the start with which the present behaviour begins, 0 for none."""
        at = 0
        for number in range(1, len(starts)):
            if self._fed_s < starts[number] <= until_s:
                self._fed_s = float(starts[number])
                if self._detector.update(math.log(float(starts[number] - starts[number - 1]))):
                    at = max(number - self._detector.kept, 0)
        return at


def onsets(bandwidth: Floats, period: float) -> Floats:
    """Finds where phases start: where the signal rises above its mean after a pause of a quarter of the period.

    Args:
        bandwidth: the signal.
        period: in bins, roughly.

    Returns:
        Starts in bins, float64; without those of small phases, and of one that runs from the first bin on.
    """
    first, stop = merge(*runs(bandwidth > bandwidth.mean() * (1 + 1e-9)), max(period * TUNING.cutting.gap, 1.0))
    if not len(first):
        return np.zeros(0)
    running = np.concatenate([[0.0], np.cumsum(bandwidth)])
    volume = running[stop] - running[first]
    starts: Floats = first[(volume >= TUNING.cutting.small * volume.mean()) & (first > 0)].astype(np.float64)
    return starts


def clear_change(intervals: Floats) -> int:
    """Returns the number of the first interval of a new period; 0 where there is none beyond doubt.

    Three intervals show it, and they are longer or shorter by more than half: this cut is for good. Estimators, which
    cut anew each time, see a change earlier (``phases.changes``).
    """
    at = last_change(intervals) if len(intervals) >= 2 * _FOLLOWING.intervals else 0
    if not 0 < at <= len(intervals) - _FOLLOWING.intervals:
        return 0
    old, new = (float(np.median(part)) for part in (intervals[:at], intervals[at:]))
    return at if abs(math.log(new / old)) > math.log(_FOLLOWING.changed) else 0


def lasting(view: SignalWindow, period_s: float) -> float:
    """Returns the share of a view in which phases follow one another at a period."""
    period = period_s / view.bin_s
    intervals = np.diff(onsets(view.bandwidth, period))
    like = np.abs(np.log(np.maximum(intervals, 1e-9) / period)) <= math.log(_FOLLOWING.like)
    return float(intervals[like].sum()) / max(len(view.bandwidth), 1)
