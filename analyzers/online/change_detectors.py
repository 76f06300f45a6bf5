"""Detectors of a change in a stream of numbers: ADWIN, CUSUM and Page-Hinkley.

The input is the natural logarithm of each interval between I/O phases, so that a change by a factor has the same effect
for a period of a second and of an hour. Thresholds in hertz, as in the reference, never trigger at the frequencies of
HPC I/O.

``update`` returns whether the number just added completes a change. ``kept`` is the number of latest values that belong
to the current behaviour; after a change, only these are kept.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import Final, Protocol

import numpy as np

MIN_DEVIATION: Final = 0.05
"""Minimum standard deviation of log-intervals assumed by CUSUM: 5 % of the period."""
_MAX_DEVIATIONS: Final = 3.0  # clipping of z, in standard deviations


class ChangeDetector(Protocol):
    """Observes a stream of numbers. ``kept`` is the number of latest values that belong to the current behaviour."""

    @property
    def kept(self) -> int:
        """Number of values of the current behaviour."""
        ...

    def update(self, value: float) -> bool:
        """Add a number; return whether a change is now certain."""
        ...


class Adwin:
    """Adaptive windowing: drops old numbers while two parts of the window differ in their means.

    A window of n numbers with variance s^2 is cut into n0 older and n1 newer ones. The older ones are dropped if the
    means differ by more than

        eps = sqrt(2 s^2 ln(2/d) / m) + 2 R ln(2/d) / (3 m),    1/m = 1/n0 + 1/n1,    d = delta / ln n,

    where R is the range of the numbers in the window (1 in the source). All cuts are tried, which is cheap since phases
    are few. The detector is slow but reliable: after 20 old intervals, a change by a factor of two takes fifteen new
    ones.

    Source: A. Bifet and R. Gavalda, Learning from Time-Changing Data with Adaptive Windowing, SDM 2007, Section 3.
    """

    def __init__(self, delta: float = 0.05, capacity: int = 512) -> None:
        self.delta = delta
        self._values: deque[float] = deque(maxlen=capacity)

    @property
    def kept(self) -> int:
        """Length of the window."""
        return len(self._values)

    def update(self, value: float) -> bool:
        """Add a number; return whether older ones were dropped."""
        self._values.append(value)
        changed = False
        while (cut := self._cut()) > 0:
            for _ in range(cut):
                self._values.popleft()
            changed = True
        return changed

    def _cut(self) -> int:
        n = len(self._values)
        if n < 4:
            return 0
        values = np.array(self._values)
        spread = float(values.max() - values.min())
        if spread <= 0:
            return 0
        sums = np.cumsum(values)
        older = np.arange(1, n)
        newer = n - older
        difference = np.abs(sums[:-1] / older - (sums[-1] - sums[:-1]) / newer)
        m = older * newer / n
        confidence = math.log(2 * math.log(n) / self.delta)
        eps = np.sqrt(2 * float(values.var()) * confidence / m) + 2 * spread * confidence / (3 * m)
        excess = difference - eps
        best = int(excess.argmax())
        return best + 1 if excess[best] > 0 else 0


class Cusum:
    """Two-sided cumulative sums of deviations from the mean.

    z is the number's distance from the mean in standard deviations, both estimated since the last change:

        S+ = max(0, S+ + z - k),    S- = max(0, S- - z - k),    a change when either exceeds h.

    The change began after the sum was last 0, and after the last number closer to the old mean than to the newest
    number. z is clipped to +-3, so that one missed phase is no change, but three intervals of another length are.

    Source: E. S. Page, Continuous Inspection Schemes, Biometrika 41, 1954.
    """

    def __init__(self, k: float = 0.5, h: float = 7.4, learning: int = 6) -> None:
        self.k = k
        self.h = h
        self.learning = learning
        self._above = self._below = 0.0
        self._above_run: list[float] = []
        self._below_run: list[float] = []
        self._restart([])

    @property
    def kept(self) -> int:
        """Number of values since the last change."""
        return self._count

    def update(self, value: float) -> bool:
        """Add a number; return whether a sum exceeds the threshold."""
        if self._count >= self.learning:
            deviation = max(math.sqrt(self._square / (self._count - 1)), MIN_DEVIATION)
            z = min(max((value - self._mean) / deviation, -_MAX_DEVIATIONS), _MAX_DEVIATIONS)
            self._above, self._below = max(0.0, self._above + z - self.k), max(0.0, self._below - z - self.k)
            self._above_run = [*self._above_run, value] if self._above else []
            self._below_run = [*self._below_run, value] if self._below else []
            if max(self._above, self._below) > self.h:
                run = self._above_run if self._above > self._below else self._below_run
                old = [at for at, other in enumerate(run) if abs(other - self._mean) <= abs(other - value)]
                self._restart(run[old[-1] + 1 :] if old else run)
                return True
            value = self._mean + z * deviation
        self._learn(value)
        return False

    def _learn(self, value: float) -> None:
        self._count += 1
        off = value - self._mean
        self._mean += off / self._count
        self._square += off * (value - self._mean)

    def _restart(self, values: list[float]) -> None:
        self._count = 0
        self._mean = self._square = 0.0
        self._above = self._below = 0.0
        self._above_run, self._below_run = [], []
        for value in values:
            self._learn(value)


class PageHinkley:
    """Two-sided Page test on the distance from the running mean.

        m_t = sum_{i <= t} (x_i - mean_i - tolerance),    a change when m_t - min_{s <= t} m_s > threshold,

    and likewise for a fall. The change began after the minimum. Unlike CUSUM, the test does not measure the spread:
    intervals that vary by more than about a third (0.3 in the logarithm) cause false alarms.

    Source: E. S. Page, 1954, with the running mean after D. V. Hinkley, Biometrika 58, 1971.
    """

    def __init__(self, tolerance: float = 0.15, threshold: float = 1.5, learning: int = 3) -> None:
        self.tolerance = tolerance
        self.threshold = threshold
        self.learning = learning
        self._rise = self._fall = 0.0
        self._rising: list[float] = []
        self._falling: list[float] = []
        self._restart([])

    @property
    def kept(self) -> int:
        """Number of values since the last change."""
        return self._count

    def update(self, value: float) -> bool:
        """Add a number; return whether the sum exceeds its minimum by more than the threshold."""
        self._count += 1
        self._mean += (value - self._mean) / self._count
        if self._count <= self.learning:
            return False
        off = value - self._mean
        # a sum less its minimum equals a sum that restarts at 0 whenever it falls below
        self._rise = max(0.0, self._rise + off - self.tolerance)
        self._fall = max(0.0, self._fall - off - self.tolerance)
        self._rising = [*self._rising, value] if self._rise else []
        self._falling = [*self._falling, value] if self._fall else []
        if max(self._rise, self._fall) <= self.threshold:
            return False
        self._restart(self._rising if self._rise > self._fall else self._falling)
        return True

    def _restart(self, values: list[float]) -> None:
        self._count = len(values)
        self._mean = sum(values) / max(len(values), 1)
        self._rise = self._fall = 0.0
        self._rising, self._falling = [], []


DETECTORS: Final[dict[str, Callable[[], ChangeDetector]]] = {
    "adwin": Adwin,
    "cusum": Cusum,
    "page-hinkley": PageHinkley,
}
"""Detectors by their names in the settings."""
