"""Convert strace's time stamps to Unix time."""

from __future__ import annotations

import time
from enum import Enum

import numpy as np
import numpy.typing as npt

_NS = 10**9
_DAY = 86_400 * _NS
_EARLIEST_EPOCH_S = 10**8  # a relative stamp of three years is a stamp since 1970
_LATEST_NS = 4_600_000_000 * _NS
_SLACK = 60 * _NS

Times = npt.NDArray[np.int64]


class StampKind(Enum):
    """Stamp format of a file."""

    UNIX = "unix"
    """``-ttt``: seconds since 1970."""
    CLOCK = "clock"
    """``-t``, ``-tt``: local time of day without a date."""
    RELATIVE = "relative"
    """``-r``: seconds since the previous line."""


class StampReader:
    """Converts the stamps of successive lines to ns since the Unix epoch. RELATIVE stamps are since the first line.

    A time of day gets the latest date on which the first stamp is not after the file's last change, and the next date
    each time the clock jumps back by more than half a day. The machine's time zone is assumed to be the tracer's.

    Args:
        first: the file's first stamp, which determines the kind of all.
        modified_ns: time of the file's last change when it was opened, or None: then day 0 is used.
    """

    def __init__(self, first: bytes, modified_ns: int | None) -> None:
        self.kind = _kind_of(first)
        self.clock_offset_ns: int | None = {StampKind.UNIX: 0, StampKind.RELATIVE: None}.get(self.kind)
        self.resolution_ns = _NS if self.kind is StampKind.CLOCK and b"." not in first else 0
        """Of ``-t``, whose stamps are whole seconds. 0 of the others, which are fine enough for any period."""
        self._last = 0
        self._day = 0
        if self.kind is StampKind.CLOCK:
            self._last = stamp_ns(first)
            if modified_ns is not None:
                self._day = self.clock_offset_ns = _midnight_before(self._last, modified_ns)

    def read(self, times: Times) -> Times:
        """Return the time of each stamp, given in ns. Returns -1 for a stamp of another kind or out of range."""
        if self.kind is StampKind.RELATIVE:
            times = np.cumsum(np.maximum(times, 0)) + self._last
            self._last = int(times[-1]) if len(times) else self._last
            return np.where(times > _LATEST_NS, -1, times)
        wrong = (times < 0) | (times > _LATEST_NS)
        if self.kind is StampKind.UNIX:
            wrong |= times < _EARLIEST_EPOCH_S * _NS
            return np.where(wrong, -1, times)
        wrong |= times >= _DAY
        times = np.where(wrong, self._last, times)
        steps = np.diff(times, prepend=self._last)
        days = self._day + _DAY * np.cumsum((steps < -_DAY // 2).astype(np.int64) - (steps > _DAY // 2))
        if len(times):
            self._last, self._day = int(times[-1]), int(days[-1])
        return np.where(wrong, -1, times + days)


def _kind_of(stamp: bytes) -> StampKind:
    if b":" in stamp:
        return StampKind.CLOCK
    return StampKind.UNIX if int(stamp.partition(b".")[0]) >= _EARLIEST_EPOCH_S else StampKind.RELATIVE


def _midnight_before(clock: int, modified_ns: int) -> int:
    """Return the local midnight before the first stamp, ns since 1970."""
    local = time.localtime(modified_ns // _NS)
    midnight = round(time.mktime((local.tm_year, local.tm_mon, local.tm_mday, 0, 0, 0, 0, 0, -1))) * _NS
    return midnight if midnight + clock <= modified_ns + _SLACK else midnight - _DAY


def stamp_ns(text: bytes) -> int:
    """Convert ``HH:MM:SS[.fraction]`` or ``seconds[.fraction]``, with up to 9 digits of fraction, exactly to ns.

    Seconds beyond the year 2262 wrap around, as in int64.
    """
    whole, _, fraction = text.partition(b".")
    seconds = 0
    for part in whole.split(b":"):
        seconds = 60 * seconds + int(part)
    ns = seconds * _NS + int(fraction.ljust(9, b"0"))
    return (ns + 2**63) % 2**64 - 2**63
