"""A drain in a process of its own, which makes room first, however busy we are with what it has taken."""

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
from pathlib import Path
from typing import Final

from ....events import InputError
from ....events.network.descriptors import raise_limit
from ...node.file_metadata import NodeFileMetadata
from ...settings import SpoolSettings
from ...source import Origin, Problems, SourceItem
from .rings.drain import Drain
from .sleep_times import Naps
from .spool.spool import SpoolWriter
from .spool.spool_reader import SpoolReader
from .spool.unread_copy import UnreadCopy
from .streams import Streams
from .untraced import Unseen

_LINES_A_POLL: Final = 1 << 18
_READ_A_POLL: Final = 4 << 20
_FIRST_EVENTS_WAIT_S: Final = 0.05
_LAST_LOOKS_S: Final = 30.0
"""How long processes that do not end are read on once the end is asked for."""
_PATIENCE_S: Final = 3.0
_BEFORE_OTHERS: Final = 5
"""Niceness that the process which empties rings is less nice than ours."""
_BEFORE_SESSIONS: Final = 10
"""The same of its session beside others'."""
_LEFT_ALONE: Final = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)


class RelayedSource:
    """A source of what the preload library traces, whose rings another process empties.

    That process ends with ours, however we end; traced programs go on.

    Args:
        path: the socket.
        origin: what streams are that do not say it themselves.
        bounds: what may wait to be read.
        files: what the node knows of files; closed with the source.
        copy_stem: where what waits is copied to as long as nothing is read, a path without its suffix; None: nowhere.

    Raises:
        InputError: nothing can listen at the path.
        OSError: no process can be made.
    """

    def __init__(
        self,
        path: Path,
        origin: Origin,
        bounds: SpoolSettings,
        *,
        files: NodeFileMetadata | None = None,
        copy_stem: Path | None = None,
    ) -> None:
        self.problems = Problems()
        self.counters: Counter[str] = Counter()
        self._path = path
        self._pid, self._channel = _start(path, bounds)
        self._reader = SpoolReader(self._channel)
        self._files = files or NodeFileMetadata()
        self._streams = Streams(
            str(path), origin, self._files, self.counters, self.problems, patience_s=_FIRST_EVENTS_WAIT_S
        )
        self._closed = self._told_cut_off = False
        self._copy: UnreadCopy | None = None
        if copy_stem is not None:
            self._copy = UnreadCopy(copy_stem, origin, self._reader.unread, bounds.memory_bytes)
            self._copy.start()

    @property
    def unseen(self) -> Unseen:
        """Programs that traced processes started and that are not traced, and why."""
        return self._streams.unseen

    @property
    def finished(self) -> bool:
        """True once nothing more will come."""
        if self._is_cut_off and not self._told_cut_off:
            return self._closed
        return self._closed or (self._reader.ended and not self._reader.waiting_bytes)

    @property
    def _is_cut_off(self) -> bool:
        """True when all was read that the other process had written before it was gone."""
        return self._reader.broken and not self._reader.waiting_bytes

    @property
    def looks_again(self) -> bool:
        """True while something of a file is being found out."""
        return self._streams.is_waiting

    @property
    def waiting_calls(self) -> int:
        """About how many calls were taken out of the rings and wait to be read."""
        return self._reader.waiting_lines + self._streams.held_lines

    @property
    def unread_copy(self) -> Path | None:
        """The file with what waited when the first of it was read; None where there is none (any more)."""
        return None if self._copy is None else self._copy.path

    @property
    def is_copy_read(self) -> bool:
        """True when all that is in the copy has been read, too."""
        return self._copy is None or (self._reader.unread.ended and self._reader.read_bytes >= self._copy.copied)

    def remove_copy(self) -> None:
        """Takes the copy away: all that is in it is somewhere else."""
        copy, self._copy = self._copy, None
        if copy is not None:
            copy.remove()

    def fileno(self) -> int:
        """Returns a descriptor that can be read when there is news."""
        return self._channel.fileno()

    def listen(self) -> None:
        """Takes in how many calls wait, and leaves them there."""
        if not self._closed:
            self._reader.listen()

    def poll(self) -> list[SourceItem]:
        """Returns some of what has come."""
        if self._closed:
            return []
        self._reader.read(self._streams, _READ_A_POLL)
        if self._is_cut_off and not self._told_cut_off:
            self._told_cut_off = True
            self.counters["collectors_failed"] += 1
            self.problems.add(InputError(str(self._path), None, "the collecting process is gone", "one that stays"))
            self._streams.cut_off()
        return self._streams.items()

    def finish(self) -> None:
        """Has all that is in the rings taken, and processes that run on let go; ``finished`` tells when it was read."""
        self._reader.ask_for_the_end()

    def close(self) -> None:
        """Ends the other process; what was not read is lost."""
        if self._closed:
            return
        self._closed = True
        if self._copy is not None:
            self._copy.stop()
        self._channel.close()
        self._reader.close()
        self._streams.close()
        self._files.close()
        _wait_for(self._pid)


def _start(path: Path, bounds: SpoolSettings) -> tuple[int, socket.socket]:
    drain = Drain(path, lines_a_poll=_LINES_A_POLL)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setblocking(False)
    theirs.setblocking(False)
    gc.freeze()  # what is there now stays shared between both
    with warnings.catch_warnings():
        # Threads of NumPy's library for matrices may wait for work; the child never gives them any.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        status = 1
        try:
            _run(drain, theirs, bounds)
            status = 0
        finally:
            os._exit(status)
    theirs.close()
    drain.leave()
    return pid, ours


def _run(drain: Drain, channel: socket.socket, bounds: SpoolSettings) -> None:
    os.setsid()  # the keyboard's signals are the command's
    _come_before_others()
    for number in _LEFT_ALONE:
        signal.signal(number, signal.SIG_IGN)
    signal.set_wakeup_fd(-1)
    _close_all_but({*drain.descriptors(), channel.fileno()})
    raise_limit()
    writer = SpoolWriter(channel, bounds)
    news = select.poll()
    drain_events = drain.events.fileno()
    for descriptor in (drain_events, channel.fileno()):
        news.register(descriptor, select.POLLIN)
    naps = Naps()
    while True:
        with naps.measured():
            busy = drain.poll(writer)
            writer.exchange()
            if writer.asked_to_end or writer.reader_gone:  # which no further news would tell
                break
            wakes = drain.sleep() and writer.room > 0
        naps.rest()
        news.poll(naps.next_s(busy=busy, wakes=wakes) * 1000)
    until_s = time.monotonic() + _LAST_LOOKS_S
    while not writer.reader_gone and drain.poll(writer) and time.monotonic() < until_s:
        writer.exchange()
    drain.close(writer)
    writer.end()
    writer.exchange()
    news.unregister(drain_events)
    news.modify(channel, select.POLLIN | select.POLLOUT)
    while not (writer.has_told or writer.reader_gone):
        news.poll()
        writer.exchange()


def _come_before_others() -> None:
    """Takes precedence where we may: it needs little, and rings of a burst are full in some 25 ms."""
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, max(os.getpriority(os.PRIO_PROCESS, 0) - _BEFORE_OTHERS, -20))
    with contextlib.suppress(OSError):  # sessions that share cores share them by this; ours has but this process
        Path("/proc/self/autogroup").write_text(f"-{_BEFORE_SESSIONS}")


def _close_all_but(kept: set[int]) -> None:
    """Closes what was inherited: a pipe of the user's ends when its writers have closed it."""
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208
        if (descriptor := int(name)) > 2 and descriptor not in kept:
            with contextlib.suppress(OSError):
                os.close(descriptor)


def _wait_for(pid: int) -> None:
    """Waits until a child has ended, whose channel is closed; one that does not end is killed."""
    with contextlib.suppress(ChildProcessError, ProcessLookupError):
        watch = os.pidfd_open(pid)
        try:
            ending = select.poll()  # select() has no place for descriptors from 1,024 on
            ending.register(watch, select.POLLIN)
            if not ending.poll(_PATIENCE_S * 1000):
                os.kill(pid, signal.SIGKILL)
        finally:
            os.close(watch)
        os.waitpid(pid, 0)
