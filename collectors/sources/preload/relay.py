"""Drain in a separate process, which empties rings even while the analysis is busy."""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket
import time
import warnings
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from ....events import InputError
from ....events.network.descriptors import raise_limit
from ....events.network.open_descriptors import detach_from_all_but
from ...node.file_metadata import NodeFileMetadata
from ...settings import SpoolSettings
from ...source import Origin, Problems, SourceItem
from .rings.drain import Drain
from .sleep_times import CALM_REST_S, SleepTimes
from .spool.spool import SpoolWriter
from .spool.spool_reader import SpoolReader
from .spool.unarchived import BEGINNING_SHARE, READ_SHARE, Unarchived
from .spool.unread_copy import UnreadCopy, path_of_copy
from .streams import Streams
from .untraced import UntracedPrograms

_LINES_A_POLL: Final = 1 << 18
_READ_A_POLL: Final = 4 << 20
_FIRST_EVENTS_WAIT_S: Final = 0.05
_LAST_LOOKS_S: Final = 30.0
"""Seconds for which running processes are still read after the end was requested."""
_ENDING_S: Final = 0.5
"""Seconds for which processes may end after the command. Helpers of a program end when it does."""
_ENDING_LOOK_S: Final = 0.01
_ENDING_LOOKS: Final = 25
"""Minimum number of looks in that time: a machine that stalls also stalls the processes that end."""
_TIMEOUT_S: Final = 3.0
_PRIORITY: Final = 5
"""Niceness by which the process that empties rings precedes the analysing one."""
_BEFORE_SESSIONS: Final = 10
"""Niceness by which its session precedes other sessions."""
_LEFT_ALONE: Final = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)


class RelayedSource:
    """Source of preload events whose rings are emptied by another process.

    That process ends with this one, however it ends; traced programs continue.

    Args:
        path: path of the socket.
        origin: facts about streams that do not state them.
        bounds: bounds of the data that waits to be read.
        files: file metadata of the node; closed with the source.
        awaits_ends: read new processes a little later, and rest longer between reads; for rings of the default length.
        copy_stem: absolute path without suffix to which the other process copies all data until ``end_copy``, in case
            this process is killed; None: no copy.

    Raises:
        InputError: the socket cannot be created at the path.
        OSError: the process cannot be created.
    """

    def __init__(
        self,
        path: Path,
        origin: Origin,
        bounds: SpoolSettings,
        *,
        files: NodeFileMetadata | None = None,
        awaits_ends: bool = False,
        copy_stem: Path | None = None,
    ) -> None:
        self.problems = Problems()
        self.counters: Counter[str] = Counter()
        self._path = path
        self._copy_stem = copy_stem
        # A thread that is made before a fork counts as ended after it.
        copy = None if copy_stem is None else partial(UnreadCopy, copy_stem, origin, bounds.memory_bytes)
        self._is_kept = copy_stem is not None
        self._pid, self._channel = _start(path, bounds, copy, awaits_ends=awaits_ends)
        self._reader = SpoolReader(self._channel)
        self._files = files or NodeFileMetadata()
        self._streams = Streams(
            str(path), origin, self._files, self.counters, self.problems, patience_s=_FIRST_EVENTS_WAIT_S
        )
        self._closed = self._reported_cut_off = False

    @property
    def untraced(self) -> UntracedPrograms:
        """Programs that traced processes started and that are not traced, with reasons."""
        return self._streams.untraced

    @property
    def finished(self) -> bool:
        """True once no more data will come."""
        if self._is_cut_off and not self._reported_cut_off:
            return self._closed
        return self._closed or (self._reader.ended and not self._reader.waiting_bytes)

    @property
    def _is_cut_off(self) -> bool:
        """True when the other process has ended and all that it wrote was read."""
        return self._reader.broken and not self._reader.waiting_bytes

    @property
    def has_pending_metadata(self) -> bool:
        """True while file metadata is pending."""
        return self._streams.is_waiting

    @property
    def waiting_calls(self) -> int:
        """Approximate number of calls that wait to be read. They were taken out of the rings."""
        return self._reader.waiting_lines + self._streams.held_lines

    @property
    def unread_copy(self) -> Path | None:
        """The file with the copied data; None if there is none."""
        attempt = self._reader.copy_attempt
        return None if self._copy_stem is None or attempt is None else path_of_copy(self._copy_stem, attempt)

    @property
    def is_copy_read(self) -> bool:
        """True when the copy has ended and all data in it has also been read."""
        if self._copy_stem is None or self._is_cut_off:
            return True
        return self._reader.copied_bytes is not None and self._reader.read_bytes >= self._reader.copied_bytes

    def end_copy(self) -> None:
        """Request that nothing more is copied, because it is stored elsewhere soon after it was read."""
        if self._copy_stem is not None:
            self._reader.request_end_of_copy()

    def remove_copy(self) -> None:
        """Remove the copy, because its data is stored elsewhere."""
        self.end_copy()
        self._wait_for_copy()
        if self.unread_copy is not None:
            with contextlib.suppress(OSError):
                self.unread_copy.unlink()
        self._copy_stem = None

    @property
    def read_segments(self) -> int:
        """Number of parts of the data that were read."""
        return self._reader.read_segments

    def mark_archived(self, segments: int | None = None) -> None:
        """Allow the other process to forget that many parts, because archives have them.

        It saves the others if this process is killed. None: nothing needs to be saved any more.
        """
        if self._is_kept and not self._closed:
            self._reader.report_archived(segments)

    def _wait_for_copy(self) -> None:
        """Wait until nothing more is copied: a file that is created later would stay."""
        news, until_s = select.poll(), time.monotonic() + _TIMEOUT_S
        news.register(self._channel, select.POLLIN)
        while not (self._closed or self._copy_stem is None or self._reader.ended):
            if self._reader.copied_bytes is not None or (left_s := until_s - time.monotonic()) <= 0:
                break
            news.poll(left_s * 1000)
            self._reader.listen()

    def fileno(self) -> int:
        """Return a descriptor that becomes readable when there is new data."""
        return self._channel.fileno()

    def listen(self) -> None:
        """Update the number of waiting calls without reading them."""
        if not self._closed:
            self._reader.listen()

    def poll(self) -> list[SourceItem]:
        """Return some of the new items."""
        if self._closed:
            return []
        while self._reader.read(self._streams, _READ_A_POLL):  # parts of the data may have no items
            if items := self._streams.items():
                return items
        if self._is_cut_off and not self._reported_cut_off:
            self._reported_cut_off = True
            self.counters["collectors_failed"] += 1
            self.problems.add(InputError(str(self._path), None, "the collecting process is gone", "one that stays"))
            self._streams.cut_off()
            self.untraced.learn_failed_collector()
        return self._streams.items()

    def finish(self) -> None:
        """Request that the rings are emptied and running processes are released; another thread may call it.

        ``finished`` is true when all is read.
        """
        self._reader.request_end()

    def close(self) -> None:
        """End the other process; unread data is lost."""
        if self._closed:
            return
        self._closed = True
        self._channel.close()
        self._reader.close()
        self._streams.close()
        self._files.close()
        _wait_for(self._pid)


def _start(
    path: Path, bounds: SpoolSettings, make_copy: Callable[..., UnreadCopy] | None, *, awaits_ends: bool
) -> tuple[int, socket.socket]:
    drain = Drain(path, lines_a_poll=_LINES_A_POLL)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    theirs.setblocking(False)
    gc.freeze()  # keeps existing objects in memory shared by both processes
    with warnings.catch_warnings():
        # NumPy's matrix library may have waiting threads; the child never gives them work.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        status = 1
        try:
            _run(drain, theirs, bounds, make_copy, awaits_ends=awaits_ends)
            status = 0
        finally:
            os._exit(status)
    theirs.close()
    drain.close_in_parent()
    return pid, ours


def _run(
    drain: Drain,
    channel: socket.socket,
    bounds: SpoolSettings,
    make_copy: Callable[..., UnreadCopy] | None,
    *,
    awaits_ends: bool,
) -> None:
    os.setsid()  # the terminal's signals are meant for the command
    _raise_priority()
    for number in _LEFT_ALONE:
        signal.signal(number, signal.SIG_IGN)
    signal.set_wakeup_fd(-1)
    detach_from_all_but({*drain.descriptors(), channel.fileno()})
    raise_limit()
    drain.await_ends(wanted=awaits_ends)
    copy = None if make_copy is None else make_copy()
    if copy is not None:
        copy.start()
    memory = bounds.memory_bytes
    unarchived = make_copy and Unarchived(make_copy, memory // READ_SHARE, memory // BEGINNING_SHARE)
    writer = SpoolWriter(channel, bounds, copy, unarchived)
    news = select.poll()
    drain_events = drain.events.fileno()
    for descriptor in (drain_events, channel.fileno()):
        news.register(descriptor, select.POLLIN)
    naps = SleepTimes(CALM_REST_S) if awaits_ends else SleepTimes()
    while True:
        with naps.measured():
            busy = drain.poll(writer)
            writer.exchange()
            if writer.end_requested or writer.reader_has_ended:  # no further event would report this
                break
            wakes = drain.sleep() and writer.free_lines > 0
        if busy:
            naps.pause(drain.most_lines)
        news.poll(naps.next_s(busy=busy, wakes=wakes) * 1000)
    _empty(drain, writer, news)
    for token in drain.running():
        writer.still_running(token)
    drain.close(writer)
    writer.end()
    writer.exchange()
    news.unregister(drain_events)
    news.modify(channel, select.POLLIN | select.POLLOUT)
    _exchange_until(lambda: writer.has_reported_all, writer, news)
    news.modify(channel, select.POLLIN)
    _exchange_until(lambda: writer.is_archived, writer, news)
    if not writer.is_archived:
        writer.save_unarchived()


def _exchange_until(is_over: Callable[[], bool], writer: SpoolWriter, news: select.poll) -> None:
    """Answer the reader until a condition is met or the reader has ended."""
    while not (is_over() or writer.reader_has_ended):
        news.poll()
        writer.exchange()


def _empty(drain: Drain, writer: SpoolWriter, news: select.poll) -> None:
    """Empty the rings after the command's end, and give processes that are ending a moment.

    Processes that go on recording do not prolong it. If the spool is full, the reader must make room first.
    """
    asked_s, looks = time.monotonic(), 0
    drain.await_ends(wanted=False)
    while not writer.reader_has_ended and (waited_s := time.monotonic() - asked_s) < _LAST_LOOKS_S:
        busy = drain.poll(writer)
        looks += 1
        is_over = waited_s >= _ENDING_S and looks >= _ENDING_LOOKS and (not busy or drain.all_run)
        if writer.free_lines > 0 and (is_over or not (busy or drain.running())):
            break
        if not busy:
            news.poll(_ENDING_LOOK_S * 1000)
        writer.exchange()


def _raise_priority() -> None:
    """Raise the priority if permitted. The work is small, and a burst fills rings in about 25 ms."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, max(os.getpriority(os.PRIO_PROCESS, 0) - _PRIORITY, -20))
    # the kernel divides cores among sessions by this; this session has only this process
    with contextlib.suppress(OSError):
        Path("/proc/self/autogroup").write_text(f"-{_BEFORE_SESSIONS}", encoding="utf-8")


def _wait_for(pid: int) -> None:
    """Wait for the end of a child whose channel is closed. Kills it if it does not end."""
    with contextlib.suppress(ChildProcessError, ProcessLookupError):
        watch = os.pidfd_open(pid)
        try:
            ending = select.poll()  # select() does not support descriptors from 1,024 on
            ending.register(watch, select.POLLIN)
            if not ending.poll(_TIMEOUT_S * 1000):
                os.kill(pid, signal.SIGKILL)
        finally:
            os.close(watch)
        os.waitpid(pid, 0)
