"""Stamps of kernel traces: seconds since 1970 or since boot, or the time of day."""

from __future__ import annotations

import time
from typing import Final

import numpy as np

from .line import Lines
from .numbers import Ints, Numbers

_NS: Final = 10**9
_DAY: Final = 86_400 * _NS
_EARLIEST_EPOCH_NS: Final = 10**8 * _NS
_LATEST_NS: Final = 4_600_000_000 * _NS
_MAX_DATES: Final = 65_536


class Clock:
    """Converts stamps to ns.

    A time of day without a date gets the latest date on which it is not after the file's last change, in the time zone
    of this machine. It gets the next date when the clock jumps back by half a day.

    Args:
        modified_ns: time of the file's last change.
    """

    def __init__(self, modified_ns: int | None) -> None:
        self.offset_ns: int | None = None
        """0 for stamps since 1970, None if their origin is unknown."""
        self._modified_ns = modified_ns
        self._day: int | None = None
        self._last = 0
        self._midnights: list[int] = [0]
        self._dates = Numbers(self._date)

    def read(self, data: bytes, lines: Lines) -> Ints:
        """Return times in ns, int64, one per line; negative if out of range.

        Args:
            data: data to which the lines' extents refer.
            lines: lines of events.
        """
        if not len(lines):
            return np.zeros(0, np.int64)
        times = self._read(data, lines)
        return np.where(times > _LATEST_NS, -1, times)

    def _read(self, data: bytes, lines: Lines) -> Ints:
        times: Ints = lines["stamp"].astype(np.int64)
        if lines["date"].any():
            self.offset_ns = 0
            numbers = self._dates.of(data, lines["date"])
            day = np.array(self._midnights, np.int64)[numbers]
            return np.where(day > 0, day + times, -1)
        if lines["clock"][0]:
            return self._dated(times)
        self.offset_ns = 0 if times[0] >= _EARLIEST_EPOCH_NS else None
        return times

    def _dated(self, times: Ints) -> Ints:
        if self._day is None:
            self._last, self._day = int(times[0]), 0
            if self._modified_ns is not None:
                self._day = _midnight(self._modified_ns)
                self._day -= _DAY if self._day + int(times[0]) > self._modified_ns + _NS else 0
                self.offset_ns = 0
        nights = np.cumsum(np.diff(times, prepend=self._last) < -_DAY // 2) * _DAY
        dated: Ints = self._day + nights + times
        self._last, self._day = int(times[-1]), self._day + int(nights[-1])
        return dated

    def _date(self, text: bytes) -> int:
        """Return the index of a date; its midnight is in local time, which babeltrace writes."""
        try:
            midnight = round(time.mktime(time.strptime(text.decode(), "%Y-%m-%d"))) * _NS
        except (ValueError, OverflowError):
            return 0
        if len(self._midnights) > _MAX_DATES or midnight > _LATEST_NS:
            return 0
        self._midnights.append(midnight)
        return len(self._midnights) - 1


class Order:
    """Counts lines that follow later ones, because waits and interrupts are inferred from the order.

    Attributes:
        late: number of such lines.
        worst_ns: maximum lateness.
    """

    def __init__(self) -> None:
        self.late = 0
        self.worst_ns = 0
        self._latest = 0

    def see(self, times: Ints) -> None:
        """Process the times of the next lines."""
        if len(times):
            latest = np.maximum.accumulate(np.maximum(times, self._latest))
            lags = latest - times
            self._latest = int(latest[-1])
            self.late += int(np.count_nonzero(lags[times >= 0]))
            self.worst_ns = max(self.worst_ns, int(lags[times >= 0].max(initial=0)))


def _midnight(when_ns: int) -> int:
    local = time.localtime(when_ns // _NS)
    return round(time.mktime((local.tm_year, local.tm_mon, local.tm_mday, 0, 0, 0, 0, 0, -1))) * _NS
