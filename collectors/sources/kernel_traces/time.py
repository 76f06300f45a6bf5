"""Stamps of kernel traces: seconds since 1970 or since the machine was started, or the time of day."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from ...numbering import Numbering

_NS: Final = 10**9
_DAY: Final = 86_400 * _NS
_EARLIEST_EPOCH_NS: Final = 10**8 * _NS
_MOST_DATES: Final = 65_536

Times = npt.NDArray[np.int64]


class Clock:
    """Turns stamps into ns.

    A time of day without a date gets the latest date on which it is not after the file's last change, in the time zone
    of this machine, and the next date when the clock jumps back by half a day.

    Args:
        modified_ns: last change of the file.
    """

    def __init__(self, modified_ns: int | None) -> None:
        self.offset_ns: int | None = None
        """0 for stamps since 1970, None where it is not known since when they count."""
        self._modified_ns = modified_ns
        self._day: int | None = None
        self._last = 0
        self._midnights: list[int] = [0]
        self._dates = Numbering[bytes](self._date)

    def read(self, stamps: Sequence[bytes], dates: Sequence[bytes] | None) -> Times:
        """Returns ns, int64, one a stamp; -1 for one out of range.

        Args:
            stamps: seconds with a fraction, or hours, minutes and seconds.
            dates: year, month and day of each, where the lines have them.
        """
        if not stamps:
            return np.zeros(0, np.int64)
        times = parse_stamps(stamps)
        if dates is not None and any(dates):
            self.offset_ns = 0
            numbers = self._dates.of(dates)
            day = np.array(self._midnights, np.int64)[numbers]
            return np.where(day > 0, day + times, -1)
        if b":" in stamps[0]:
            return self._dated(times)
        self.offset_ns = 0 if times[0] >= _EARLIEST_EPOCH_NS else None
        return times

    def _dated(self, times: Times) -> Times:
        if self._day is None:
            self._last, self._day = int(times[0]), 0
            if self._modified_ns is not None:
                self._day = _midnight(self._modified_ns)
                self._day -= _DAY if self._day + int(times[0]) > self._modified_ns + _NS else 0
                self.offset_ns = 0
        nights = np.cumsum(np.diff(times, prepend=self._last) < -_DAY // 2) * _DAY
        dated: Times = self._day + nights + times
        self._last, self._day = int(times[-1]), self._day + int(nights[-1])
        return dated

    def _date(self, text: bytes) -> int:
        """Returns the number of a date; its midnight is local time, which babeltrace writes."""
        try:
            midnight = round(time.mktime(time.strptime(text.decode(), "%Y-%m-%d"))) * _NS
        except (ValueError, OverflowError):
            return 0
        if len(self._midnights) > _MOST_DATES:
            return 0
        self._midnights.append(midnight)
        return len(self._midnights) - 1


def parse_stamps(texts: Sequence[bytes]) -> Times:
    """Turns texts ``[HH:MM:]SS[.fraction]``, up to nine digits of fraction, into ns, exactly."""
    width = max(map(len, texts))
    flat = b"".join(texts)
    if len(flat) != width * len(texts):
        flat = b"".join([text.rjust(width, b"0") for text in texts])
    places = np.frombuffer(flat, np.uint8).reshape(len(texts), width)
    weights = _weights(max(texts, key=len))
    separators = weights == 0
    if not (places[:, separators] == places[0, separators]).all():
        return np.array([_one(text) for text in texts], np.int64)
    return (places.astype(np.int64) - ord("0")) @ weights


def _one(text: bytes) -> int:
    digits = np.frombuffer(text, np.uint8).astype(np.int64) - ord("0")
    weights = _weights(text)
    return int(digits[weights > 0] @ weights[weights > 0])


def _weights(text: bytes) -> Times:
    """Returns what the digit at each place is worth in ns; 0 for separators."""
    whole, point, fraction = text.partition(b".")
    places: list[int] = []  # from the last one on
    for at, part in enumerate(reversed(whole.split(b":"))):
        places += [0] * (at > 0) + [60**at * 10**power * _NS for power in range(len(part))]
    fractions = [_NS // 10**place for place in range(1, len(fraction) + 1)]
    return np.array([*reversed(places), *([0] * len(point)), *fractions], np.int64)


def _midnight(when_ns: int) -> int:
    local = time.localtime(when_ns // _NS)
    return round(time.mktime((local.tm_year, local.tm_mon, local.tm_mday, 0, 0, 0, 0, 0, -1))) * _NS
