"""``iotide collect --all-users``: accept the programs of all users as root, and pass each to its user's collector."""

from __future__ import annotations

import contextlib
import logging
import math
import select
import signal
import socket
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from ...collectors.sources.preload.rings.handover_socket import listen
from ...collectors.sources.preload.rings.unreached_processes import ReportSocket
from ...events.network.credentials import credentials_of
from ..common.service_manager import ServiceManager
from .node_users import ENDING_SIGNALS, MAX_WAITING, Collect, UserCollector, make_state_folder

_log = logging.getLogger(__name__)
_MODE: Final = 0o666
"""Permissions of the socket: all users may connect."""
_ACCEPTS_A_ROUND: Final = 256
_POLL_S: Final = 1.0
_RETRY_S: Final = 0.25
"""Pause of accepting when no descriptor is free, s."""
_LOG_EVERY_S: Final = 1.0
"""Minimum time between log lines about refused programs, s. A user may start any number of them."""
_END_S: Final = 20.0
"""Maximum time for the collectors to end, s. Each waits 10 s for acknowledgements."""


class NodeCollector:
    """Accepts connections of all users' programs. A process per user collects that user's programs.

    It reads nothing of what programs send, and holds no data of them.

    Args:
        path: path of the socket.
        collect: collects passed processes; called in a process of the user.
        max_users: maximum number of users whose programs are collected at once.
        state: folder for a folder of each user; None: none are needed.

    Attributes:
        counters: ``refused`` (connections), ``failed`` (collectors that ended with an error).

    Raises:
        InputError: another collector listens at the path.
    """

    def __init__(self, path: Path, collect: Collect, max_users: int, state: Path | None = None) -> None:
        self.counters: Counter[str] = Counter()
        self._path, self._collect, self._max_users, self._state = path, collect, max_users, state
        self._users: dict[int, UserCollector] = {}
        self._listening = listen(path, _MODE)
        self._events = select.epoll()
        self._events.register(self._listening, select.EPOLLIN)
        self._reports = ReportSocket(path, self._events)
        self._woken, self._waking = socket.socketpair()
        self._woken.setblocking(False)
        self._waking.setblocking(False)
        self._events.register(self._woken, select.EPOLLIN)
        self._accepts_again_s: float | None = None
        self._logs_again_s = -math.inf
        self._ends = False

    def run(self) -> int:
        """Collect until SIGINT or SIGTERM. Return 1 if a collector failed or lost events, else 0."""
        signal.set_wakeup_fd(self._waking.fileno(), warn_on_full_buffer=False)
        before = {number: signal.signal(number, self._request_end) for number in ENDING_SIGNALS}
        manager = ServiceManager()
        manager.ready(f"listens on {self._path}")
        try:
            while not self._ends:
                self._handle(self._events.poll(_POLL_S if self._accepts_again_s is None else _RETRY_S))
                manager.keep_alive()
            manager.stopping()
            self._end()
        finally:
            signal.set_wakeup_fd(-1)
            for number, handler in before.items():
                signal.signal(number, handler)
        return 1 if self.counters["failed"] else 0

    def _request_end(self, number: int, frame: object) -> None:
        self._ends = True

    def _handle(self, ready: list[tuple[int, int]]) -> None:
        descriptors = {descriptor for descriptor, _ in ready}
        for collector in list(self._users.values()):
            if collector.peers.fileno() in descriptors:
                self._exchange(collector)
            if collector.watch in descriptors:
                self._ended(collector)
        if self._woken.fileno() in descriptors:
            with contextlib.suppress(BlockingIOError):
                self._woken.recv(64)
        if self._reports.fileno() in descriptors:
            for message, user in self._reports.messages():
                if (found := self._users.get(user)) is not None:
                    found.report(message)
        if self._accepts_again_s is not None and time.monotonic() >= self._accepts_again_s:
            self._accepts_again_s = None
            self._events.register(self._listening, select.EPOLLIN)
        if self._listening.fileno() in descriptors:
            self._accept()

    def _accept(self) -> None:
        """Accept new connections. Programs never wait for that, as the kernel has connected them."""
        for _ in range(_ACCEPTS_A_ROUND):
            try:
                peer, _ = self._listening.accept()
            except BlockingIOError:
                return
            except OSError as error:  # no descriptor is free, or the program has disconnected
                _log.warning("a program could not be accepted: %s", error.strerror)
                # Unregister, because epoll would report the socket again immediately.
                self._events.unregister(self._listening)
                self._accepts_again_s = time.monotonic() + _RETRY_S
                return
            _, uid, gid = credentials_of(peer)
            if not self._pass_on(peer, uid, gid):
                peer.close()

    def _pass_on(self, peer: socket.socket, uid: int, gid: int) -> bool:
        collector = self._users.get(uid)
        if collector is None:
            if len(self._users) >= self._max_users:
                self._refuse(uid, f"--max-users {self._max_users} is reached")
                return False
            if (collector := self._begin(uid, gid, [peer])) is None:
                return False
        if not collector.peers.add(peer):
            self._refuse(uid, f"{MAX_WAITING} programs wait for the collector")
            return False
        self._watch_channel(collector)
        return True

    def _refuse(self, uid: int, reason: str) -> None:
        self.counters["refused"] += 1
        if (now_s := time.monotonic()) >= self._logs_again_s:
            self._logs_again_s = now_s + _LOG_EVERY_S
            count = self.counters["refused"]
            _log.warning("a program of user %d is not traced: %s; %d refused so far", uid, reason, count)

    def _begin(self, uid: int, gid: int, unread: Iterable[socket.socket]) -> UserCollector | None:
        """Start a user's collector. ``unread`` are connections that are passed to it later."""
        try:
            if self._state is not None:
                make_state_folder(self._state, uid, gid)
            collector = UserCollector(uid, gid, self._collect, lambda: self._close_in_child(unread))
        except OSError as error:
            self._refuse(uid, f"its collector cannot be started: {error.strerror}")
            return None
        self._users[uid] = collector
        self._events.register(collector.peers, select.EPOLLIN)
        self._events.register(collector.watch, select.EPOLLIN)
        return collector

    def _watch_channel(self, collector: UserCollector) -> None:
        """Also wait for room if connections wait."""
        if collector.peers.is_cut_off:  # its end follows
            return
        room = select.EPOLLOUT if collector.peers.waiting and not collector.peers.end_requested else 0
        self._events.modify(collector.peers, select.EPOLLIN | room)

    def _exchange(self, collector: UserCollector) -> None:
        if collector.peers.receive():
            collector.peers.pass_waiting()
            self._watch_channel(collector)
        else:
            self._events.unregister(collector.peers)  # epoll would report it again until the process has ended

    def _ended(self, collector: UserCollector) -> None:
        """Remove a collector that has ended. Start another one for unread programs, or if it was killed.

        One that fails before it reads a program is not replaced, because each successor would fail, too.
        """
        self._events.unregister(collector.watch)
        with contextlib.suppress(OSError):
            self._events.unregister(collector.peers)
        del self._users[collector.uid]
        status = collector.wait()
        collector.peers.receive()  # what it acknowledged last
        unread = collector.peers.take_unread()
        collector.close()
        if status:
            self.counters["failed"] += 1
            by = f"signal {-status}" if status < 0 else f"status {status}"
            _log.warning("the collector of user %s ended with %s", collector.user, by)
        has_begun = not status or collector.peers.acknowledged
        is_replaced = (unread and has_begun) or (status < 0 and not collector.was_short_lived)
        successor = self._begin(collector.uid, collector.gid, unread) if is_replaced and not self._ends else None
        for peer in unread:
            if successor is None or not successor.peers.add(peer):
                peer.close()
        if successor is not None:
            self._watch_channel(successor)

    def _end(self) -> None:
        """Stop listening, and end all collectors; each sends its events before."""
        if self._accepts_again_s is None:
            self._accept()  # programs that have connected by now
        if self._accepts_again_s is None:
            self._events.unregister(self._listening)
        self._accepts_again_s = None
        self._listening.close()
        self._reports.close()
        with contextlib.suppress(OSError):
            self._path.unlink()
        for collector in self._users.values():
            collector.peers.end()
        until_s = time.monotonic() + _END_S
        while self._users:
            if (left_s := until_s - time.monotonic()) <= 0:
                for collector in self._users.values():
                    collector.kill()
                left_s = _POLL_S
            self._handle(self._events.poll(left_s))
        self._close()

    def _close_in_child(self, unread: Iterable[socket.socket]) -> None:
        """Close everything that a user's process must not have."""
        for peer in unread:
            peer.close()
        self._listening.close()
        self._reports.close_in_parent()
        for collector in self._users.values():
            collector.close()
        self._close()

    def _close(self) -> None:
        self._events.close()
        self._woken.close()
        self._waking.close()
