"""Data of a spool that no archive has yet, for the case that the reader is killed.

The process that empties rings keeps it: segments that were read since the last checkpoint, and the frames with which
running processes began, without which later segments cannot be read.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable
from typing import Final

from msgspec import Struct

from .unread_copy import UnreadCopy

READ_SHARE: Final = 8
"""Divisor of the spool's memory for segments that were read: 32 MB by default, about three million calls."""
BEGINNING_SHARE: Final = 4
"""Divisor of the spool's memory for the frames with which processes began: 64 MB by default."""

Buffer = bytes | memoryview


class Segment(Struct):
    """A segment of a spool: memory or a file with frames.

    Attributes:
        number: from 1, in the order of the frames.
        begin: position of its first byte among those of all frames.
        size: bytes that it may have.
        used: bytes that it has; ``lines``: ring lines in them.
        reported: ``used`` when the reader was told last; -1: never.
        complete: nothing more is written to it.
        has_other_use: its memory may be used again.
    """

    number: int
    descriptor: int
    begin: int
    size: int
    on_disk: bool
    used: int = 0
    lines: int = 0
    reported: int = -1
    complete: bool = False
    has_other_use: bool = False

    def write(self, buffers: list[Buffer]) -> int:
        """Write buffers after what it has. Returns fewer bytes than their size, or -1, if there is no space."""
        try:
            return os.pwritev(self.descriptor, buffers, self.used)
        except OSError:
            return -1


class Beginnings:
    """Frames that must precede a segment: headers, definitions and last counters of the processes that run there.

    Args:
        most_bytes: maximum size. Beyond it, nothing is kept any more.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._bytes = 0
        self._is_complete = True
        self._needed_from = 0
        self._frames: dict[int, list[tuple[int, bytes]]] = {}
        self._counters: dict[int, list[tuple[int, bytes]]] = {}
        self._ended: deque[tuple[int, int]] = deque()

    def add(self, token: int, position: int, frame: bytes, *, is_last: bool) -> None:
        """Add a frame of a process.

        Args:
            token: token of the process image.
            position: position of the frame among all.
            frame: its header, definitions or counters.
            is_last: the frame replaces earlier ones of this kind, as counters do.
        """
        if not self._is_complete:
            return
        frames = (self._counters if is_last else self._frames).setdefault(token, [])
        frames.append((position, frame))
        self._bytes += len(frame)
        while is_last and len(frames) > 1 and frames[1][0] < self._needed_from:
            self._bytes -= len(frames.pop(0)[1])
        if self._bytes > self._most_bytes:
            self._is_complete = False
            for kept in (self._frames, self._counters, self._ended):
                kept.clear()

    def add_end(self, token: int, position: int, whole_from: int) -> None:
        """Take in that a process has ended.

        Args:
            token: token of the process image.
            position: position behind the frame of its end.
            whole_from: position from which all frames come into the same segment. A process that began after it is
                forgotten: no segment has only its end.
        """
        frames = self._frames.get(token)
        if frames and frames[0][0] >= whole_from:
            self._forget(token)
        elif frames:
            self._ended.append((position, token))

    def forget_before(self, position: int) -> None:
        """Forget processes that have ended before a position, and all that no segment from there on needs."""
        self._needed_from = position
        while self._ended and self._ended[0][0] <= position:
            self._forget(self._ended.popleft()[1])

    def before(self, position: int) -> bytes | None:
        """Return the frames that must precede a position, and forget earlier ones; None if they were too many."""
        if not self._is_complete:
            return None
        self.forget_before(position)
        kept = (*self._frames.values(), *self._counters.values())
        return b"".join(frame for at, frame in sorted(each for frames in kept for each in frames) if at < position)

    def _forget(self, token: int) -> None:
        for of_process in (self._frames.pop(token, ()), self._counters.pop(token, ())):
            self._bytes -= sum(len(frame) for _, frame in of_process)


class Unarchived:
    """Keeps segments that were read until an archive has their calls.

    Args:
        make_copy: returns a copy of segments, which frames precede.
        most_bytes: maximum size of the segments that were read. Beyond it, the earliest ones are not kept.
        beginning_bytes: maximum size of the beginnings. Beyond it, none are kept.

    Attributes:
        beginnings: frames that precede the kept segments.
    """

    def __init__(self, make_copy: Callable[[bytes], UnreadCopy], most_bytes: int, beginning_bytes: int) -> None:
        self.beginnings = Beginnings(beginning_bytes)
        self._make_copy = make_copy
        self._most_bytes = most_bytes
        self._read: dict[int, Segment] = {}
        self._read_bytes = 0
        self._lost_lines: dict[int, int] = {}
        """Ring lines of segments that are not kept and in no archive, by number."""

    def keep(self, segment: Segment) -> list[Segment]:
        """Keep a segment that was read. Return those that are kept no longer."""
        self._read[segment.number] = segment
        self._read_bytes += segment.used
        dropped = []
        while self._read_bytes > self._most_bytes:
            dropped.append(self._drop(min(self._read)))
            self._lost_lines[dropped[-1].number] = dropped[-1].lines
        return dropped

    def drop_to(self, number: int) -> list[Segment]:
        """Return the segments up to a number, which an archive has. They are kept no longer."""
        for each in [lost for lost in self._lost_lines if lost <= number]:
            del self._lost_lines[each]
        return [self._drop(each) for each in sorted(self._read) if each <= number]

    def forget_before(self, unread: Iterable[Segment], position: int) -> None:
        """Forget the beginnings that no segment needs; ``position``: where the next segment begins."""
        self.beginnings.forget_before(min((each.begin for each in (*self._read.values(), *unread)), default=position))

    def save(self, unread: Iterable[Segment]) -> None:
        """Write the kept and the unread segments to a file, from the last one on before which one is missing.

        The file announces all lines that no archive has. Without the beginnings, it has only the calls of processes
        that began in these segments.
        """
        segments = sorted((*self._read.values(), *unread), key=lambda each: each.number)
        numbers = [each.number for each in segments]
        first = max((at for at in range(1, len(numbers)) if numbers[at] != numbers[at - 1] + 1), default=0)
        lost = sum(self._lost_lines.values()) + sum(each.lines for each in segments[:first])
        if not (segments or lost):
            return
        copy = self._make_copy((segments and self.beginnings.before(segments[first].begin)) or b"")
        for segment in segments[first:]:
            copy.written(segment.number, segment.descriptor, segment.used, segment.lines)
        copy.start()
        copy.finish(reader_has_ended=True, missing_lines=lost)

    def _drop(self, number: int) -> Segment:
        segment = self._read.pop(number)
        self._read_bytes -= segment.used
        return segment
