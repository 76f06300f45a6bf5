"""What a drain hands on, kept between two processes: in memory up to a bound, past it in files, past these not taken.

A row of segments, each a piece of memory or a file without a name, holds frames. The writer tells over a socket how far
it has come, with a segment's descriptor the first time; the reader tells which segments it has done with. So nobody
waits for the other, and what the writer has written is there when it is gone.
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
import tempfile
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

import msgspec
import numpy as np
import numpy.typing as npt

from ...settings import SpoolSettings
from .drain import Taker
from .lines import Lines
from .ring_layout import LINE_BYTES

_MEMORY_SEGMENT: Final = 4 << 20
_DISK_SEGMENT: Final = 64 << 20
_SPARE: Final = 2
"""Segments of memory that are kept to be written anew, whose pages need not be made again."""
_LEFT_FREE: Final = 2 * _DISK_SEGMENT
"""Of the file system of the files."""
_RESERVED_LINES: Final = 16_384
_READ_AT_ONCE: Final = 2 << 20
_FRAME: Final = struct.Struct("<IIQ")
"""kind, bytes of what follows, token; the next frame begins at a multiple of 8 bytes."""
_PAIR: Final = struct.Struct("<iI")
_PROGRESS: Final = struct.Struct("<QQQ")
"""segment, bytes written, and whether it is complete."""
_DONE: Final = struct.Struct("<Q")
_BEGUN, _TOLD, _LINES, _LOG, _SETTLED, _MALFORMED, _ENDED, _REFUSED, _UNHEARD = range(1, 10)
_TO_THE_END: Final = 2**64 - 1
_PADDING: Final = [bytes(each) for each in range(8)]

Buffer = bytes | memoryview


@dataclass(slots=True)
class _Segment:
    number: int
    descriptor: int
    size: int
    on_disk: bool
    used: int = 0
    told: int = -1
    complete: bool = False


class SpoolWriter:
    """Takes what a drain hands on.

    Args:
        channel: to the reader, SOCK_SEQPACKET, not blocking.
        bounds: of what waits.
    """

    def __init__(self, channel: socket.socket, bounds: SpoolSettings) -> None:
        self.asked_to_end = False
        """The reader wants all that is there, and then the end."""
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

    @property
    def room(self) -> int:
        """Lines that may be written now."""
        free = self._current.size - self._current.used if self._current is not None else 0
        free += max(0, self._bounds.memory_bytes - self._memory_bytes)
        if not self._disk_failed:
            free += max(0, self._bounds.disk_bytes - self._disk_bytes) // _DISK_SEGMENT * _DISK_SEGMENT
        return max(0, free // (LINE_BYTES + 1) - _RESERVED_LINES)

    # ---- what a drain hands on ----

    def begun(self, token: int, pid: int, header: bytes, *, follows: bool) -> None:
        """Writes that a process image has begun."""
        self._write(_BEGUN, token, _PAIR.pack(pid, follows), header)

    def told(self, token: int, rank: int, ranks: int, counts: dict[str, int]) -> None:
        """Writes what a process says of itself."""
        self._write(_TOLD, token, msgspec.msgpack.encode((rank, ranks, counts)))

    def lines(self, token: int, tid: int, lines: Lines) -> None:
        """Writes lines of a ring."""
        self._write(_LINES, token, _PAIR.pack(tid, len(lines)), lines.data)

    def log(self, token: int, entries: bytes) -> None:
        """Writes definitions."""
        self._write(_LOG, token, entries)

    def settled(self, token: int) -> None:
        """Writes that the definitions have come."""
        self._write(_SETTLED, token)

    def malformed(self, token: int, problem: str) -> None:
        """Writes that the log broke the layout."""
        self._write(_MALFORMED, token, problem.encode(errors="replace"))

    def ended(self, token: int) -> None:
        """Writes that a process image has ended."""
        self._write(_ENDED, token)

    def refused(self, counter: str, problem: str) -> None:
        """Writes that a process was not taken."""
        self._write(_REFUSED, 0, msgspec.msgpack.encode((counter, problem)))

    def unheard(self, job: str, command: str, failure: str) -> None:
        """Writes that a process could not reach the socket."""
        self._write(_UNHEARD, 0, msgspec.msgpack.encode((job, command, failure)))

    # ---- the channel ----

    def exchange(self) -> None:
        """Tells how far it has come, and takes in what the reader says; neither waits."""
        self._tell()
        while True:
            try:
                said = self._channel.recv(64)
            except BlockingIOError:
                return
            except OSError:
                said = b""
            if len(said) != _DONE.size:
                self.reader_gone = True
                return
            (number,) = _DONE.unpack(said)
            if number == _TO_THE_END:
                self.asked_to_end = True
            elif (segment := self._held.pop(number, None)) is not None:
                self._recycle(segment)

    @property
    def has_told(self) -> bool:
        """True when the reader knows of all that was written."""
        return not self._untold

    def end(self) -> None:
        """Completes the last segment: nothing follows."""
        self._complete()
        self._untold.append(_Segment(_TO_THE_END, -1, 0, on_disk=False, complete=True))

    def _tell(self) -> None:
        while self._untold:
            segment = self._untold[0]
            if segment.told != segment.used or segment.complete:
                message = _PROGRESS.pack(segment.number, segment.used, segment.complete)
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

    def _write(self, kind: int, token: int, *parts: Buffer) -> None:
        payload = sum(part.nbytes if isinstance(part, memoryview) else len(part) for part in parts)
        size = (_FRAME.size + payload + 7) & ~7
        buffers = [_FRAME.pack(kind, payload, token), *parts, _PADDING[size - _FRAME.size - payload]]
        while True:
            segment = self._segment(size)
            if _written(segment.descriptor, buffers, segment.used) == size:
                segment.used += size
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
        """Returns a file where there is no room in memory and there is in files."""
        if self._memory_bytes + _MEMORY_SEGMENT <= self._bounds.memory_bytes or self._disk_failed:
            return None
        if self._disk_bytes + _DISK_SEGMENT > self._bounds.disk_bytes:
            return None
        try:
            folder = self._bounds.folder or Path(tempfile.gettempdir())
            status = os.statvfs(folder)
            if status.f_bavail * status.f_frsize < _LEFT_FREE:
                return None
            descriptor, name = tempfile.mkstemp(prefix="iotide-", dir=folder)
            os.unlink(name)  # noqa: PTH108
        except OSError:
            self._disk_failed = True
            return None
        self._disk_bytes += _DISK_SEGMENT
        return _Segment(self._numbers, descriptor, max(size, _DISK_SEGMENT), on_disk=True)

    def _in_memory(self, size: int) -> _Segment:
        """Returns memory, also past the bound: what is no line is little, and cannot wait in its ring."""
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


@dataclass(slots=True)
class _Arrived:
    descriptor: int
    end: int
    complete: bool
    at: int = 0


class SpoolReader:
    """Hands a drain's news on, in order.

    Args:
        channel: to the writer, SOCK_SEQPACKET, not blocking.

    Attributes:
        ended: nothing more will come.
        broken: the writer was gone before it said so.
    """

    def __init__(self, channel: socket.socket) -> None:
        self.ended = False
        self.broken = False
        self._channel = channel
        self._segments: dict[int, _Arrived] = {}
        self._done: deque[int] = deque()

    @property
    def waiting_bytes(self) -> int:
        """What was written and not read."""
        return sum(segment.end - segment.at for segment in self._segments.values())

    def ask_for_the_end(self) -> None:
        """Has the writer hand on all that is there, and end."""
        self._done.append(_TO_THE_END)
        self._answer()

    def listen(self) -> None:
        """Takes in how far the writer has come."""
        while not self.ended:
            try:
                message, descriptors, _, _ = socket.recv_fds(self._channel, 64, 1)
            except BlockingIOError:
                return
            except OSError:
                message, descriptors = b"", []
            if len(message) != _PROGRESS.size:
                self.ended = self.broken = True
                return
            number, end, complete = _PROGRESS.unpack(message)
            if number == _TO_THE_END:
                self.ended = True
                return
            if descriptors:
                self._segments[number] = _Arrived(descriptors[0], end, bool(complete))
            elif (segment := self._segments.get(number)) is not None:
                segment.end, segment.complete = end, bool(complete)

    def read(self, taker: ReadTaker, most_bytes: int) -> int:
        """Hands on at most about so many bytes; returns how many."""
        self.listen()
        read = 0
        while self._segments and read < most_bytes:
            number, segment = next(iter(self._segments.items()))
            while segment.at < segment.end and read < most_bytes:
                taken = self._take(segment, taker)
                if not taken:
                    break
                read += taken
            if segment.at < segment.end or not segment.complete:
                break
            os.close(segment.descriptor)
            del self._segments[number]
            self._done.append(number)
            self._answer()
        return read

    def close(self) -> None:
        """Lets go of all that waits."""
        for segment in self._segments.values():
            os.close(segment.descriptor)
        self._segments.clear()

    def _take(self, segment: _Arrived, taker: ReadTaker) -> int:
        begin = segment.at
        size = min(_READ_AT_ONCE, segment.end - begin)
        data = _read(segment.descriptor, size, begin)
        at = 0
        while at + _FRAME.size <= size:
            kind, payload, token = _FRAME.unpack_from(data.data, at)
            length = (_FRAME.size + payload + 7) & ~7
            if at + length > size:
                if at:
                    break
                size = length
                data = _read(segment.descriptor, size, begin)
            _hand_on(taker, kind, token, data[at + _FRAME.size : at + _FRAME.size + payload])
            at += length
        segment.at += at
        return at

    def _answer(self) -> None:
        with contextlib.suppress(OSError):  # full: later; gone: nobody waits for it
            while self._done:
                self._channel.send(_DONE.pack(self._done[0]))
                self._done.popleft()


class ReadTaker(Taker, Protocol):
    """A taker that need not copy lines."""

    def own_lines(self, token: int, tid: int, lines: Lines) -> None:
        """Takes in lines that are its own from here on."""
        ...


def _hand_on(taker: ReadTaker, kind: int, token: int, payload: npt.NDArray[np.uint8]) -> None:
    if kind == _LINES:
        tid, count = _PAIR.unpack_from(payload.data)
        lines = payload[_PAIR.size : _PAIR.size + count * LINE_BYTES].view(np.uint64).reshape(-1, LINE_BYTES // 8)
        taker.own_lines(token, tid, lines)
    elif kind == _LOG:
        taker.log(token, payload.tobytes())
    elif kind == _SETTLED:
        taker.settled(token)
    elif kind == _TOLD:
        rank, ranks, counts = msgspec.msgpack.decode(payload.tobytes(), type=tuple[int, int, dict[str, int]])
        taker.told(token, rank, ranks, counts)
    elif kind == _BEGUN:
        pid, follows = _PAIR.unpack_from(payload.data)
        taker.begun(token, pid, payload[_PAIR.size :].tobytes(), follows=bool(follows))
    elif kind == _ENDED:
        taker.ended(token)
    elif kind == _MALFORMED:
        taker.malformed(token, payload.tobytes().decode())
    elif kind == _REFUSED:
        counter, problem = msgspec.msgpack.decode(payload.tobytes(), type=tuple[str, str])
        taker.refused(counter, problem)
    elif kind == _UNHEARD:
        taker.unheard(*msgspec.msgpack.decode(payload.tobytes(), type=tuple[str, str, str]))


def _read(descriptor: int, size: int, at: int) -> npt.NDArray[np.uint8]:
    data = np.empty(size, np.uint8)
    got = os.preadv(descriptor, [data.data], at)
    if got != size:
        raise EOFError(f"{size} bytes were announced at {at}, and {got} are there")
    return data


def _written(descriptor: int, buffers: list[Buffer], at: int) -> int:
    """Writes all, or less than that where there is no room."""
    try:
        return os.pwritev(descriptor, buffers, at)
    except OSError:
        return -1
