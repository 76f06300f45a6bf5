"""Copy unread data to a file. An analysis may be killed before it has archived anything.

The copy is made while nothing has been read, so it begins with the first process and can be read on its own. Once
reading begins, archives preserve the data.
"""

from __future__ import annotations

import contextlib
import os
import struct
import threading
import time
from pathlib import Path
from typing import Final

import msgspec

from ....source import Origin
from ..records.ring_layout import LAYOUT

MAGIC: Final = b"IOTIDESP"
VERSION: Final = 1
HEAD: Final = struct.Struct("<8sHHI")
"""magic, version, layout of the lines, size of the origin that follows as MessagePack. Then frames."""
SUFFIX: Final = ".spool"
_FIRST_S: Final = 1.0
_EVERY_S: Final = 0.5
_AT_ONCE: Final = 4 << 20
_MAX_ALIKE: Final = 100

Unread = list[tuple[int, int]]
"""Descriptor and written size of each segment."""


class UnreadSegments:
    """Segments that a reader has received and not touched; for another thread, until reading begins."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._segments: Unread | None = []

    def set_segments(self, segments: Unread) -> None:
        """Set the waiting segments."""
        with self._lock:
            if self._segments is not None:
                self._segments = segments

    def end(self) -> None:
        """Record that reading begins; the reader then returns segments to the writer."""
        with self._lock:
            self._segments = None

    @property
    def ended(self) -> bool:
        """Whether reading has begun."""
        return self._segments is None

    def duplicates(self, first: int) -> Unread:
        """Return the segments from a number on, with descriptors owned by the caller.

        Returns none once reading has begun.
        """
        with self._lock:
            return [(os.dup(descriptor), end) for descriptor, end in (self._segments or [])[first:]]


class UnreadCopy(threading.Thread):
    """Copies waiting data at intervals until reading begins; removes its file if copying fails.

    Args:
        stem: path of the file without its suffix; in a writable folder.
        origin: origin of the streams.
        segments: segments of waiting data.
        most_bytes: maximum size of the file; later data is not copied.
        first_s: time without reading before the first copy.
        every_s: interval of later copies.
    """

    def __init__(
        self,
        stem: Path,
        origin: Origin,
        segments: UnreadSegments,
        most_bytes: int,
        *,
        first_s: float = _FIRST_S,
        every_s: float = _EVERY_S,
    ) -> None:
        super().__init__(name="unread", daemon=True)
        self.path: Path | None = None
        """The file; None while there is none."""
        self.copied = 0
        """Bytes of segments that are in the file."""
        self._stem, self._origin, self._segments, self._most_bytes = stem, origin, segments, most_bytes
        self._first_s, self._every_s = first_s, every_s
        self._stopped = threading.Event()
        self._file = -1
        self._number = self._at = 0

    def run(self) -> None:
        """Run until it is stopped, reading begins, or a write fails."""
        due_s = time.monotonic() + self._first_s
        try:
            while not self._segments.ended and not self._stopped.wait(max(0.0, due_s - time.monotonic())):
                self._copy()
                due_s = time.monotonic() + self._every_s
        except OSError:  # usually lack of space, which archives need more
            self._unlink()
        finally:
            if self._file >= 0:
                with contextlib.suppress(OSError):
                    os.close(self._file)

    def stop(self) -> None:
        """Stop the thread; the file remains."""
        self._stopped.set()
        self.join()

    def remove(self) -> None:
        """Stop the thread, and remove the file."""
        self.stop()
        self._unlink()

    def _unlink(self) -> None:
        if self.path is not None:
            with contextlib.suppress(OSError):
                self.path.unlink()
            self.path = None

    def _copy(self) -> None:
        """Copy data that is not in the file yet."""
        found = self._segments.duplicates(self._number)
        try:
            for place, (descriptor, end) in enumerate(found):
                if place:
                    self._number, self._at = self._number + 1, 0
                if self.copied + end - self._at > self._most_bytes or not self._copy_to(end, descriptor):
                    self._stopped.set()
                    return
        finally:
            for descriptor, _ in found:
                os.close(descriptor)

    def _copy_to(self, end: int, descriptor: int) -> bool:
        """Copy a segment up to its written end; False if reading began meanwhile."""
        if self._file < 0:
            self._open()
        while self._at < end:
            before = os.lseek(self._file, 0, os.SEEK_CUR)
            sent = os.sendfile(self._file, descriptor, self._at, min(_AT_ONCE, end - self._at))
            if self._segments.ended:  # the segment may have been returned and overwritten
                os.ftruncate(self._file, before)
                return False
            if not sent:
                raise OSError(f"{end - self._at} bytes are not there")
            self._at += sent
            self.copied += sent
        return True

    def _open(self) -> None:
        for attempt in range(_MAX_ALIKE):
            path = self._stem.with_name(f"{self._stem.name}{f'-{attempt}' if attempt else ''}{SUFFIX}")
            try:
                self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            except FileExistsError:
                continue
            self.path = path
            about = msgspec.msgpack.encode(self._origin)
            os.write(self._file, HEAD.pack(MAGIC, VERSION, LAYOUT, len(about)) + about)
            return
        raise FileExistsError(f"there are {_MAX_ALIKE} files of that name")
