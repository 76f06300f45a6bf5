"""What a job moved, by call and by file."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from ..events import EventBatch, Flag, Kind, Layer
from ..events.spread import busy_ns, calls_in, spread
from .common.grouping import Grouping
from .file_groups import READS, WRITES
from .mapped_stores import mapped_stores
from .signal.selection import ALL_COUNTS, LeftOut, is_left_out

OTHER: Final = 0
"""Id of the slot that takes what has no id of its own, or one beyond the bound."""
_HUGE: Final = 2**44  # values from here on are summed one by one: int64 might not hold their sum
MOST: Final = 2**62
"""Where sums stop."""


class CallRow(Struct, frozen=True):
    """Traffic through one call of one job; ``bytes`` are those that count, seconds are of all threads."""

    number: int
    layer: Layer
    calls: int
    failed: int
    bytes: int
    seconds: float


class FileRow(Struct, frozen=True):
    """Traffic of one file of one job, at depth 0; bytes are those that count."""

    number: int
    calls: int
    bytes_read: int
    bytes_written: int
    seconds: float


class Totals:
    """Sums over all events of a job, by call and by file. Picklable; memory is bounded.

    Ids are those of the job, given by the caller. What has an id beyond the bound goes to slot 0, which is "other".
    Calls are counted at every depth. A file's traffic is that at depth 0, so that bytes that pass through several
    layers count once. Every call counts, and of the bytes those that are not left out (``file_groups.CountRule``).

    Attributes:
        events: events so far.
        bytes_read: bytes read at depth 0, whether they count or not.
        bytes_written: bytes written likewise.
        mapped: bytes of files that were mapped so that stores reach them; how much was stored is not known.
        flushed: bytes of such mappings that ``msync`` was to write back.
        overflowed: events that went to "other" because their call's or file's id is beyond the bound.
    """

    def __init__(self, max_files: int = 10_000, max_calls: int = 10_000) -> None:
        self.events = 0
        self.bytes_read = 0
        self.bytes_written = 0
        self.mapped = 0
        self.flushed = 0
        self.overflowed = 0
        self._calls = _Table(max_calls, ("calls", "failed", "bytes", "ns"))
        self._files = _Table(max_files, ("calls", "read", "written", "ns"))
        self._layers = np.zeros(1, np.uint8)

    def update(self, batch: EventBatch, left_out: LeftOut = ALL_COUNTS) -> None:
        """Adds events whose ``call`` and ``file`` columns hold the job's ids; ``left_out``: by the latter."""
        if not len(batch):
            return
        self.events += len(batch)
        mapped, flushed = mapped_stores(batch, left_out)
        self.mapped, self.flushed = min(self.mapped + mapped, MOST), min(self.flushed + flushed, MOST)
        if spread(batch) is not None:
            self._add(batch.replace(duration=busy_ns(batch)), calls_in(batch), left_out)
            return
        if max(int(batch.bytes.max()), int(batch.duration.max())) >= _HUGE:
            self._add(batch, np.ones(len(batch), np.int64), left_out)
            return
        told = (batch.call, batch.layer, batch.kind, batch.file, batch.depth, batch.errno, batch.flags)
        alike = Grouping(told)
        order = np.argsort(alike.last)  # a call's layer is that of its last event
        sums = alike.sums([batch.bytes, batch.duration])[order]
        rows = batch.select(alike.last[order]).replace(bytes=sums[:, 0], duration=sums[:, 1])
        self._add(rows, alike.counts()[order], left_out)

    def _add(self, batch: EventBatch, count: npt.NDArray[np.int64], left_out: LeftOut) -> None:
        """Adds events, or sums of some that are alike."""
        moved, duration = (column.astype(np.int64, copy=False) for column in (batch.bytes, batch.duration))
        counting = np.where(is_left_out(batch, left_out), 0, moved) if left_out.any() else moved
        call = self._bounded(self._calls, batch.call, count)
        failed = (batch.errno != 0) | ((batch.flags & Flag.FAILED) != 0)
        self._calls.add(call, {"calls": count, "failed": np.where(failed, count, 0), "bytes": counting, "ns": duration})
        if len(self._layers) < len(self._calls):
            self._layers = np.append(self._layers, np.zeros(len(self._calls) - len(self._layers), np.uint8))
        self._layers[call] = batch.layer
        outer = batch.depth == 0
        read = np.where(outer & (batch.kind == Kind.READ), moved, 0)
        written = np.where(outer & (batch.kind == Kind.WRITE), moved, 0)
        self.bytes_read = added(self.bytes_read, read)
        self.bytes_written = added(self.bytes_written, written)
        columns = {"calls": np.where(outer, count, 0), "read": read, "written": written}
        file = self._bounded(self._files, batch.file, count)
        self._files.add(file, {**columns, "ns": np.where(outer, duration, 0)})

    def _bounded(self, table: _Table, ids: npt.NDArray[Any], count: npt.NDArray[np.int64]) -> npt.NDArray[np.intp]:
        """Returns the ids with those beyond the table's bound exchanged for "other"."""
        beyond = ids > table.bound
        self.overflowed += int(count[beyond].sum())
        return np.where(beyond, OTHER, ids).astype(np.intp)

    def calls(self, top: int | None = None) -> list[CallRow]:
        """Returns the calls seen, those with the most bytes (then the most calls) first."""
        table = self._calls
        order = _ranked(table["calls"], [table["bytes"]], top)
        return [
            CallRow(
                number=int(row),
                layer=Layer(int(self._layers[row])),
                calls=int(table["calls"][row]),
                failed=int(table["failed"][row]),
                bytes=int(table["bytes"][row]),
                seconds=float(table["ns"][row]) / 1e9,
            )
            for row in order
        ]

    def files(self, top: int | None = None, left_out: LeftOut = ALL_COUNTS) -> list[FileRow]:
        """Returns the files of which something counts, those with the most bytes, then the most calls, first."""
        table, missing = self._files, self._missing(left_out)
        read = np.where(missing & READS, 0, table["read"])
        written = np.where(missing & WRITES, 0, table["written"])
        counting = (missing == 0) | (read > 0) | (written > 0)
        order = _ranked(np.where(counting, table["calls"], 0), [read, written], top)
        return [
            FileRow(
                number=int(row),
                calls=int(table["calls"][row]),
                bytes_read=int(read[row]),
                bytes_written=int(written[row]),
                seconds=float(table["ns"][row]) / 1e9,
            )
            for row in order
        ]

    def not_counted(self, left_out: LeftOut, groups: npt.NDArray[np.uint8]) -> dict[int, tuple[int, int]]:
        """Returns the bytes read and written that do not count, by the group of their file.

        Args:
            left_out: what does not count, by file number.
            groups: the group of each file number.
        """
        missing = self._missing(left_out)
        read = np.where(missing & READS, self._files["read"], 0)
        written = np.where(missing & WRITES, self._files["written"], 0)
        known = groups[: len(missing)]
        return {
            group: (added(0, read[: len(known)][known == group]), added(0, written[: len(known)][known == group]))
            for group in range(int(known.max(initial=0)) + 1)
        }

    def _missing(self, left_out: LeftOut) -> LeftOut:
        """Returns what does not count of each row of the table of files."""
        rows = len(self._files)
        return np.concatenate([left_out[:rows], np.zeros(max(rows - len(left_out), 0), np.uint8)])


def added(total: int, values: npt.NDArray[np.int64]) -> int:
    """Returns a sum with values from 0 on added to it, exact up to 2^62 and never more."""
    if len(values) and int(values.max()) >= _HUGE:
        exact: int = sum(values.tolist())
        return min(total + exact, MOST)
    return min(total + int(values.sum()), MOST)


class _Table:
    """Columns of int64 sums by id; grows as ids appear, up to a bound. Sums stop at 2^62."""

    def __init__(self, bound: int, names: tuple[str, ...]) -> None:
        self.bound = bound
        self._columns = {name: np.zeros(1, np.int64) for name in names}

    def __len__(self) -> int:
        return len(next(iter(self._columns.values())))

    def __getitem__(self, name: str) -> npt.NDArray[np.int64]:
        return self._columns[name]

    def add(self, ids: npt.NDArray[np.intp], columns: dict[str, npt.NDArray[np.int64]]) -> None:
        """Adds values to their ids' rows."""
        size = int(ids.max()) + 1
        if size > len(self):
            room = min(max(size, 2 * len(self)), self.bound + 1)
            self._columns = {
                name: np.append(old, np.zeros(room - len(old), np.int64)) for name, old in self._columns.items()
            }
        for name, values in columns.items():
            target = self._columns[name]
            # in integers, since float64 sums are exact only up to 2^53
            if values.max() >= _HUGE:
                huge = values >= _HUGE
                for row, value in zip(ids[huge].tolist(), values[huge].tolist(), strict=True):
                    target[row] = min(int(target[row]) + value, MOST)
                values = np.where(huge, 0, values)
            np.add.at(target, ids, values)


def _ranked(calls: npt.NDArray[np.int64], moved: list[npt.NDArray[np.int64]], top: int | None) -> npt.NDArray[np.intp]:
    """Returns the ids that have calls, those with the most bytes first, then those with the most calls."""
    present = np.flatnonzero(calls)
    weight = sum((column[present] for column in moved), np.zeros(len(present), np.float64))
    return present[np.lexsort((present, -calls[present], -weight))][:top]
