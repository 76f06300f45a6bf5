"""Bytes and calls of a job, by call and by file, and bounds for stores to mapped files, which make no calls."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from ..events import EventBatch, Flag, Kind, Layer
from ..events.batch import representatives
from ..events.summaries import busy_ns, calls_in, summary_rows
from .common.grouping import Grouping
from .file_groups import READS, WRITES
from .signal.selection import ALL_COUNTS, LeftOut, is_left_out

OTHER: Final = 0
"""Id of the slot for events without an id, or with an id beyond the bound."""
_READABLE: Final = "readable"
"""Column of the lengths of mappings for reading, only in jobs that have some."""
_HUGE: Final = 2**44  # values from here on are summed one by one, since their int64 sum could overflow
SATURATION: Final = 2**62
"""Value at which sums saturate."""


def mapped_stores(batch: EventBatch, left_out: LeftOut = ALL_COUNTS) -> tuple[int, int]:
    """Return the bytes mapped with stores that reach the file. It also returns the bytes passed to ``msync``.

    Both are lengths; how many of these bytes were stored to is unknown. Nested calls (depth > 0) are excluded, since
    the outer call has the same bytes. Files to which writes do not count are excluded, too.

    Args:
        batch: events.
        left_out: mask of directions that do not count, by file number.
    """
    rows = _mapping_rows(batch, Flag.STORES, left_out, WRITES)
    asked = batch.requested[rows].astype(np.int64, copy=False)
    flushed = batch.kind[rows] == Kind.SYNC
    return sum(asked[~flushed].tolist()), sum(asked[flushed].tolist())


def mapped_for_reading(
    batch: EventBatch, left_out: LeftOut = ALL_COUNTS
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.int64]]:
    """Return file and length of each mapping that the program can read. How many of these bytes it loads is unknown.

    Nested calls are excluded as in ``mapped_stores``, and files from which reads do not count.

    Args:
        batch: events.
        left_out: mask of directions that do not count, by file number.
    """
    rows = _mapping_rows(batch, Flag.LOADS, left_out, READS)
    return batch.file[rows].astype(np.intp), batch.requested[rows].astype(np.int64)


def _mapping_rows(batch: EventBatch, flag: Flag, left_out: LeftOut, way: int) -> npt.NDArray[np.intp]:
    """Return the rows with a flag whose call succeeded at depth 0 on a file that counts in a direction."""
    wanted = int(flag)
    if not (representatives(batch.flags) & wanted).any():
        return np.zeros(0, np.intp)
    rows = ((batch.flags & (wanted | int(Flag.FAILED))) == wanted) & (batch.depth == 0)
    if left_out.any():
        missing = np.append(left_out, np.uint8(0))[np.minimum(batch.file, len(left_out))]
        rows &= (missing & way) == 0
    return np.flatnonzero(rows)


class CallRow(Struct, frozen=True):
    """Traffic of one call of a job. ``bytes`` are the bytes that count; seconds are summed over all threads."""

    number: int
    layer: Layer
    calls: int
    failed: int
    bytes: int
    seconds: float


class FileRow(Struct, frozen=True):
    """Traffic of one file of a job at depth 0. Bytes are the bytes that count."""

    number: int
    calls: int
    bytes_read: int
    bytes_written: int
    seconds: float


class Totals:
    """Sums over all events of a job, by call and by file. Picklable; memory is bounded.

    The caller assigns ids, numbered per job. Ids beyond the bound go to slot 0 ("other"). Calls are counted at every
    depth. File traffic is counted at depth 0 only, so bytes that pass through several layers count once. All calls
    count; bytes count unless excluded (``file_groups.CountRule``).

    Attributes:
        events: number of events.
        bytes_read: bytes read at depth 0, including bytes that do not count.
        bytes_written: bytes written at depth 0, including bytes that do not count.
        mapped: bytes of mappings whose stores reach the file; how many were stored to is unknown.
        flushed: bytes of such mappings passed to ``msync``.
        overflowed: events in "other" because the id of their call or file is beyond the bound.
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
        """Add events whose ``call`` and ``file`` columns have the job's ids. ``left_out`` is indexed by file."""
        if not len(batch):
            return
        self.events += len(batch)
        mapped, flushed = mapped_stores(batch, left_out)
        self.mapped, self.flushed = min(self.mapped + mapped, SATURATION), min(self.flushed + flushed, SATURATION)
        files, lengths = mapped_for_reading(batch)
        if len(files):
            self._files.add(np.where(files > self._files.bound, OTHER, files), {_READABLE: lengths})
        if summary_rows(batch) is not None:
            self._add(batch.replace(duration=busy_ns(batch)), calls_in(batch), left_out)
            return
        if max(int(batch.bytes.max()), int(batch.duration.max())) >= _HUGE:
            self._add(batch, np.ones(len(batch), np.int64), left_out)
            return
        columns = (batch.call, batch.layer, batch.kind, batch.file, batch.depth, batch.errno, batch.flags)
        alike = Grouping(columns)
        order = np.argsort(alike.last)  # the layer of a call is that of its last event
        sums = alike.sums([batch.bytes, batch.duration])[order]
        rows = batch.select(alike.last[order]).replace(bytes=sums[:, 0], duration=sums[:, 1])
        self._add(rows, alike.counts()[order], left_out)

    def _add(self, batch: EventBatch, count: npt.NDArray[np.int64], left_out: LeftOut) -> None:
        """Add events, or sums of equal events."""
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
        self.bytes_read = saturating_sum(self.bytes_read, read)
        self.bytes_written = saturating_sum(self.bytes_written, written)
        columns = {"calls": np.where(outer, count, 0), "read": read, "written": written}
        file = self._bounded(self._files, batch.file, count)
        self._files.add(file, {**columns, "ns": np.where(outer, duration, 0)})

    def _bounded(self, table: _Table, ids: npt.NDArray[Any], count: npt.NDArray[np.int64]) -> npt.NDArray[np.intp]:
        """Return the ids, with ids beyond the table's bound replaced by "other"."""
        beyond = ids > table.bound
        self.overflowed += int(count[beyond].sum())
        return np.where(beyond, OTHER, ids).astype(np.intp)

    def calls(self, top: int | None = None) -> list[CallRow]:
        """Return the observed calls by descending bytes, then descending number of calls."""
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
        """Return the files with traffic that counts, by descending bytes, then descending number of calls."""
        table, missing = self._files, self._left_out_of_rows(left_out)
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
        """Return bytes read and written that do not count, by file group.

        Args:
            left_out: mask of directions that do not count, by file number.
            groups: group of each file number.
        """
        missing = self._left_out_of_rows(left_out)
        read = np.where(missing & READS, self._files["read"], 0)
        written = np.where(missing & WRITES, self._files["written"], 0)
        known = groups[: len(missing)]
        return {
            group: (
                saturating_sum(0, read[: len(known)][known == group]),
                saturating_sum(0, written[: len(known)][known == group]),
            )
            for group in range(int(known.max(initial=0)) + 1)
        }

    def mapped_for_reading(self, left_out: LeftOut) -> tuple[int, int]:
        """Return the length of all mappings that the program can read, and the number of their files.

        Args:
            left_out: mask of directions that do not count, by file number.
        """
        lengths = np.where(self._left_out_of_rows(left_out) & READS, 0, self._files[_READABLE])
        return saturating_sum(0, lengths), int(np.count_nonzero(lengths))

    def _left_out_of_rows(self, left_out: LeftOut) -> LeftOut:
        """Return the mask of directions that do not count. It has an entry for each row of the file table."""
        rows = len(self._files)
        return np.concatenate([left_out[:rows], np.zeros(max(rows - len(left_out), 0), np.uint8)])


def saturating_sum(total: int, values: npt.NDArray[np.int64]) -> int:
    """Return the total plus non-negative values, exact up to 2^62 and saturated there."""
    if len(values) and int(values.max()) >= _HUGE:
        exact: int = sum(values.tolist())
        return min(total + exact, SATURATION)
    return min(total + int(values.sum()), SATURATION)


class _Table:
    """Columns of int64 sums by id. Rows grow with the ids up to a bound; sums saturate at 2^62.

    A further column exists once a value is added to it.
    """

    def __init__(self, bound: int, names: tuple[str, ...]) -> None:
        self.bound = bound
        self._columns = {name: np.zeros(1, np.int64) for name in names}

    def __len__(self) -> int:
        return len(next(iter(self._columns.values())))

    def __getitem__(self, name: str) -> npt.NDArray[np.int64]:
        column = self._columns.get(name)
        return np.zeros(len(self), np.int64) if column is None else column

    def add(self, ids: npt.NDArray[np.intp], columns: dict[str, npt.NDArray[np.int64]]) -> None:
        """Add values to the rows of their ids."""
        size = int(ids.max()) + 1
        if size > len(self):
            room = min(max(size, 2 * len(self)), self.bound + 1)
            self._columns = {
                name: np.append(old, np.zeros(room - len(old), np.int64)) for name, old in self._columns.items()
            }
        for name, values in columns.items():
            target = self._columns.setdefault(name, np.zeros(len(self), np.int64))
            # summed as integers, since float64 sums are exact only up to 2^53
            if values.max() >= _HUGE:
                huge = values >= _HUGE
                for row, value in zip(ids[huge].tolist(), values[huge].tolist(), strict=True):
                    target[row] = min(int(target[row]) + value, SATURATION)
                values = np.where(huge, 0, values)
            np.add.at(target, ids, values)


def _ranked(calls: npt.NDArray[np.int64], moved: list[npt.NDArray[np.int64]], top: int | None) -> npt.NDArray[np.intp]:
    """Return the ids that have calls, by descending bytes, then descending number of calls."""
    present = np.flatnonzero(calls)
    weight = sum((column[present] for column in moved), np.zeros(len(present), np.float64))
    return present[np.lexsort((present, -calls[present], -weight))][:top]
