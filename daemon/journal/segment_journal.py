"""A journal in append-only files."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from .appending_journal import AppendingJournal
from .contract import Gap, JournalError, Position, Replayed
from .segment_writer import MARK_NAME, STAGED, SegmentWriter, read_mark
from .segments import HEADER_BYTES, SUFFIX, Segment, read_header, readable_end, records

_log = logging.getLogger(__name__)


class SegmentJournal(AppendingJournal[SegmentWriter]):
    """The files of one folder, ordered by name.

    Records that were synced and are missing are reported, also at the end. Existing records can be replayed at once;
    ``begin`` starts a new epoch for appending. An incomplete record at the end of the last file, left by a killed
    daemon, is truncated. A file with a damaged header, or of another version, is set aside.

    Args:
        folder: folder, created if necessary; no other journal uses it.
        segment_bytes, quota_bytes: as for the writer.

    Raises:
        OSError: the folder cannot be used.
    """

    def __init__(self, folder: Path, segment_bytes: int, quota_bytes: int) -> None:
        super().__init__()
        self._folder = folder
        self._segment_bytes, self._quota_bytes = segment_bytes, quota_bytes
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._segments = self._readable_segments()
        if self._segments:
            last = self._segments[-1]
            self._epoch, self._next = last.epoch, self._truncate(last)
        mark = read_mark(folder)
        if mark is not None and mark.epoch >= self._epoch:
            self._epoch, self._next = mark.epoch, max(self._next, mark.record + 1)

    def skip_replay(self) -> None:
        """Skip the replay; the files are kept for inspection."""
        for segment in self._segments:
            segment.path.replace(segment.path.with_suffix(".unreadable"))
        self._segments = []

    def fetch_snapshot(self, snapshot: Path) -> None:
        """Do nothing: the snapshot is in the same folder."""

    def release(self) -> None:
        """Do nothing: the folder's lock excludes other aggregators."""

    @property
    def is_fenced(self) -> bool:
        """Never: the folder's lock is held."""
        return False

    @property
    def start(self) -> Position:
        """The position before everything that existed at opening."""
        return Position(self._segments[0].epoch, self._segments[0].first - 1) if self._segments else Position(0, 0)

    def replay(self, after: Position) -> Iterator[Replayed]:
        """Yield the records after a position, as of the opening, in order. Unreadable ones are reported as gaps."""
        expected = after.record + 1
        ends = [each.first for each in self._segments[1:]] + [self._next]
        for segment, end in zip(self._segments, ends, strict=False):
            if end <= expected:
                continue
            try:
                for each in records(segment, expected):
                    expected = each.first + each.missing if isinstance(each, Gap) else each.position.record + 1
                    yield each
            except OSError as error:
                _log.error("%s cannot be read: %s", segment.path, error.strerror)
            if expected < end:
                yield Gap(expected, end - expected, f"{segment.path}, to its end")
                expected = end
        if expected < self._next:  # the file is missing, or was set aside
            yield Gap(expected, self._next - expected, f"{self._folder}, the last that were put on disk")

    def begin(self, after: Position, on_synced: Callable[[], None]) -> Position:
        """Start an epoch, later than all existing ones and that of a position. Number its records after all others.

        Args:
            after: last position known from elsewhere.
            on_synced: called from another thread when more is on disk, or after a failure.

        Returns:
            The position before the first record.

        Raises:
            OSError: no file can be written.
        """
        return self._start_writer(after, on_synced, is_staged=False)

    def trim(self, until: Position) -> None:
        """Remove files without records after a position."""
        self._open_writer.trim(until.record + 1)

    def restart(self, on_synced: Callable[[], None]) -> Position:
        """Continue in a new file after an error; the file is only valid after ``accept``.

        A snapshot must cover the unwritten records by then. A daemon that is killed earlier leaves a journal that ends
        at the error: no later record was acknowledged.

        Returns:
            The position before the next record.

        Raises:
            OSError: no file can be written.
        """
        self._open_writer.close()
        self._segments = self._readable_segments()
        self._next += 1  # so that a replay reports the unwritten record as missing
        return self._start_writer(self.last, on_synced, is_staged=True)

    def accept(self) -> None:
        """Make the records since ``restart`` part of the journal; a failure is a ``problem``."""
        self._open_writer.accept()

    def close(self) -> None:
        """Write the remaining records, and close the files."""
        if self._writer is not None:
            self._writer.close()

    def remove(self) -> None:
        """Remove all files; after ``close``."""
        for path in (*self._folder.glob(f"*{SUFFIX}"), *self._folder.glob(f"*{STAGED}")):
            path.unlink(missing_ok=True)
        (self._folder / MARK_NAME).unlink(missing_ok=True)

    def _start_writer(self, after: Position, on_synced: Callable[[], None], *, is_staged: bool) -> Position:
        for path in self._folder.glob(f"*{STAGED}"):  # of a restart that came to nothing
            path.unlink(missing_ok=True)
        self._epoch = max(self._epoch, after.epoch) + 1
        self._next = max(self._next, after.record + 1)
        writer = (self._folder, self._epoch, self._next, self._segment_bytes, self._quota_bytes)
        self._writer = SegmentWriter(*writer, self._segments, on_synced, is_staged=is_staged)
        return Position(self._epoch, self._next - 1)

    def _readable_segments(self) -> list[Segment]:
        found = []
        for path in sorted(self._folder.glob(f"*{SUFFIX}")):
            if path.stat().st_size < HEADER_BYTES:  # the daemon was killed while it created the file
                path.unlink()
                continue
            try:
                found.append(read_header(path))
            except JournalError as error:
                aside = path.with_suffix(".unreadable")
                _log.error("%s; the file is renamed to %s", error, aside.name)
                path.replace(aside)
        return found

    def _truncate(self, last: Segment) -> int:
        """Truncate the last file to complete records; return the number after the last one."""
        end, number = readable_end(last)
        torn = last.path.stat().st_size - end
        if torn:
            _log.warning(
                "%s: the last %d bytes, from byte %d on, are an incomplete record and are removed", last.path, torn, end
            )
            os.truncate(last.path, end)
        return number
