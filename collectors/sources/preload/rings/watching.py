"""Detect the end of a process by a pidfd. If no descriptor is available, /proc is used."""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import select
import socket
import time
from typing import Final

GONE: Final = -1
"""Replaces a pidfd: the process has ended."""
UNWATCHED: Final = -2
"""Replaces a pidfd: no descriptor was available, use ``ProcessLiveness.is_running``."""

_SO_PEERPIDFD: Final = 77
"""Since Linux 6.5; a pid alone may have been reused in the meantime."""
_FREE_DESCRIPTORS: Final = 16
"""Descriptors that are left free for everything else."""
_SPARE_COUNT: Final = 2
MAX_PID: Final = 2**31 - 1
_CLOCK_STEP_NS: Final = 20_000_000
"""More than a step of the start times in /proc."""
_STATE, _THREADS, _STARTED = 0, 17, 19  # fields of /proc/PID/stat, after the command


class SpareDescriptors:
    """Reserved descriptors for when all others are in use."""

    def __init__(self) -> None:
        self._descriptors: list[int] = []
        self.restore()

    def release(self, count: int = _SPARE_COUNT) -> None:
        """Close some."""
        for descriptor in self._descriptors[:count]:
            os.close(descriptor)
        del self._descriptors[:count]

    def restore(self) -> bool:
        """Reserves them again; False: not all were available."""
        while len(self._descriptors) < _SPARE_COUNT:
            try:
                self._descriptors.append(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
            except OSError:
                return False
        return True

    def descriptors(self) -> list[int]:
        """Return the reserved descriptors."""
        return list(self._descriptors)


class ProcessLiveness:
    """Checks whether a process without a pidfd is still running.

    Args:
        pid: pid in our namespace.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._started = (_stat_of(pid) or [""] * (_STARTED + 1))[_STARTED]

    def is_running(self) -> bool:
        """Return False once the process has ended, even if its pid was reused. Needs a free descriptor."""
        fields = _stat_of(self._pid)
        if not fields or fields[_STARTED] != self._started:
            return False
        # The first thread of a process may have ended before the others.
        return fields[_STATE] not in "ZX" or int(fields[_THREADS]) > 1


def watch_of(peer: socket.socket, pid: int) -> int:
    """Return a pidfd, GONE if the process has ended, UNWATCHED if no descriptor is available.

    Raises:
        OSError: any other error.
    """
    try:
        watch = peer.getsockopt(socket.SOL_SOCKET, _SO_PEERPIDFD)
    except OSError as error:
        if error.errno != errno.ENOPROTOOPT:
            return _watch_after_error(error)
        try:
            watch = os.pidfd_open(pid)
        except OSError as other:
            return _watch_after_error(other)
    if watch < resource.getrlimit(resource.RLIMIT_NOFILE)[0] - _FREE_DESCRIPTORS:
        return watch
    os.close(watch)
    return UNWATCHED


def watch_begun(pid: int, begun_ns: int) -> int:
    """Return what ``watch_of`` returns, for a process that ran at a time (CLOCK_MONOTONIC): its pid may be reused."""
    try:
        watch = os.pidfd_open(pid) if 0 < pid <= MAX_PID else GONE
    except OSError as error:
        return _watch_after_error(error)
    if watch == GONE:
        return GONE
    if has_ended(watch) or _started_after(pid, begun_ns):
        os.close(watch)
        return GONE
    if watch < resource.getrlimit(resource.RLIMIT_NOFILE)[0] - _FREE_DESCRIPTORS:
        return watch
    os.close(watch)
    return UNWATCHED


def has_ended(watch: int) -> bool:
    """Return whether the process of a pidfd has ended; False if that is unknown."""
    if watch < 0:
        return watch == GONE
    asking = select.poll()  # select() does not support descriptors from 1,024 on
    asking.register(watch, select.POLLIN)
    return bool(asking.poll(0))


def _started_after(pid: int, at_ns: int) -> bool:
    fields = _stat_of(pid)
    if len(fields) <= _STARTED:
        return False
    suspended_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - time.monotonic_ns()
    started_ns = int(fields[_STARTED]) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")
    return started_ns > at_ns + suspended_ns + _CLOCK_STEP_NS


def _watch_after_error(error: OSError) -> int:
    if error.errno in (errno.ESRCH, errno.EINVAL, errno.ENODATA):  # the error number depends on the kernel
        return GONE
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return UNWATCHED
    raise error


def _stat_of(pid: int) -> list[str]:
    """Return the fields after the command; none if there is no such process."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        descriptor = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
        try:
            return os.read(descriptor, 4096).decode().rpartition(")")[2].split()
        finally:
            os.close(descriptor)
    return []
