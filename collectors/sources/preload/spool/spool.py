"""Spool of a drain's data between two processes. It is in bounded memory and then in bounded files.

The spool is a sequence of segments, each memory or an unnamed file, that contain frames. The writer reports its
progress over a socket, with a segment's descriptor the first time. The reader reports the segments that it has
finished. So neither waits for the other, and written data survives the writer.
"""

from __future__ import annotations

import os
import socket
import struct
import tempfile
from collections import deque
from pathlib import Path
from typing import Final

import msgspec

from ....settings import SpoolSettings
from ..records.lines import Lines
from ..records.packing import Packer
from ..records.ring_layout import LINE_BYTES
from ..rings.ended_process import lines_in
from .unarchived import Buffer, Segment, Unarchived
from .unread_copy import UnreadCopy

_MEMORY_SEGMENT: Final = 4 << 20
_DISK_SEGMENT: Final = 64 << 20
_MAX_SPARE_SEGMENTS: Final = 2
"""Memory segments that are kept for reuse, to avoid new page allocations."""
_MIN_FREE_BYTES: Final = 2 * _DISK_SEGMENT
"""Space left free on the file system of the files."""
_RESERVED_LINES: Final = 16_384
FRAME: Final = struct.Struct("<IIQ")
"""kind, size of the payload in bytes, token. The next frame begins at a multiple of 8 bytes."""
PAIR: Final = struct.Struct("<iI")
PROGRESS: Final = struct.Struct("<QQQQ")
"""segment, bytes and lines written, and whether it is complete."""
SEGMENT_READ: Final = struct.Struct("<Q")
IMAGE_STARTED, COUNTERS, LINES, DEFINITIONS, SETTLED, MALFORMED = range(1, 7)
ENDED, REFUSED, UNREACHABLE, PACKED, STILL_RUNNING, ENDED_PROCESSES = range(7, 13)  # 13: ANNOUNCED
TO_THE_END: Final = 2**64 - 1
COPY: Final = 2**64 - 2
"""In place of a segment's number: a report of the unread copy (its bytes, the number of its name from 1, whether it has
ended), or the request to end it."""
ARCHIVED: Final = 1 << 63
"""Added to a segment's number: an archive has the calls up to it. With the next one, nothing needs to be saved."""
ALL_ARCHIVED: Final = 2**64 - 3
_END_OF_COPY_S: Final = 0.02
"""Time for which the end of the copy is awaited, so that it is reported at once."""
_PADDING: Final = [bytes(each) for each in range(8)]
_SMALL: Final = 4096
"""Maximum size of a frame that waits for others, bytes: a system call costs more than a copy."""
_WRITE_AT_ONCE: Final = 65_536
"""Size of waiting frames that are written, bytes."""


class SpoolWriter:
    """Writes a drain's data to the spool.

    Args:
        channel: non-blocking SOCK_SEQPACKET socket to the reader.
        bounds: bounds of the waiting data.
        copy: running copy of the data for the case that the reader is killed; None for no copy.
        unarchived: keeps the data that is in no archive for that case; None: nothing is kept.
    """

    def __init__(
        self,
        channel: socket.socket,
        bounds: SpoolSettings,
        copy: UnreadCopy | None = None,
        unarchived: Unarchived | None = None,
    ) -> None:
        self.end_requested = False
        """The reader has requested all remaining data and then the end."""
        self.reader_has_ended = False
        self._channel = channel
        self._bounds = bounds
        self._copy = copy
        self._reported_copy: tuple[int | None, bool] = (None, False)
        self._unarchived = unarchived
        self._is_copied = False
        self._numbers = 0
        self._current: Segment | None = None
        self._unreported: deque[Segment] = deque()
        self._unread: dict[int, Segment] = {}
        self._spare_descriptors: list[int] = []
        self._memory_bytes = 0
        self._disk_bytes = 0
        self._disk_failed = False
        self._packer = Packer()
        self._frames: list[bytes] = []
        """Frames that were not written to a segment yet."""
        self._frame_bytes = self._frame_lines = 0
        self._stored_bytes = 0  # in all segments so far

    @property
    def free_lines(self) -> int:
        """Number of lines that may be written now."""
        free = (self._current.size - self._current.used if self._current is not None else 0) - self._frame_bytes
        memory = self._bounds.memory_bytes - self._memory_bytes
        free += max(0, memory)
        # The file system is queried only if files are next.
        free += self._free_on_disk(ask=memory < _MEMORY_SEGMENT)
        return max(0, free // (LINE_BYTES + 1) - _RESERVED_LINES)

    # ---- receiver of a drain ----

    def image_started(self, token: int, pid: int, header: bytes, *, follows: bool) -> None:
        """Write that a process image has begun."""
        self._write_beginning(IMAGE_STARTED, token, PAIR.pack(pid, follows), header)

    def counters(self, token: int, rank: int, ranks: int, counts: dict[str, int]) -> None:
        """Write the rank and counters of a process."""
        self._write_beginning(COUNTERS, token, msgspec.msgpack.encode((rank, ranks, counts)))

    def lines(self, token: int, tid: int, lines: Lines) -> None:
        """Write lines of a ring."""
        packed = self._packer.packed(lines)
        pair = PAIR.pack(tid, len(lines))
        if packed is None:
            self._write(LINES, token, pair, lines.data, lines=len(lines))
        else:
            self._write(PACKED, token, pair, packed, lines=len(lines))

    def definitions(self, token: int, entries: bytes) -> None:
        """Write definitions."""
        self._write_beginning(DEFINITIONS, token, entries)

    def settled(self, token: int) -> None:
        """Write that all needed definitions have arrived."""
        self._write(SETTLED, token)

    def malformed(self, token: int, problem: str) -> None:
        """Write that the log violated the layout."""
        self._write(MALFORMED, token, problem.encode(errors="replace"))

    def still_running(self, token: int) -> None:
        """Write that a process still runs, although nothing more of it is read."""
        self._write(STILL_RUNNING, token)

    def ended(self, token: int) -> None:
        """Write that a process image has ended."""
        self._write(ENDED, token)
        if self._unarchived is not None:
            end = self._stored_bytes + self._frame_bytes
            self._unarchived.beginnings.add_end(token, end, self._stored_bytes)

    def ended_processes(self, data: bytes) -> None:
        """Write processes that have ended."""
        self._write(ENDED_PROCESSES, 0, data, lines=lines_in(data))

    def refused(self, counter: str, problem: str, job: str | None) -> None:
        """Write that a process was refused."""
        self._write(REFUSED, 0, msgspec.msgpack.encode((counter, problem, job)))

    def unreachable(self, job: str, command: str, failure: str) -> None:
        """Write that a process could not reach the socket."""
        self._write(UNREACHABLE, 0, msgspec.msgpack.encode((job, command, failure)))

    # ---- the channel ----

    def exchange(self) -> None:
        """Report progress, and process the reader's messages; does not block."""
        self._write_frames()
        if self._report_copy():
            self._report_progress()
        while True:
            if (message := self._received()) is None:
                return
            if len(message) != SEGMENT_READ.size:
                self.reader_has_ended = True
                return
            (number,) = SEGMENT_READ.unpack(message)
            if number == TO_THE_END:
                self.end_requested = True
            elif number == COPY:
                self._end_copy()
            elif number >= ARCHIVED:
                self._forget_archived(number)
            elif (segment := self._unread.pop(number, None)) is not None:
                self._recycle(segment)

    def _received(self) -> bytes | None:
        """Return the reader's next message, empty if it has ended; None if there is none yet."""
        try:
            return self._channel.recv(64)
        except BlockingIOError:
            return None
        except ConnectionResetError:  # reported once if the reader left reports unread; its messages follow
            return self._received()
        except OSError:
            return b""

    @property
    def has_reported_all(self) -> bool:
        """True when the reader knows about everything written."""
        return not self._unreported

    def end(self) -> None:
        """Completes the last segment: nothing follows."""
        self._write_frames()
        self._complete()
        if self._copy is not None:
            self._is_copied = self._copy.finish(reader_has_ended=self.reader_has_ended)
        self._unreported.append(Segment(TO_THE_END, -1, self._stored_bytes, 0, on_disk=False, complete=True))

    @property
    def is_archived(self) -> bool:
        """True when nothing needs to be saved if the reader is killed now."""
        return self._unarchived is None or self._is_copied

    def save_unarchived(self) -> None:
        """Write what is in no archive and in no copy to a file, because the reader was killed; after ``end``."""
        if self._unarchived is not None and not self._is_copied:
            self._unarchived.save(self._unread.values())

    def _forget_archived(self, number: int) -> None:
        if self._unarchived is None:
            return
        for segment in self._unarchived.drop_to(number ^ ARCHIVED):
            self._free(segment)
        self._unarchived.forget_before(self._unread.values(), self._stored_bytes)
        if number == ALL_ARCHIVED:
            self._unarchived = None

    def _end_copy(self) -> None:
        if self._copy is not None:
            self._copy.end(_END_OF_COPY_S)
            self._report_copy()

    def _report_copy(self) -> bool:
        """Report the name and the end of the copy, before the end of everything. Return whether that was possible."""
        copy = self._copy
        if copy is None or (state := (copy.attempt, copy.has_ended)) == self._reported_copy:
            return True
        number = 0 if copy.attempt is None else copy.attempt + 1
        if not self._send(PROGRESS.pack(COPY, copy.copied, number, copy.has_ended)):
            return False
        self._reported_copy = state
        return True

    def _send(self, message: bytes, *descriptors: int) -> bool:
        """Send a message; False if the channel is full or the reader has ended."""
        try:
            socket.send_fds(self._channel, [message], descriptors)
        except BlockingIOError:
            return False
        except OSError:
            self.reader_has_ended = True
            return False
        return True

    def _report_progress(self) -> None:
        while self._unreported:
            segment = self._unreported[0]
            if segment.reported != segment.used or segment.complete:
                message = PROGRESS.pack(segment.number, segment.used, segment.lines, segment.complete)
                descriptors = [segment.descriptor] if segment.reported < 0 and segment.descriptor >= 0 else []
                if not self._send(message, *descriptors):
                    return
                segment.reported = segment.used
            if not segment.complete:
                return
            self._unreported.popleft()

    # ---- segments ----

    def _write(self, kind: int, token: int, *parts: Buffer, lines: int = 0) -> None:
        self._add(*_framed(kind, token, parts), lines)

    def _write_beginning(self, kind: int, token: int, *parts: bytes) -> None:
        """Write a frame that must precede later ones of its process."""
        position = self._stored_bytes + self._frame_bytes
        framed, size = _framed(kind, token, parts)
        frame = b"".join(framed)
        self._add([frame], size, 0)
        if self._unarchived is not None:
            self._unarchived.beginnings.add(token, position, frame, is_last=kind == COUNTERS)

    def _add(self, frame: list[Buffer], size: int, lines: int) -> None:
        """Write a frame; a small one with later ones."""
        if size > _SMALL:
            self._write_frames()
            self._store(frame, size, lines)
            return
        self._frames.append(b"".join(frame))
        self._frame_bytes += size
        self._frame_lines += lines
        if self._frame_bytes >= _WRITE_AT_ONCE:
            self._write_frames()

    def _write_frames(self) -> None:
        """Write the waiting frames."""
        if not self._frames:
            return
        data, size, lines = b"".join(self._frames), self._frame_bytes, self._frame_lines
        self._frames, self._frame_bytes, self._frame_lines = [], 0, 0
        self._store([data], size, lines)

    def _store(self, buffers: list[Buffer], size: int, lines: int) -> None:
        while True:
            segment = self._segment(size)
            if segment.write(buffers) == size:
                segment.used += size
                self._stored_bytes += size
                segment.lines += lines
                if self._copy is not None:
                    self._copy.written(segment.number, segment.descriptor, segment.used, segment.lines)
                return
            if not segment.on_disk:
                raise MemoryError("no memory for what traced programs record")
            self._disk_failed = True
            self._complete()

    def _segment(self, size: int) -> Segment:
        if self._current is not None and self._current.used + size <= self._current.size:
            return self._current
        self._complete()
        self._numbers += 1
        segment = self._disk_segment(size) or self._memory_segment(size)
        self._current = self._unread[segment.number] = segment
        self._unreported.append(segment)
        return segment

    def _complete(self) -> None:
        if self._current is not None:
            self._current.complete = True
            self._current = None

    def _disk_segment(self, size: int) -> Segment | None:
        """Return a file segment if there is no room in memory but in files. Otherwise None."""
        if self._memory_bytes + _MEMORY_SEGMENT <= self._bounds.memory_bytes or not self._free_on_disk(ask=True):
            return None
        try:
            descriptor, name = tempfile.mkstemp(prefix="iotide-", dir=self._folder())
            os.unlink(name)  # noqa: PTH108
        except OSError:
            self._disk_failed = True
            return None
        self._disk_bytes += _DISK_SEGMENT
        return Segment(self._numbers, descriptor, self._stored_bytes, max(size, _DISK_SEGMENT), on_disk=True)

    def _free_on_disk(self, *, ask: bool) -> int:
        """Return the free bytes for further files within the bound.

        With ``ask`` the file system's free space is a limit, too.
        """
        if self._disk_failed:
            return 0
        free = self._bounds.disk_bytes - self._disk_bytes
        if ask:
            try:
                status = os.statvfs(self._folder())
            except OSError:
                self._disk_failed = True
                return 0
            free = min(free, status.f_bavail * status.f_frsize - _MIN_FREE_BYTES + _DISK_SEGMENT)
        return max(0, free) // _DISK_SEGMENT * _DISK_SEGMENT

    def _folder(self) -> Path:
        return self._bounds.folder or Path(tempfile.gettempdir())

    def _memory_segment(self, size: int) -> Segment:
        """Return a memory segment, even beyond the bound. Data other than lines is small and cannot wait in a ring."""
        size = max(size, _MEMORY_SEGMENT)
        self._memory_bytes += size
        spare = self._spare_descriptors
        descriptor = spare.pop() if spare else os.memfd_create("iotide-spool", os.MFD_CLOEXEC)
        return Segment(self._numbers, descriptor, self._stored_bytes, size, on_disk=False)

    def _recycle(self, segment: Segment) -> None:
        """Take back a segment that was read."""
        is_copied = self._copy is None or self._copy.returned(segment.number)
        segment.has_other_use = is_copied and not segment.on_disk and segment.size == _MEMORY_SEGMENT
        if segment.on_disk:
            self._disk_bytes -= _DISK_SEGMENT
            self._disk_failed = False
        else:
            self._memory_bytes -= segment.size
        for each in [segment] if self._unarchived is None else self._unarchived.keep(segment):
            self._free(each)
        if self._unarchived is not None:
            self._unarchived.forget_before(self._unread.values(), self._stored_bytes)

    def _free(self, segment: Segment) -> None:
        if segment.has_other_use and len(self._spare_descriptors) < _MAX_SPARE_SEGMENTS:
            self._spare_descriptors.append(segment.descriptor)
        else:
            os.close(segment.descriptor)


def _framed(kind: int, token: int, parts: tuple[Buffer, ...]) -> tuple[list[Buffer], int]:
    """Return a frame and its size."""
    payload = sum(part.nbytes if isinstance(part, memoryview) else len(part) for part in parts)
    size = (FRAME.size + payload + 7) & ~7
    return [FRAME.pack(kind, payload, token), *parts, _PADDING[size - FRAME.size - payload]], size
