"""Reader of a spool. It passes on a drain's data in order, and releases what it has read."""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import socket
from collections import deque
from typing import Final, Protocol

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

from ..records.lines import Lines
from ..records.packing import unpacked
from ..records.ring_layout import LINE_BYTES
from ..rings.ended_process import lines_in
from ..rings.process_image import DrainReceiver
from ..rings.received_descriptors import receive_with_descriptors
from .spool import (  # fmt: skip
    ALL_ARCHIVED,
    ARCHIVED,
    COPY,
    COUNTERS,
    DEFINITIONS,
    ENDED,
    ENDED_PROCESSES,
    FRAME,
    IMAGE_STARTED,
    LINES,
    MALFORMED,
    PACKED,
    PAIR,
    PROGRESS,
    REFUSED,
    SEGMENT_READ,
    SETTLED,
    STILL_RUNNING,
    TO_THE_END,
    UNREACHABLE,
)

_READ_AT_ONCE: Final = 1 << 20
_LINES_AT_ONCE: Final = 32_768
_FEW_LINES: Final = 512


class _ReadSegment(Struct):
    descriptor: int
    end: int
    lines: int
    """Number of lines written."""
    complete: bool
    at: int = 0
    taken: int = 0
    """Number of lines read."""
    mapped: list[mmap.mmap] = field(default_factory=list)
    """Parts that were read in place and may still be in use."""

    def release(self) -> bool:
        """Releases everything that is not in use; returns whether that is all."""
        self.mapped = [part for part in self.mapped if not _unmap(part)]
        if not self.mapped:
            os.close(self.descriptor)
        return not self.mapped


class SpoolReader:
    """Passes on a drain's data, in order.

    Args:
        channel: non-blocking SOCK_SEQPACKET socket to the writer.

    Attributes:
        ended: no more data will come.
        broken: the writer disappeared without announcing the end.
        read_bytes: bytes of frames read so far.
        read_segments: number of segments read to their end.
        copy_attempt: number of the name of the writer's copy; None while there is no file.
        copied_bytes: size of the frames in that copy; None while it may grow.
    """

    def __init__(self, channel: socket.socket) -> None:
        self.ended = False
        self.broken = False
        self.read_bytes = 0
        self.read_segments = 0
        self.copy_attempt: int | None = None
        self.copied_bytes: int | None = None
        self._channel = channel
        self._segments: dict[int, _ReadSegment] = {}
        self._in_use: dict[int, _ReadSegment] = {}
        self._finished: deque[int] = deque()
        self._due_requests = set[int]()

    @property
    def waiting_bytes(self) -> int:
        """Bytes that were written and not read."""
        return sum(segment.end - segment.at for segment in self._segments.values())

    @property
    def waiting_lines(self) -> int:
        """Lines of rings that were written and not read."""
        return sum(segment.lines - segment.taken for segment in self._segments.values())

    def request_end(self) -> None:
        """Request all remaining data and then the end from the writer; another thread may call it."""
        self._request(TO_THE_END)

    def request_end_of_copy(self) -> None:
        """Request that nothing more is copied."""
        self._request(COPY)

    def report_archived(self, segments: int | None = None) -> None:
        """Report that archives have the calls of that many segments; None: those of all."""
        if segments is None or segments > 0:
            self._request(ALL_ARCHIVED if segments is None else ARCHIVED | segments)

    def _request(self, number: int) -> None:
        self._due_requests.add(number)
        self._send_requests()

    def _send_requests(self) -> None:
        """Send each request; if the channel is full, ``listen`` sends it later. Repeated ones change nothing."""
        for number in tuple(self._due_requests):
            try:
                self._channel.send(SEGMENT_READ.pack(number))
            except BlockingIOError:
                return
            except OSError:  # the writer is gone
                pass
            self._due_requests.discard(number)

    def listen(self) -> None:
        """Update the writer's progress."""
        self._send_requests()
        while not self.ended:
            try:
                message, descriptors = receive_with_descriptors(self._channel, PROGRESS.size + 1, 1)
            except BlockingIOError:
                return
            # reported once if the writer left answers unread; its messages can still be read
            except ConnectionResetError:
                continue
            except OSError:
                message, descriptors = b"", []
            if len(message) != PROGRESS.size:
                self.ended = self.broken = True
                return
            number, end, lines, complete = PROGRESS.unpack(message)
            if number == TO_THE_END:
                self.ended = True
                return
            if number == COPY:
                self.copy_attempt = lines - 1 if lines else None
                self.copied_bytes = end if complete else None
            elif descriptors:
                self._segments[number] = _ReadSegment(descriptors[0], end, lines, bool(complete))
            elif (segment := self._segments.get(number)) is not None:
                segment.end, segment.lines, segment.complete = end, lines, bool(complete)

    def read(self, receiver: OwningReceiver, most_bytes: int) -> int:
        """Pass on at most about that many bytes; returns the number."""
        self.listen()
        self._release()
        read = 0
        while self._segments and read < most_bytes:
            number, segment = next(iter(self._segments.items()))
            while segment.at < segment.end and read < most_bytes:
                taken = self._read_frames(segment, receiver)
                if not taken:
                    break
                read += taken
            if segment.at < segment.end or not segment.complete:
                break
            self._in_use[number] = self._segments.pop(number)
            self.read_segments = number
            self._release()
        return read

    def close(self) -> None:
        """Releases all waiting data."""
        for segment in (*self._segments.values(), *self._in_use.values()):
            if not segment.release():
                os.close(segment.descriptor)
        self._segments.clear()
        self._in_use.clear()

    def _release(self) -> None:
        """Return segments to the writer that were read completely and are not in use."""
        free = [number for number, segment in self._in_use.items() if segment.release()]
        for number in free:
            del self._in_use[number]
        if free:
            self._finished.extend(free)
            self._report_finished()

    def _read_frames(self, segment: _ReadSegment, receiver: OwningReceiver) -> int:
        """Pass on some frames; returns approximately their size in bytes, packed lines as unpacked."""
        begin, lines = segment.at, 0
        size = min(_READ_AT_ONCE, segment.end - begin)
        data = _segment_bytes(segment, size, begin)
        at = 0
        while at + FRAME.size <= size and lines < _LINES_AT_ONCE:
            kind, payload, token = FRAME.unpack_from(data.data, at)
            length = (FRAME.size + payload + 7) & ~7
            if at + length > size:
                if at:
                    break
                size = length
                data = _segment_bytes(segment, size, begin)
            lines += deliver_frame(receiver, kind, token, data[at + FRAME.size : at + FRAME.size + payload])
            at += length
        segment.at += at
        self.read_bytes += at
        segment.taken += lines
        return max(at, lines * LINE_BYTES)

    def _report_finished(self) -> None:
        with contextlib.suppress(OSError):  # if full, send later; if the writer is gone, the answers are not needed
            while self._finished:
                self._channel.send(SEGMENT_READ.pack(self._finished[0]))
                self._finished.popleft()


class OwningReceiver(DrainReceiver, Protocol):
    """A receiver that need not copy lines."""

    def accept_lines(self, token: int, tid: int, lines: Lines) -> None:
        """Accept lines that it owns from now on."""
        ...


def deliver_frame(receiver: OwningReceiver, kind: int, token: int, payload: npt.NDArray[np.uint8]) -> int:
    """Pass on a frame; returns the number of ring lines in it."""
    if kind in (LINES, PACKED):
        tid, count = PAIR.unpack_from(payload.data)
        receiver.accept_lines(token, tid, _lines_of(payload[PAIR.size :], count, is_packed=kind == PACKED))
        return int(count)
    if kind == DEFINITIONS:
        receiver.definitions(token, payload.tobytes())
    elif kind == SETTLED:
        receiver.settled(token)
    elif kind == COUNTERS:
        rank, ranks, counts = msgspec.msgpack.decode(payload.tobytes(), type=tuple[int, int, dict[str, int]])
        receiver.counters(token, rank, ranks, counts)
    elif kind == IMAGE_STARTED:
        pid, follows = PAIR.unpack_from(payload.data)
        receiver.image_started(token, pid, payload[PAIR.size :].tobytes(), follows=bool(follows))
    elif kind == STILL_RUNNING:
        receiver.still_running(token)
    elif kind == ENDED:
        receiver.ended(token)
    elif kind == ENDED_PROCESSES:
        receiver.ended_processes(data := payload.tobytes())
        return lines_in(data)
    elif kind == MALFORMED:
        receiver.malformed(token, payload.tobytes().decode())
    elif kind == REFUSED:
        receiver.refused(*msgspec.msgpack.decode(payload.tobytes(), type=tuple[str, str, str | None]))
    elif kind == UNREACHABLE:
        receiver.unreachable(*msgspec.msgpack.decode(payload.tobytes(), type=tuple[str, str, str]))
    return 0


def _lines_of(data: npt.NDArray[np.uint8], count: int, *, is_packed: bool) -> Lines:
    if is_packed:
        return unpacked(data, count)
    lines = data[: count * LINE_BYTES].view(np.uint64).reshape(-1, LINE_BYTES // 8)
    # Few lines may be kept for long, and would keep the segment in use.
    return lines.copy() if count < _FEW_LINES else lines


def _segment_bytes(segment: _ReadSegment, size: int, at: int) -> npt.NDArray[np.uint8]:
    """Return bytes of a segment. They are in place if it is memory, otherwise a copy, because a disk may fail."""
    try:
        fcntl.fcntl(segment.descriptor, fcntl.F_GET_SEALS)
    except OSError:
        return _read(segment.descriptor, size, at)
    if os.fstat(segment.descriptor).st_size < at + size:
        raise EOFError(f"{size} bytes were announced at {at}, and are not there")
    before = at % mmap.ALLOCATIONGRANULARITY
    flags = mmap.MAP_SHARED | mmap.MAP_POPULATE
    part = mmap.mmap(segment.descriptor, before + size, flags, mmap.PROT_READ, offset=at - before)
    segment.mapped.append(part)
    return np.frombuffer(part, np.uint8)[before:]


def _unmap(part: mmap.mmap) -> bool:
    """Unmaps a part; returns False if it is still in use."""
    try:
        part.close()
    except BufferError:
        return False
    return True


def _read(descriptor: int, size: int, at: int) -> npt.NDArray[np.uint8]:
    data = np.empty(size, np.uint8)
    got = os.preadv(descriptor, [data.data], at)
    if got != size:
        raise EOFError(f"{size} bytes were announced at {at}, and {got} are there")
    return data
