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
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from ....settings import SpoolSettings
from ..records.lines import Lines
from ..records.packing import Packer
from ..records.ring_layout import LINE_BYTES

_MEMORY_SEGMENT: Final = 4 << 20
_DISK_SEGMENT: Final = 64 << 20
_SPARE: Final = 2
"""Memory segments that are kept for reuse, to avoid new page allocations."""
_LEFT_FREE: Final = 2 * _DISK_SEGMENT
"""Space left free on the file system of the files."""
_RESERVED_LINES: Final = 16_384
FRAME: Final = struct.Struct("<IIQ")
"""kind, size of the payload in bytes, token. The next frame begins at a multiple of 8 bytes."""
PAIR: Final = struct.Struct("<iI")
PROGRESS: Final = struct.Struct("<QQQQ")
"""segment, bytes and lines written, and whether it is complete."""
DONE: Final = struct.Struct("<Q")
BEGUN, TOLD, LINES, LOG, SETTLED, MALFORMED, ENDED, REFUSED, UNHEARD, PACKED, OUTLIVED = range(1, 12)
TO_THE_END: Final = 2**64 - 1
_PADDING: Final = [bytes(each) for each in range(8)]

Buffer = bytes | memoryview


@dataclass(slots=True)
class _Segment:
    number: int
    descriptor: int
    size: int
    on_disk: bool
    used: int = 0
    lines: int = 0
    told: int = -1
    complete: bool = False


class SpoolWriter:
    """Writes a drain's data to the spool.

    Args:
        channel: non-blocking SOCK_SEQPACKET socket to the reader.
        bounds: bounds of the waiting data.
    """

    def __init__(self, channel: socket.socket, bounds: SpoolSettings) -> None:
        self.asked_to_end = False
        """The reader has requested all remaining data and then the end."""
        self.reader_gone = False
        self._channel = channel
        self._bounds = bounds
        self._numbers = 0
        self._current: _Segment | None = None
        self._untold: deque[_Segment] = deque()
        self._held: dict[int, _Segment] = {}
        self._spare: list[int] = []
        self._memory_bytes = 0
        self._disk_bytes = 0
        self._disk_failed = False
        self._packer = Packer()

    @property
    def room(self) -> int:
        """Number of lines that may be written now."""
        free = self._current.size - self._current.used if self._current is not None else 0
        memory = self._bounds.memory_bytes - self._memory_bytes
        free += max(0, memory)
        # The file system is queried only if files are next.
        free += self._free_on_disk(ask=memory < _MEMORY_SEGMENT)
        return max(0, free // (LINE_BYTES + 1) - _RESERVED_LINES)

    # ---- receiver of a drain ----

    def image_started(self, token: int, pid: int, header: bytes, *, follows: bool) -> None:
        """Write that a process image has begun."""
        self._write(BEGUN, token, PAIR.pack(pid, follows), header)

    def told(self, token: int, rank: int, ranks: int, counts: dict[str, int]) -> None:
        """Write the rank and counters of a process."""
        self._write(TOLD, token, msgspec.msgpack.encode((rank, ranks, counts)))

    def lines(self, token: int, tid: int, lines: Lines) -> None:
        """Write lines of a ring."""
        packed = self._packer.packed(lines)
        pair = PAIR.pack(tid, len(lines))
        if packed is None:
            self._write(LINES, token, pair, lines.data, lines=len(lines))
        else:
            self._write(PACKED, token, pair, packed, lines=len(lines))

    def log(self, token: int, entries: bytes) -> None:
        """Write definitions."""
        self._write(LOG, token, entries)

    def settled(self, token: int) -> None:
        """Write that all needed definitions have arrived."""
        self._write(SETTLED, token)

    def malformed(self, token: int, problem: str) -> None:
        """Write that the log violated the layout."""
        self._write(MALFORMED, token, problem.encode(errors="replace"))

    def still_running(self, token: int) -> None:
        """Write that a process still runs, although nothing more of it is read."""
        self._write(OUTLIVED, token)

    def ended(self, token: int) -> None:
        """Write that a process image has ended."""
        self._write(ENDED, token)

    def refused(self, counter: str, problem: str) -> None:
        """Write that a process was refused."""
        self._write(REFUSED, 0, msgspec.msgpack.encode((counter, problem)))

    def unreachable(self, job: str, command: str, failure: str) -> None:
        """Write that a process could not reach the socket."""
        self._write(UNHEARD, 0, msgspec.msgpack.encode((job, command, failure)))

    # ---- the channel ----

    def exchange(self) -> None:
        """Report progress, and process the reader's messages; does not block."""
        self._tell()
        while True:
            try:
                said = self._channel.recv(64)
            except BlockingIOError:
                return
            except OSError:
                said = b""
            if len(said) != DONE.size:
                self.reader_gone = True
                return
            (number,) = DONE.unpack(said)
            if number == TO_THE_END:
                self.asked_to_end = True
            elif (segment := self._held.pop(number, None)) is not None:
                self._recycle(segment)

    @property
    def has_told(self) -> bool:
        """True when the reader knows about everything written."""
        return not self._untold

    def end(self) -> None:
        """Completes the last segment: nothing follows."""
        self._complete()
        self._untold.append(_Segment(TO_THE_END, -1, 0, on_disk=False, complete=True))

    def _tell(self) -> None:
        while self._untold:
            segment = self._untold[0]
            if segment.told != segment.used or segment.complete:
                message = PROGRESS.pack(segment.number, segment.used, segment.lines, segment.complete)
                descriptors = [segment.descriptor] if segment.told < 0 and segment.descriptor >= 0 else []
                try:
                    socket.send_fds(self._channel, [message], descriptors)
                except BlockingIOError:
                    return
                except OSError:
                    self.reader_gone = True
                    return
                segment.told = segment.used
            if not segment.complete:
                return
            self._untold.popleft()

    # ---- segments ----

    def _write(self, kind: int, token: int, *parts: Buffer, lines: int = 0) -> None:
        payload = sum(part.nbytes if isinstance(part, memoryview) else len(part) for part in parts)
        size = (FRAME.size + payload + 7) & ~7
        buffers = [FRAME.pack(kind, payload, token), *parts, _PADDING[size - FRAME.size - payload]]
        while True:
            segment = self._segment(size)
            if _written(segment.descriptor, buffers, segment.used) == size:
                segment.used += size
                segment.lines += lines
                return
            if not segment.on_disk:
                raise MemoryError("no memory for what traced programs record")
            self._disk_failed = True
            self._complete()

    def _segment(self, size: int) -> _Segment:
        if self._current is not None and self._current.used + size <= self._current.size:
            return self._current
        self._complete()
        self._numbers += 1
        segment = self._on_disk(size) or self._in_memory(size)
        self._current = self._held[segment.number] = segment
        self._untold.append(segment)
        return segment

    def _complete(self) -> None:
        if self._current is not None:
            self._current.complete = True
            self._current = None

    def _on_disk(self, size: int) -> _Segment | None:
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
        return _Segment(self._numbers, descriptor, max(size, _DISK_SEGMENT), on_disk=True)

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
            free = min(free, status.f_bavail * status.f_frsize - _LEFT_FREE + _DISK_SEGMENT)
        return max(0, free) // _DISK_SEGMENT * _DISK_SEGMENT

    def _folder(self) -> Path:
        return self._bounds.folder or Path(tempfile.gettempdir())

    def _in_memory(self, size: int) -> _Segment:
        """Return a memory segment, even beyond the bound. Data other than lines is small and cannot wait in a ring."""
        size = max(size, _MEMORY_SEGMENT)
        self._memory_bytes += size
        descriptor = self._spare.pop() if self._spare else os.memfd_create("iotide-spool", os.MFD_CLOEXEC)
        return _Segment(self._numbers, descriptor, size, on_disk=False)

    def _recycle(self, segment: _Segment) -> None:
        if segment.on_disk:
            self._disk_bytes -= _DISK_SEGMENT
            self._disk_failed = False
        else:
            self._memory_bytes -= segment.size
            if len(self._spare) < _SPARE and segment.size == _MEMORY_SEGMENT:
                self._spare.append(segment.descriptor)
                return
        os.close(segment.descriptor)


def _written(descriptor: int, buffers: list[Buffer], at: int) -> int:
    """Write buffers; returns fewer bytes than their size, or -1, if there is no space."""
    try:
        return os.pwritev(descriptor, buffers, at)
    except OSError:
        return -1
