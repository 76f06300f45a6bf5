"""How many files a process may have open, and what keeps ZeroMQ from accepting more connections than that."""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import resource
import socket
import stat
import struct
from collections.abc import Callable
from typing import Final

_log = logging.getLogger(__name__)
_MOST: Final = 1 << 20
"""More are of no use to us, and some systems allow a billion."""
_MOST_SPARES: Final = 128
_CHECK_S: Final = 0.25
_SO_ATTACH_FILTER, _SO_DETACH_FILTER = 26, 27
_DROP_ALL: Final = struct.pack("HBBI", 0x06, 0, 0, 0)
"""A filter of packets, BPF_RET 0."""


def raise_limit() -> int:
    """Raises how many files this process may have open to what it may allow itself; returns that."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MOST if hard == resource.RLIM_INFINITY else min(hard, _MOST)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return limit()


def limit() -> int:
    """Returns how many files this process may have open."""
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return _MOST if soft == resource.RLIM_INFINITY else soft


def free() -> int:
    """Returns how many more files this process can open."""
    try:
        with os.scandir("/proc/self/fd") as entries:
            return limit() - sum(1 for _ in entries) + 1  # one is that of the listing
    except OSError:  # not even that
        return 0


def backlog() -> int:
    """Returns how many connections may wait to be accepted: what is spare has to do for them."""
    return 100 if limit() >= 8 * _MOST_SPARES else 4


class _Door:
    """What lets peers come to a socket of ZeroMQ; connections that there are do not notice."""

    def __init__(self, endpoint: str) -> None:
        scheme, _, self._path = endpoint.partition("://")
        self._listener = _listener_at(self._path) if scheme == "tcp" else None
        self._is_file = scheme == "ipc" and not self._path.startswith("@")

    def shut(self) -> None:
        """Has peers that come wait, or try again later."""
        with contextlib.suppress(OSError):
            if self._listener is not None:
                code = ctypes.create_string_buffer(_DROP_ALL, len(_DROP_ALL))
                program = struct.pack("@HP", 1, ctypes.addressof(code))
                self._listener.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, program)
            elif self._is_file:
                os.rename(self._path, f"{self._path}.shut")  # noqa: PTH104

    def open(self) -> None:
        """Lets peers come."""
        with contextlib.suppress(OSError):
            if self._listener is not None:
                self._listener.setsockopt(socket.SOL_SOCKET, _SO_DETACH_FILTER, 0)
            elif self._is_file:
                os.rename(f"{self._path}.shut", self._path)  # noqa: PTH104

    def leave(self) -> None:
        """Lets go of the socket, which else would go on to listen."""
        if self._listener is not None:
            self._listener.close()


class ListenerGuard:
    """Keeps a socket of ZeroMQ from accepting connections while descriptors run short.

    ZeroMQ tries at once again to accept a connection for which there is no descriptor: a whole core, for as long as the
    peer waits. So no more are let in while a few are left, and spare ones are there for those that wait already. Where
    that does not do, it stops listening, which ends the connections that there are.

    Args:
        name: of what listens, for the log.
        endpoint: where it listens.
        stop: stops listening.
        listen: listens again; raises an OSError where that does not work yet.
        on_pause: is called when it lets no more in.
    """

    def __init__(
        self,
        name: str,
        endpoint: str,
        stop: Callable[[], None],
        listen: Callable[[], None],
        on_pause: Callable[[], None] = lambda: None,
    ) -> None:
        self._name, self._endpoint = name, endpoint
        self._stop, self._listen, self._on_pause = stop, listen, on_pause
        self._door = _Door(endpoint)
        self._is_shut = self._is_stopped = False
        self._spares: list[int] = []
        self._most_spares = min(_MOST_SPARES, limit() // 16)
        self._take_spares()
        self._checked_s: float | None = None

    def check(self, now_s: float) -> None:
        """Looks how many descriptors are left, a few times a second; to be called often, with a steady clock."""
        if self._checked_s is not None and now_s - self._checked_s < _CHECK_S:
            return
        self._checked_s = now_s
        left = free()
        if not self._is_shut and left < self._most_spares:
            self._shut(left)
        elif self._is_shut and not self._is_stopped and left <= 0:
            self._door.leave()
            self._stop()
            self._is_stopped = True
        elif self._is_shut and left >= 3 * self._most_spares:
            with contextlib.suppress(OSError):  # what listened may not be gone yet
                self._let_in()

    def renew(self) -> None:
        """Ends the connections that there are; peers connect anew as soon as the socket has left its address."""
        if not self._is_stopped:
            self._door.leave()
            self._stop()
            self._is_shut = self._is_stopped = True

    def close(self) -> None:
        """Lets go of everything; before the socket is closed."""
        self._door.open()
        self._door.leave()
        self._drop_spares()

    def _shut(self, left: int) -> None:
        self._door.shut()
        self._is_shut = True
        self._drop_spares()
        self._on_pause()
        text = "%s lets no more connections in: %d of %d files are open (ulimit -n)"
        _log.error(text, self._name, limit() - left, limit())

    def _let_in(self) -> None:
        if self._is_stopped:
            self._listen()
            self._door = _Door(self._endpoint)
            self._is_stopped = False
        else:
            self._door.open()
        self._take_spares()
        self._is_shut = False
        _log.warning("%s lets connections in again", self._name)

    def _take_spares(self) -> None:
        with contextlib.suppress(OSError):
            while len(self._spares) < self._most_spares:
                self._spares.append(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))

    def _drop_spares(self) -> None:
        while self._spares:
            os.close(self._spares.pop())


def _listener_at(address: str) -> socket.socket | None:
    """Returns our socket that listens at HOST:PORT, with a descriptor of its own."""
    port = int(address.rpartition(":")[2])
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208
        with contextlib.suppress(OSError):
            if not stat.S_ISSOCK(os.fstat(int(name)).st_mode):
                continue
            found = socket.socket(fileno=os.dup(int(name)))
            if _listens(found, port):
                return found
            found.close()
    return None


def _listens(found: socket.socket, port: int) -> bool:
    if found.family not in (socket.AF_INET, socket.AF_INET6):
        return False
    return bool(found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)) and found.getsockname()[1] == port
