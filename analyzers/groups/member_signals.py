"""Signals of a job's members at several resolutions, in bounded memory."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ..signal.bandwidth import FACTOR
from ..signal.binning import bin_range, spread

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

BINS: Final = 512
"""Bins per level: 2 KiB per member."""
LEVELS: Final = 9
_FEW: Final = 2  # bins of a batch that needs no binning
_AT_ONCE: Final = 2048  # bins; a batch that spans more is binned coarsely first
_BITS: Final = FACTOR.bit_length() - 1


class MemberSignals:
    """Bytes of each member in bins. Level l has the newest 512 bins of ``bin_ns * 4**l``.

    Levels are created like those of a ``BandwidthSignal``, when the one before can no longer cover all data.

    Attributes:
        bin_ns: length of the finest bins.
        newest, oldest: indices of the latest and earliest finest bins with bytes; -1 before the first.
        ahead: number of events dropped because they are in the future.
        version: counter that increases with each change.
    """

    def __init__(self, bin_ns: int) -> None:
        self.bin_ns = bin_ns
        self.newest = self.oldest = -1
        self.ahead = 0
        self.version = 0
        self._levels: list[npt.NDArray[np.float32]] = []

    @property
    def levels(self) -> int:
        """Number of levels."""
        return len(self._levels)

    @property
    def last_ns(self) -> int | None:
        """End of the latest bin with bytes, ns; None without any."""
        return (self.newest + 1) * self.bin_ns if self.newest >= 0 else None

    def length(self, level: int) -> int:
        """Return the number of bins of a level that cover all data. Its capacity is the maximum."""
        return min((self.newest >> _BITS * level) - (self.oldest >> _BITS * level) + 1, BINS)

    def add(
        self,
        member: Ints,
        start: Ints,
        end: Ints,
        volume: npt.NDArray[Any],
        members: int,
        until_ns: int | None = None,
    ) -> None:
        """Add requests.

        Args:
            member: member of each request.
            start: ns.
            end: ns.
            volume: bytes.
            members: current number of members.
            until_ns: current time if known; later requests are dropped.
        """
        self.version += 1
        end = np.maximum(start, end)
        if until_ns is not None and int(end.max()) > until_ns:
            kept = np.flatnonzero(end <= until_ns)
            self.ahead += len(end) - len(kept)
            if not len(kept):
                return
            member, start, end, volume = member[kept], start[kept], end[kept], volume[kept]
        low, high = int(start.min()) // self.bin_ns, max(int(end.max()) - 1, int(start.max())) // self.bin_ns
        newest = max(self.newest, high)
        oldest = low if self.oldest < 0 else min(self.oldest, low)
        self._extend(oldest, newest, members)
        self._advance(newest)
        self.newest, self.oldest = newest, oldest
        base = 0
        while base < self.levels - 1 and (high >> _BITS * base) - (low >> _BITS * base) >= _AT_ONCE:
            base += 1
        fresh, at = self._binned(member, start, end, volume, base, low >> _BITS * base, members)
        for level in range(base, self.levels):
            self._place(level, fresh, at)
            if level < self.levels - 1:
                fresh, at = _merged(fresh, at)
        for level in range(base):
            floor = (newest >> _BITS * level) - BINS + 1
            rows = np.flatnonzero(np.maximum(end - 1, start) // (self.bin_ns << _BITS * level) >= floor)
            if len(rows):
                some = member[rows], start[rows], end[rows], volume[rows]
                self._place(level, *self._binned(*some, level, max(floor, low >> _BITS * level), members))

    def read(self, level: int, low: int, high: int, members: Ints) -> Floats:
        """Return the summed bytes of members in the bins low .. high - 1 of a level.

        Bins that are not stored are 0.
        """
        sums = np.zeros(high - low)
        begin, stop = self._stored_range(level, low, high)
        if begin < stop:
            sums[begin - low : stop - low] = self._bins(level, begin, stop)[members].sum(axis=0, dtype=np.float64)
        return sums

    def bins_of_members(self, level: int) -> npt.NDArray[np.float32]:
        """Return the bytes of each member in the bins of a level, [members, bins]. The bins cover all data."""
        newest = self.newest >> _BITS * level
        return self._bins(level, newest - self.length(level) + 1, newest + 1)

    def until_ns(self, members: Ints) -> int | None:
        """Return the end of the latest bin with bytes of the members, ns. Returns None without bytes."""
        for level in range(self.levels):
            newest = self.newest >> _BITS * level
            low = newest - self.length(level) + 1
            used = np.flatnonzero(self.read(level, low, newest + 1, members))
            if len(used):
                return (low + int(used[-1]) + 1) * (self.bin_ns << _BITS * level)
        return None

    def since_ns(self, members: Ints) -> int | None:
        """Return the start of the earliest bin with bytes of the members. The level covers all data."""
        for level in range(self.levels):
            newest = self.newest >> _BITS * level
            if newest - (self.oldest >> _BITS * level) < BINS or level == self.levels - 1:
                low = newest - self.length(level) + 1
                used = np.flatnonzero(self.read(level, low, newest + 1, members))
                return (low + int(used[0])) * (self.bin_ns << _BITS * level) if len(used) else None
        return None

    def merge_members(self, new: Ints, members: int) -> None:
        """Merge members; ``new`` is the new number of each."""
        self.version += 1
        for level, old in enumerate(self._levels):
            made = np.zeros((_room(members), BINS), np.float32)
            count = min(len(new), len(old))  # the latest members have no bytes yet
            np.add.at(made, new[:count], old[:count])
            self._levels[level] = made

    def _stored_range(self, level: int, low: int, high: int) -> tuple[int, int]:
        newest = self.newest >> _BITS * level
        return max(low, newest - BINS + 1), min(high, newest + 1)

    def _bins(self, level: int, low: int, high: int) -> npt.NDArray[np.float32]:
        slots = np.arange(low, high) % BINS
        if level < self.levels:
            return self._levels[level][:, slots]
        return np.zeros((len(self._levels[0]), high - low), np.float32)

    def _extend(self, oldest: int, newest: int, members: int) -> None:
        if not self._levels:
            self._levels.append(np.zeros((_room(members), BINS), np.float32))
        elif len(self._levels[0]) < members:
            added = _room(members) - len(self._levels[0])
            self._levels = [np.concatenate([each, np.zeros((added, BINS), np.float32)]) for each in self._levels]
        while (top := self.levels - 1) < LEVELS - 1 and (newest >> _BITS * top) - (oldest >> _BITS * top) >= BINS:
            made = np.zeros_like(self._levels[top])
            if self.newest >= 0:
                last = self.newest >> _BITS * top
                low = (max(self.oldest >> _BITS * top, last - BINS + 1) >> _BITS) << _BITS
                joined, at = _merged(self._bins_from(top, low, last), low)
                made[:, (at + np.arange(joined.shape[1])) % BINS] = joined
            self._levels.append(made)

    def _bins_from(self, level: int, low: int, last: int) -> npt.NDArray[np.float32]:
        """Return the bins low .. last; those no longer stored are 0."""
        bins = np.zeros((len(self._levels[0]), last - low + 1), np.float32)
        begin = max(low, last - BINS + 1)
        bins[:, begin - low :] = self._bins(level, begin, last + 1)
        return bins

    def _advance(self, newest: int) -> None:
        """Clear the bins up to ``newest``."""
        if self.newest < 0 or newest == self.newest:
            return
        for level, bins in enumerate(self._levels):
            before, after = self.newest >> _BITS * level, newest >> _BITS * level
            if after - before >= BINS:
                bins[:] = 0.0
            elif after > before:
                bins[:, np.arange(before + 1, after + 1) % BINS] = 0.0

    def _binned(
        self, member: Ints, start: Ints, end: Ints, volume: npt.NDArray[Any], level: int, low: int, members: int
    ) -> tuple[Floats, int]:
        """Return the bytes of each member in the bins of a level from ``low`` on.

        It returns [members, bins] and ``low``.
        """
        bin_ns = self.bin_ns << _BITS * level
        low_ns = low * bin_ns
        if int(start.min()) < low_ns:  # drop earlier parts
            part = np.maximum(start, low_ns)
            volume = volume * ((end - part) / np.maximum(end - start, 1))
            start = part
        bins = (max(int(end.max()) - 1, int(start.max())) - low_ns) // bin_ns + 1
        if bins <= _FEW:
            return _few_bins(member, start, end, volume, low_ns + bin_ns, members)[:, :bins], low
        # members are concatenated, so that one pass bins all of them
        members_of = member[:1] if member.strides == (0,) else member
        offset = members_of * (bins * bin_ns) - low_ns
        begun, ended = start + offset, end + offset
        first, last = bin_range(begun, ended, bin_ns)
        made = spread(begun, ended, volume, first, last, bin_ns=bin_ns, lowest=0, bins=bins * members)
        return made.reshape(members, bins), low

    def _place(self, level: int, fresh: npt.NDArray[Any], at: int) -> None:
        skipped = max((self.newest >> _BITS * level) - BINS + 1 - at, 0)
        if skipped < fresh.shape[1]:
            slots = (at + np.arange(skipped, fresh.shape[1])) % BINS
            self._levels[level][: len(fresh), slots] += fresh[:, skipped:]


def _few_bins(member: Ints, start: Ints, end: Ints, volume: npt.NDArray[Any], border_ns: int, members: int) -> Floats:
    """Return the bytes of each member before and after a time, [members, 2]. Most batches of a burst span no more."""
    before = volume.astype(np.float64) if int(end.max()) <= border_ns else _bytes_before(start, end, volume, border_ns)
    after = volume - before
    if member.strides == (0,):
        made = np.zeros((members, 2))
        made[int(member[0])] = before.sum(), after.sum()
        return made
    return np.stack([np.bincount(member, each, members) for each in (before, after)], axis=1)


def _bytes_before(start: Ints, end: Ints, volume: npt.NDArray[Any], border_ns: int) -> Floats:
    """Return the bytes of each request before a time. A request of zero duration moves them at its start."""
    share = (border_ns - start) / np.maximum(end - start, 1)
    before: Floats = volume * np.minimum(np.maximum(share, 0.0), 1.0)
    return before


def _merged(fresh: npt.NDArray[Any], low: int) -> tuple[npt.NDArray[Any], int]:
    """Return the bins of the next level, and the index of the first of them."""
    before = low % FACTOR
    after = -(before + fresh.shape[1]) % FACTOR
    padded = np.pad(fresh, ((0, 0), (before, after))) if before or after else fresh
    return padded.reshape(len(fresh), -1, FACTOR).sum(axis=2), low // FACTOR


def _room(members: int) -> int:
    """Return the number of members for which memory is allocated."""
    return 1 << max(members - 1, 1).bit_length()
