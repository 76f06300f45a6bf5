"""How the end of a process is seen: by a pidfd, or where no descriptor is left for one, by its entry in /proc."""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import socket
from typing import Final

GONE: Final = -1
"""In place of a pidfd: the process has ended."""
UNWATCHED: Final = -2
"""In place of a pidfd: there was no descriptor for one, ask ``Life.lasts``."""

_SO_PEERPIDFD: Final = 77
"""Since Linux 6.5; a pid alone may have been given to another process meanwhile."""
_LEFT_FREE: Final = 16
"""Descriptors that are left for all else."""
_SPARES: Final = 2
_STATE, _THREADS, _STARTED = 0, 17, 19  # fields of /proc/PID/stat, after the command


class Spares:
    """Descriptors that are held so that there are some when all others are taken."""

    def __init__(self) -> None:
        self._held: list[int] = []
        self.restore()

    def release(self, count: int = _SPARES) -> None:
        """Lets go of some."""
        for descriptor in self._held[:count]:
            os.close(descriptor)
        del self._held[:count]

    def restore(self) -> bool:
        """Takes them back; False: not all could be had."""
        while len(self._held) < _SPARES:
            try:
                self._held.append(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))
            except OSError:
                return False
        return True

    def descriptors(self) -> list[int]:
        """Returns those that are held."""
        return list(self._held)


class Life:
    """Tells whether a process that is not watched lasts.

    Args:
        pid: as we see it.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._started = (_stat_of(pid) or [""] * (_STARTED + 1))[_STARTED]

    def lasts(self) -> bool:
        """Returns False once the process has ended, also if another has its number; needs a free descriptor."""
        fields = _stat_of(self._pid)
        if not fields or fields[_STARTED] != self._started:
            return False
        # The first thread of a process may have ended before the others.
        return fields[_STATE] not in "ZX" or int(fields[_THREADS]) > 1


def watch_of(peer: socket.socket, pid: int) -> int:
    """Returns a pidfd, GONE where the process has ended, UNWATCHED where there is no descriptor for it.

    Raises:
        OSError: the kernel does not say.
    """
    try:
        watch = peer.getsockopt(socket.SOL_SOCKET, _SO_PEERPIDFD)
    except OSError as error:
        if error.errno != errno.ENOPROTOOPT:
            return _instead(error)
        try:
            watch = os.pidfd_open(pid)
        except OSError as other:
            return _instead(other)
    if watch < resource.getrlimit(resource.RLIMIT_NOFILE)[0] - _LEFT_FREE:
        return watch
    os.close(watch)
    return UNWATCHED


def _instead(error: OSError) -> int:
    if error.errno in (errno.ESRCH, errno.EINVAL, errno.ENODATA):  # kernels differ in how they say it
        return GONE
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return UNWATCHED
    raise error


def _stat_of(pid: int) -> list[str]:
    """Returns the fields after the command; none where there is no such process."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        descriptor = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
        try:
            return os.read(descriptor, 4096).decode().rpartition(")")[2].split()
        finally:
            os.close(descriptor)
    return []
