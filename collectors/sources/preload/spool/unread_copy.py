"""Copy recorded data to a file until it is archived. The analysis may be killed before it has archived anything.

The process that empties rings makes the copy. If a program uses all cores, the analysis gets a twentieth of one: it may
begin to read in time, and archive what it has read many seconds later. The copy begins with the first process, so it
can be read on its own.
"""

from __future__ import annotations

import contextlib
import os
import struct
import threading
import time
from collections import deque
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from ....source import Origin
from ..records.ring_layout import LAYOUT

MAGIC: Final = b"IOTIDESP"
VERSION: Final = 3
"""Version 1 had no frames of several processes, version 2 no announcements."""
HEAD: Final = struct.Struct("<8sHHI")
"""magic, version, layout of the lines, size of the origin that follows as MessagePack. Then frames."""
ANNOUNCED: Final = 13
ANNOUNCEMENT: Final = struct.Struct("<IIQQ")
"""A frame of the kind ANNOUNCED, with the number of ring lines that no archive has and that should follow. So what the
file lacks is known, whatever prevented it."""
_SUFFIX: Final = ".spool"
_FIRST_S: Final = 1.0
_EVERY_S: Final = 0.5
_REST_S: Final = 5.0
"""Time after which the end no longer waits for a disk that writes nothing, s."""
_AT_ONCE: Final = 4 << 20
_MAX_ALIKE: Final = 100
_MAX_RETURNED: Final = 64 << 20
"""Maximum size of segments that were read and are not copied yet, bytes. Their memory is not that of the spool."""


def path_of_copy(stem: Path, attempt: int) -> Path:
    """Return the path of a copy; ``attempt``: number of existing files with earlier names."""
    return stem.with_name(f"{stem.name}{f'-{attempt}' if attempt else ''}{_SUFFIX}")


class _Segment(Struct):
    number: int
    descriptor: int
    """A duplicate: the reader may return the segment before it is copied."""
    written: tuple[int, int] = (0, 0)
    """Bytes and ring lines that it has, in one attribute because two threads use it."""
    is_returned: bool = False


class UnreadCopy(threading.Thread):
    """Copies the segments of a spool at intervals, in order; removes its file if copying fails.

    Args:
        stem: absolute path of the file without its suffix; in a writable folder.
        origin: origin of the streams.
        most_bytes: maximum size of the file; later data is not copied.
        before: frames that precede the segments.
        first_s: time before the first copy.
        every_s: interval of later copies.

    Attributes:
        attempt: number of the file's name; None while there is no file.
        copied: bytes of segments that are in the file.
        has_ended: whether nothing more will be copied.
    """

    def __init__(
        self,
        stem: Path,
        origin: Origin,
        most_bytes: int,
        before: bytes = b"",
        *,
        first_s: float = _FIRST_S,
        every_s: float = _EVERY_S,
    ) -> None:
        super().__init__(name="unread", daemon=True)
        self.attempt: int | None = None
        self.copied = 0
        self.has_ended = False
        self._stem, self._origin, self._most_bytes = stem, origin, most_bytes
        self._before = before
        self._first_s, self._every_s = first_s, every_s
        self._is_over = threading.Event()
        self._lock = threading.Lock()
        self._segments: deque[_Segment] = deque()
        self._written: _Segment | None = None
        self._returned_bytes = 0
        self._copies_rest = self._has_rest = self._has_closed = False
        self._reader_has_ended = self._has_announced = False
        self._missing_lines = 0
        self._file = -1
        self._at = self._lines_at = 0  # of the first segment
        self._file_bytes = 0

    # ---- for the thread that writes the spool ----

    def written(self, number: int, descriptor: int, end: int, lines: int) -> None:
        """Take in that a segment has data up to ``end``, with that many ring lines. They are written one by one."""
        if self._is_over.is_set():
            return
        if self._written is None or self._written.number != number:
            with self._lock:
                if self._has_closed:  # meanwhile: nobody would close the duplicate
                    return
                try:
                    self._written = _Segment(number, os.dup(descriptor))
                except OSError:  # no descriptor is left
                    self._is_over.set()
                    return
                self._segments.append(self._written)
        self._written.written = end, lines

    def returned(self, number: int) -> bool:
        """Take in that a segment was read. Return whether it may be overwritten, because it is not needed here."""
        with self._lock:
            for segment in self._segments:
                if segment.number == number:
                    segment.is_returned = True
                    self._returned_bytes += segment.written[0]
                    if self._returned_bytes > _MAX_RETURNED:
                        self._is_over.set()
                    return False
        return True

    def end(self, wait_s: float = 0.0) -> None:
        """Copy nothing more, and wait for a copy that is being made; the file remains."""
        self._is_over.set()
        self.join(wait_s)

    def finish(self, *, reader_has_ended: bool, missing_lines: int = 0) -> bool:
        """Copy the rest, if the reader has ended or the file exists, and end. Nothing more may be written.

        Args:
            reader_has_ended: nobody reads the segments any more, so the file stays even if its disk is full.
            missing_lines: number of ring lines that are in no archive and in none of the segments.

        Returns:
            Whether the file has everything.
        """
        self._copies_rest = not self._is_over.is_set() and (reader_has_ended or self.attempt is not None)
        self._reader_has_ended, self._missing_lines = reader_has_ended, missing_lines
        self._is_over.set()
        written = -1
        while self.is_alive() and self._file_bytes > written:
            written = self._file_bytes
            self.join(_REST_S)
        return self._has_rest

    # ---- the thread ----

    def run(self) -> None:
        """Copy at intervals until the end is requested, or a write fails."""
        due_s = time.monotonic() + self._first_s
        while not self._is_over.wait(max(0.0, due_s - time.monotonic())):
            self._copy()
            due_s = time.monotonic() + self._every_s
        if self._copies_rest:
            self._copy(announces=True)
            is_last = len(self._segments) == 1 and self._at == self._segments[0].written[0]
            self._has_rest = self.attempt is not None and is_last
        self._close()

    def _copy(self, *, announces: bool = False) -> None:
        """Copy the data that is not in the file yet; with ``announces`` after a frame that announces it."""
        try:
            if announces:
                self._announce()
            while self._copy_first_segment():
                pass
        except OSError:  # usually lack of space, which archives need more while there are some
            self._is_over.set()
            if self._reader_has_ended and (self.copied or self._has_announced):
                return
            if self.attempt is not None:
                with contextlib.suppress(OSError):
                    path_of_copy(self._stem, self.attempt).unlink()
            self.attempt = None

    def _announce(self) -> None:
        """Write how many lines should follow."""
        lines = self._missing_lines + sum(each.written[1] for each in self._segments) - self._lines_at
        if not lines and not any(each.written[0] for each in self._segments):
            return
        frame = ANNOUNCEMENT.pack(ANNOUNCED, 8, 0, lines)
        if self._file < 0:
            self._open(frame)
        else:
            self._write(frame)
        self._has_announced = True

    def _copy_first_segment(self) -> bool:
        """Copy the first segment as far as it is written. Return whether others follow."""
        with self._lock:
            if not self._segments:
                return False
            segment, is_complete = self._segments[0], len(self._segments) > 1
        end, lines = segment.written  # read after it is known to be complete
        if self.copied + end - self._at > self._most_bytes:
            self._is_over.set()
            return False
        if self._file < 0 and end:
            self._open()
        while self._at < end:
            sent = os.sendfile(self._file, segment.descriptor, self._at, min(_AT_ONCE, end - self._at))
            if not sent:
                raise OSError(f"{end - self._at} bytes are not there")
            self._at += sent
            self.copied += sent
            self._file_bytes += sent
        self._lines_at = lines
        if is_complete:
            with self._lock:
                self._segments.popleft()
                self._returned_bytes -= end if segment.is_returned else 0
            os.close(segment.descriptor)
            self._at = self._lines_at = 0
        return is_complete

    def _open(self, announcement: bytes = b"") -> None:
        for attempt in range(_MAX_ALIKE):
            path = path_of_copy(self._stem, attempt)
            try:
                self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            except FileExistsError:
                continue
            self.attempt = attempt
            about = msgspec.msgpack.encode(self._origin)
            self._write(HEAD.pack(MAGIC, VERSION, LAYOUT, len(about)) + about + announcement)
            self._has_announced = bool(announcement)
            self._write(self._before)
            return
        raise FileExistsError(f"there are {_MAX_ALIKE} files of that name")

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            written = os.write(self._file, rest[:_AT_ONCE])
            rest = rest[written:]
            self._file_bytes += written

    def _close(self) -> None:
        with self._lock:
            for segment in self._segments:
                os.close(segment.descriptor)
            self._segments.clear()
            self._has_closed = True
        if self._file >= 0:
            with contextlib.suppress(OSError):
                os.close(self._file)
            self._file = -1
        self.has_ended = True
