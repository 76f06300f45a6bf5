"""Credit of collectors by the time that their batches take."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Final

_QUEUED_S: Final = 0.5
"""Work of all unacknowledged batches, s. It bounds the delay of a live job behind the backlog of its own collector."""
_MEASURED_S: Final = 1.0
"""Duration of a measurement, s."""


class ServiceCredit:
    """Measures the time of batches by collector, and divides ``_QUEUED_S`` among the collectors.

    A bound in bytes or batches is many seconds of work on a slow machine, and too much memory with many collectors.
    The number of collectors that share the time is the effective one, (sum t)^2 / sum t^2: one busy collector among a
    thousand quiet ones has nearly all of the credit.

    Args:
        most: maximum credit, batches.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._time_s: defaultdict[bytes, float] = defaultdict(float)
        self._batches: Counter[bytes] = Counter()
        self._begun_s: float | None = None
        self._credit: dict[bytes, int] = {}
        self._default = most

    def processed(self, sender: bytes, took_s: float) -> None:
        """Count a processed batch of a collector."""
        self._time_s[sender] += took_s
        self._batches[sender] += 1

    def update(self, now_s: float, delay_s: float, read_all_s: float) -> None:
        """Compute the credits from the measurement so far, once it is long enough.

        Args:
            now_s: steady clock.
            delay_s: time from the end of the work on a batch to its ack, which waits for the disk.
            read_all_s: last time when no message waited. If messages have waited all the time, the time of
                other work between them counts, too.
        """
        if self._begun_s is None or now_s - self._begun_s < _MEASURED_S:
            self._begun_s = now_s if self._begun_s is None else self._begun_s
            return
        total_s = sum(self._time_s.values())
        if total_s > 0:
            sharing = total_s**2 / sum(each**2 for each in self._time_s.values())
            stretch = max((now_s - self._begun_s) / total_s, 1.0) if read_all_s < self._begun_s else 1.0
            work_s = (_QUEUED_S + delay_s) / sharing / stretch
            self._credit = {
                sender: self._bounded(work_s * count / self._time_s[sender])
                for sender, count in self._batches.items()
                if self._time_s[sender] > 0
            }
            self._default = self._bounded(work_s * self._batches.total() / total_s)
        self._begun_s = now_s
        self._time_s.clear()
        self._batches.clear()

    def of(self, sender: bytes) -> int:
        """Return the credit of a collector, batches."""
        return self._credit.get(sender, self._default)

    def _bounded(self, batches: float) -> int:
        return max(1, round(min(batches, self._most)))
