"""What a spool's writer saves if its reader is killed: all that no archive has, readable alone."""

from __future__ import annotations

import errno
import os
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.collectors.settings import SpoolSettings
from iotide.collectors.source import Origin
from iotide.collectors.sources.preload.records.ring_layout import LINE_BYTES
from iotide.collectors.sources.preload.spool import spool, unread_copy
from iotide.collectors.sources.preload.spool.spool import FRAME, SpoolWriter
from iotide.collectors.sources.preload.spool.spool_reader import SpoolReader, deliver_frame
from iotide.collectors.sources.preload.spool.unarchived import Beginnings, Unarchived
from iotide.collectors.sources.preload.spool.unread_copy import ANNOUNCED, HEAD, UnreadCopy
from support.system.waiting import wait_for
from support.tracing.spools import RecordingReceiver, close_segments

MIB = 1 << 20
SMALL = 1 << 12
Said = list[tuple[Any, ...]]


@pytest.fixture(autouse=True, scope="module")
def _small_segments() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(spool, "_MEMORY_SEGMENT", SMALL)
        yield


class Spool:
    """A spool whose writer keeps what is not archived, and all that was written."""

    def __init__(
        self, folder: Path, most_bytes: int = 1 << 30, beginning_bytes: int = 1 << 30, *, copies: bool = False
    ) -> None:
        def make_copy(before: bytes = b"", first_s: float = 3600.0) -> UnreadCopy:
            return UnreadCopy(folder / "unread", Origin("job", "node"), 1 << 30, before, first_s=first_s, every_s=0.001)

        self.folder = folder
        self.written, self.read = RecordingReceiver(), RecordingReceiver()
        self.live: list[int] = []
        self.archived = 0
        """Number of frames that may be in an archive."""
        self._tokens = 0
        self._ours, self._theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._ours.setblocking(False)
        self._theirs.setblocking(False)
        self.reader = SpoolReader(self._ours)
        self.copy = make_copy(first_s=0.0) if copies else None
        if self.copy is not None:
            self.copy.start()
        unarchived = Unarchived(make_copy, most_bytes, beginning_bytes)
        self.writer = SpoolWriter(self._theirs, SpoolSettings(memory_bytes=8 * MIB), self.copy, unarchived)

    def begin(self) -> None:
        self._tokens += 1
        self.live.append(self._tokens)
        for each in (self.written, self.writer):
            each.image_started(self._tokens, 100 + self._tokens, b"h" * 40, follows=False)

    def say(self, what: str, number: int) -> None:
        """Write something of a running process."""
        token = self.live[number % len(self.live)]
        for each in (self.written, self.writer):
            if what == "definitions":
                each.definitions(token, bytes([number % 256]) * (number % 5000))
            elif what == "counters":
                each.counters(token, 0, 1, {"events": number})
            elif what == "lines":
                each.lines(token, 7, np.random.default_rng(number).integers(0, 2**64, (number % 60 + 1, 8), np.uint64))
            else:
                each.ended(token)
        if what == "end":
            self.live.remove(token)

    def take(self) -> None:
        self.writer.exchange()
        self.reader.read(self.read, SMALL)

    def archive(self) -> None:
        self.reader.report_archived(self.reader.read_segments)
        self.archived = len(self.read.said)

    def kill(self) -> Said:
        """Kill the reader; return what is in the files that are left."""
        self.end()
        said: Said = []
        for path in self.folder.iterdir():
            said += frames_of(path)
        return said

    def end(self) -> None:
        """Kill the reader."""
        self._ours.close()
        self.writer.exchange()
        self.writer.end()
        self.writer.save_unarchived()

    def close(self) -> None:
        if self.copy is not None:
            self.copy.end()
            self.copy.join()
        self._ours.close()
        self._theirs.close()
        self.reader.close()
        close_segments(self.writer)


def frames_of(path: Path) -> Said:
    data, found = path.read_bytes(), RecordingReceiver()
    at = HEAD.size + HEAD.unpack_from(data)[-1]
    while at < len(data):
        kind, payload, token = FRAME.unpack_from(data, at)
        at += FRAME.size
        deliver_frame(found, kind, token, np.frombuffer(data, np.uint8)[at : at + payload])
        at += (payload + 7) & ~7
    assert at == len(data)
    return found.said


@contextmanager
def spool_in(folder: Path, *bounds: int, copies: bool = False) -> Iterator[Spool]:
    with closing(Spool(folder, *bounds, copies=copies)) as made:
        yield made


def announced_in(folder: Path) -> tuple[int, int]:
    """The number of lines that the only file announces, and of those that follow."""
    (path,) = folder.iterdir()
    data, announced, following = path.read_bytes(), 0, 0
    at = HEAD.size + HEAD.unpack_from(data)[-1]
    while at + FRAME.size <= len(data):
        kind, payload, token = FRAME.unpack_from(data, at)
        at += FRAME.size
        if kind == ANNOUNCED:
            announced, following = int.from_bytes(data[at : at + payload], "little"), 0
        elif at + payload <= len(data):
            frame = np.frombuffer(data, np.uint8)[at : at + payload]
            following += deliver_frame(RecordingReceiver(), kind, token, frame)
        at += (payload + 7) & ~7
    return announced, following


def lines_of(said: Said) -> int:
    return sum(len(each[-1]) // LINE_BYTES for each in said if each[0] == "lines")


def needed_after(said: Said) -> Said:
    """Of what was said, that without which later calls cannot be read: of counters, the last ones."""
    ended = {each[1] for each in said if each[0] == "ended"}
    last = {each[1]: at for at, each in enumerate(said) if each[0] == "counters"}
    return [
        each
        for at, each in enumerate(said)
        if each[1] not in ended and (each[0] in ("begun", "definitions") or last.get(each[1]) == at)
    ]


def is_readable_rest(saved: Said, said: Said, least: int) -> bool:
    """Return whether a file has at least so many of the last frames, and what they need before them."""
    for count in range(least, len(said) + 1):
        at = len(saved) - count
        rest, earlier = said[len(said) - count :], said[: len(said) - count]
        before = saved[: max(at, 0)]
        has_only_beginnings = all(each[0] in ("begun", "definitions", "counters") for each in before)
        if at >= 0 and saved[at:] == rest and has_only_beginnings and needed_after(before) == needed_after(earlier):
            return True
    return False


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["begin", "definitions", "counters", "lines", "lines", "end", "take", "take", "archive"]),
        st.integers(0, 100_000),
    ),
    max_size=120,
)


def follow(made: Spool, steps: list[tuple[str, int]]) -> None:
    for what, number in steps:
        if what == "begin" or (what not in ("take", "archive") and not made.live):
            made.begin()
        elif what == "take":
            made.take()
        elif what == "archive":
            made.archive()
        else:
            made.say(what, number)


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(STEPS)
def test_all_that_is_not_archived_is_saved_and_readable_alone(steps: list[tuple[str, int]]) -> None:
    with tempfile.TemporaryDirectory() as name, spool_in(Path(name)) as made:
        follow(made, steps)
        said = made.written.said
        assert is_readable_rest(made.kill(), said, len(said) - made.archived)


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(STEPS)
def test_what_was_not_read_is_saved_though_what_was_read_is_too_much(steps: list[tuple[str, int]]) -> None:
    with tempfile.TemporaryDirectory() as name, spool_in(Path(name), 2 * SMALL) as made:
        follow(made, steps)
        said = made.written.said
        assert is_readable_rest(made.kill(), said, len(said) - len(made.read.said))


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(STEPS, st.sampled_from([0, 2 * SMALL, 1 << 30]), st.sampled_from([100, 1 << 30]))
def test_all_calls_that_no_archive_has_are_announced(
    steps: list[tuple[str, int]], most_bytes: int, beginning_bytes: int
) -> None:
    with tempfile.TemporaryDirectory() as name, spool_in(Path(name), most_bytes, beginning_bytes) as made:
        follow(made, steps)
        said = made.written.said
        made.kill()
        if wanted := lines_of(said[made.archived :]):
            announced, following = announced_in(Path(name))
            assert wanted <= announced <= lines_of(said)
            assert following == announced or most_bytes < 1 << 30


@pytest.mark.parametrize("error", [0, errno.ENOSPC], ids=["slow", "full"])
def test_calls_that_a_disk_does_not_take_are_announced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: int
) -> None:
    release, sendfile = threading.Event(), os.sendfile
    pieces = iter([100, 200])

    def write(to: int, of: int, at: int, size: int) -> int:
        size = min(size, next(pieces, 0))
        if not size and error:
            raise OSError(error, os.strerror(error))
        if not size:
            release.wait()
        return sendfile(to, of, at, size)

    monkeypatch.setattr(unread_copy, "_REST_S", 0.01)
    with spool_in(tmp_path) as made:
        made.begin()
        made.say("lines", 59)
        monkeypatch.setattr(os, "sendfile", write)
        try:
            made.end()
        finally:
            release.set()
        assert announced_in(tmp_path) == (60, 0)


def test_disk_is_awaited_while_it_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    may_write, has_written = threading.Semaphore(0), threading.Semaphore(0)
    sendfile, join = os.sendfile, threading.Thread.join

    def wait_for_a_piece(thread: threading.Thread, timeout: float | None = None) -> None:
        may_write.release()
        if not has_written.acquire(timeout=1.0):
            join(thread, timeout)

    def write_a_piece(to: int, of: int, at: int, size: int) -> int:
        may_write.acquire()
        sent = sendfile(to, of, at, min(size, 1000))
        has_written.release()
        return sent

    with spool_in(tmp_path) as made:
        made.begin()
        made.say("lines", 59)
        monkeypatch.setattr(UnreadCopy, "join", wait_for_a_piece)
        monkeypatch.setattr(os, "sendfile", write_a_piece)
        assert made.kill() == made.written.said


def test_nothing_is_saved_when_all_is_archived(tmp_path: Path) -> None:
    with spool_in(tmp_path) as made:
        made.begin()
        made.say("lines", 50)
        assert not made.writer.is_archived
        made.reader.report_archived()
        made.writer.exchange()
        assert made.writer.is_archived
        assert made.kill() == []


def test_what_the_copy_has_is_not_saved_twice(tmp_path: Path) -> None:
    with spool_in(tmp_path, copies=True) as made:
        made.begin()
        made.say("lines", 50)
        assert made.kill() == made.written.said
        assert len(list(tmp_path.iterdir())) == 1


def test_what_came_after_the_end_of_the_copy_is_saved_beside_it(tmp_path: Path) -> None:
    with spool_in(tmp_path, copies=True) as made:
        assert made.copy is not None
        made.begin()
        made.say("definitions", 4000)
        made.writer.exchange()
        wait_for(lambda: made.copy is not None and made.copy.copied, what="a copy")
        made.reader.request_end_of_copy()
        made.writer.exchange()
        made.copy.join()
        for number in range(20):
            made.say("lines", number)
        made.kill()
        last = max(tmp_path.iterdir(), key=lambda path: len(frames_of(path)))
        assert is_readable_rest(frames_of(last), made.written.said, 20)
        assert len(list(tmp_path.iterdir())) == 2


def test_beginnings_beyond_their_bound_are_not_kept() -> None:
    beginnings = Beginnings(most_bytes=100)
    for token in range(3):
        beginnings.add(token, 40 * token, bytes(40), is_last=False)
        assert beginnings.before(1000) == (None if token == 2 else bytes(40 * (token + 1)))
    beginnings.add(4, 200, bytes(1), is_last=False)
    assert beginnings.before(1000) is None


def test_beginnings_of_ended_processes_and_earlier_counters_are_forgotten() -> None:
    beginnings = Beginnings(1000)
    beginnings.add(1, 0, b"a", is_last=False)
    beginnings.add(2, 1, b"b", is_last=False)
    for position in (2, 3, 4):
        beginnings.add(2, position, str(position).encode(), is_last=True)
    beginnings.add_end(1, 6, whole_from=5)
    assert beginnings.before(5) == b"ab234"
    beginnings.add(3, 6, b"c", is_last=False)
    beginnings.add_end(3, 7, whole_from=6)
    assert beginnings.before(8) == b"b234"
    beginnings.add(2, 9, b"9", is_last=True)
    assert beginnings.before(10) == b"b49"


def test_nothing_is_saved_if_the_reader_has_archived_all_and_ends_without_reading_a_report(tmp_path: Path) -> None:
    """A socket first reports that its peer left messages unread, and then has the peer's messages."""
    with spool_in(tmp_path) as made:
        made.begin()
        made.say("lines", 1)
        made.writer.exchange()
        made.reader.report_archived()
        assert made.kill() == []
        assert made.writer.is_archived
