"""Limit of open files, and protection of ZeroMQ against accepting more connections than it allows."""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import resource
import socket
import stat
import struct
from collections import Counter
from collections.abc import Callable
from typing import Final, Protocol

from ..errors import UnavailableError
from .open_descriptors import count_open_descriptors, open_descriptors
from .recurring_condition import RecurringCondition

_log = logging.getLogger(__name__)
_MAX_DESCRIPTORS: Final = 1 << 20
"""More are not useful, and some systems allow a billion."""
_MAX_SPARES: Final = 128
_CHECK_S: Final = 0.25
_SO_ATTACH_FILTER, _SO_DETACH_FILTER = 26, 27
_DROP_ALL: Final = struct.pack("HBBI", 0x06, 0, 0, 0)
"""A packet filter that drops everything: BPF_RET 0."""


def raise_limit() -> int:
    """Raise this process's limit of open files as far as permitted; return the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MAX_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _MAX_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return limit()


def limit() -> int:
    """Return this process's limit of open files."""
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return _MAX_DESCRIPTORS if soft == resource.RLIM_INFINITY else soft


def limit_problem() -> str:
    """Return the message that this process's limit of open files is too small."""
    return f"the limit of {limit()} open files is too small (ulimit -n)"


def check_limit(least: int) -> None:
    """Check that this process can open enough files. Otherwise modules, libraries or sockets fail later.

    Args:
        least: number of files that it opens at least.

    Raises:
        UnavailableError: it can open fewer.
    """
    if free() < least:
        raise UnavailableError(limit_problem())


def free() -> int:
    """Return how many more files this process can open."""
    try:
        return limit() - count_open_descriptors() + 1  # one belongs to the listing
    except OSError:  # no descriptor is left even for the listing
        return 0


def backlog() -> int:
    """Return the maximum number of connections that wait to be accepted. Spare descriptors must suffice for them."""
    return 100 if limit() >= 8 * _MAX_SPARES else 4


class _ConnectionGate:
    """Blocks or allows new connections to a ZeroMQ socket; existing connections are not affected."""

    def __init__(self, endpoint: str) -> None:
        scheme, _, self._path = endpoint.partition("://")
        self._listener = _listener_at(self._path) if scheme == "tcp" else None
        self._is_file = scheme == "ipc" and not self._path.startswith("@")

    def block(self) -> None:
        """Make new peers wait, or retry later."""
        with contextlib.suppress(OSError):
            if self._listener is not None:
                code = ctypes.create_string_buffer(_DROP_ALL, len(_DROP_ALL))
                program = struct.pack("@HP", 1, ctypes.addressof(code))
                self._listener.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, program)
            elif self._is_file:
                os.rename(self._path, f"{self._path}.shut")  # noqa: PTH104

    def open(self) -> None:
        """Allow new connections."""
        with contextlib.suppress(OSError):
            if self._listener is not None:
                self._listener.setsockopt(socket.SOL_SOCKET, _SO_DETACH_FILTER, 0)
            elif self._is_file:
                os.rename(f"{self._path}.shut", self._path)  # noqa: PTH104

    def close(self) -> None:
        """Close the duplicated socket, which would otherwise continue to listen."""
        if self._listener is not None:
            self._listener.close()


class ListenerGuard:
    """Keeps a ZeroMQ socket from accepting connections while few descriptors are left.

    Without a free descriptor, ZeroMQ retries accepting immediately, which takes a whole core while the peer waits. So
    new connections are blocked while a few descriptors are left, and spare ones serve connections that already wait. If
    that is not enough, the socket stops listening, which ends the existing connections.

    Args:
        name: name of the listener, for the log.
        endpoint: endpoint at which it listens.
        stop: function that stops listening.
        listen: function that listens again; raises an OSError if that is not possible yet.
        on_pause: function called when new connections are blocked.
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
        self._gate = _ConnectionGate(endpoint)
        self._is_blocked = self._is_stopped = False
        self._spares: list[int] = []
        self._most_spares = min(_MAX_SPARES, limit() // 16)
        self._take_spares()
        self._checked_s: float | None = None
        self._condition = RecurringCondition()

    def check(self, now_s: float) -> None:
        """Check the remaining descriptors, a few times a second. Must be called often, with a steady clock."""
        if self._checked_s is not None and now_s - self._checked_s < _CHECK_S:
            return
        self._checked_s = now_s
        left = free()
        if not self._is_blocked and left < self._most_spares:
            self._block(left, now_s)
        elif self._is_blocked and not self._is_stopped and left <= 0:
            self._gate.close()
            self._stop()
            self._is_stopped = True
        elif self._is_blocked and left >= 3 * self._most_spares:
            with contextlib.suppress(OSError):  # the previous listener may still exist
                self._allow()
        if self._is_blocked:
            self._condition.continues(now_s)
        elif (ended := self._condition.ended(now_s)) is not None:
            text = "%s accepts connections again, after %d pauses in %.0f s"
            _log.warning(text, self._name, ended.times, ended.lasted_s)

    def renew(self) -> None:
        """End the existing connections; peers reconnect once the socket has left its address."""
        if not self._is_stopped:
            self._gate.close()
            self._stop()
            self._is_blocked = self._is_stopped = True

    def close(self) -> None:
        """Release everything; must be called before the socket is closed."""
        self._gate.open()
        self._gate.close()
        self._drop_spares()

    def _block(self, left: int, now_s: float) -> None:
        self._gate.block()
        self._is_blocked = True
        self._drop_spares()
        self._on_pause()
        if self._condition.occurred(now_s):
            _log.error(
                "%s accepts no more connections: %d of %d files are open; raise ulimit -n (LimitNOFILE= of the unit). "
                "Further pauses are counted but not logged",
                self._name, limit() - left, limit(),
            )  # fmt: skip

    def _allow(self) -> None:
        if self._is_stopped:
            self._listen()
            self._gate = _ConnectionGate(self._endpoint)
            self._is_stopped = False
        else:
            self._gate.open()
        self._take_spares()
        self._is_blocked = False

    def _take_spares(self) -> None:
        with contextlib.suppress(OSError):
            while len(self._spares) < self._most_spares:
                self._spares.append(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC))

    def _drop_spares(self) -> None:
        while self._spares:
            os.close(self._spares.pop())


def _listener_at(address: str) -> socket.socket | None:
    """Return a duplicate of this process's socket that listens at HOST:PORT."""
    port = int(address.rpartition(":")[2])
    for number in open_descriptors():
        with contextlib.suppress(OSError):
            if not stat.S_ISSOCK(os.fstat(number).st_mode):
                continue
            found = socket.socket(fileno=os.dup(number))
            if _listens(found, port):
                return found
            found.close()
    return None


def _listens(found: socket.socket, port: int) -> bool:
    if found.family not in (socket.AF_INET, socket.AF_INET6):
        return False
    return bool(found.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)) and found.getsockname()[1] == port


class Listener(Protocol):
    """A listening ZeroMQ socket."""

    def stop_listening(self) -> None:
        """Stop listening."""

    def listen(self) -> None:
        """Listen again; raises an OSError if that is not possible yet."""


class ListenerGuards:
    """The guards of all listeners. Their pauses are counted as ``listener_pauses``."""

    def __init__(self, counters: Counter[str]) -> None:
        self._counters = counters
        self._guards: list[ListenerGuard] = []

    def add(self, name: str, endpoint: str, listener: Listener) -> ListenerGuard:
        """Guard a listener.

        Args:
            name: name of the listener, for the log.
            endpoint: endpoint at which it listens.
            listener: the listener.

        Returns:
            Its guard, to be closed before the listener.
        """
        guard = ListenerGuard(name, endpoint, listener.stop_listening, listener.listen, self._count_pause)
        self._guards.append(guard)
        return guard

    def check(self, now_s: float) -> None:
        """Block or allow new connections, by the number of free descriptors."""
        for guard in self._guards:
            guard.check(now_s)

    def renew(self) -> None:
        """End all connections, so that peers authenticate again."""
        for guard in self._guards:
            guard.renew()

    def close(self) -> None:
        """Release all guards."""
        for guard in self._guards:
            guard.close()

    def _count_pause(self) -> None:
        self._counters["listener_pauses"] += 1
