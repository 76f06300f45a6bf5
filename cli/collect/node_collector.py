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
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from ...collectors.sources.preload.rings.handover_socket import BACKLOG, listen
from ...collectors.sources.preload.rings.passed_peers import NumberedPeer, PassedPeers
from ...collectors.sources.preload.rings.unreached_processes import ReportSocket
from ...events.losses import REFUSED_USERS, REFUSED_WAITING
from ...events.network.credentials import credentials_of
from ...events.network.key_source import KeySource
from ..common.service_manager import ServiceManager
from .node_keeper import NodeKeeper
from .node_refusals import Refusals, RefusedGroup, UserBound
from .node_users import ENDING_SIGNALS, MAX_WAITING, Collect, UserCollector, begin_collector, make_state_folder

_log = logging.getLogger(__name__)
_MODE: Final = 0o666
"""Permissions of the socket: all users may connect."""
_ACCEPTS_A_ROUND: Final = 256
_POLL_S: Final = 1.0
_RETRY_S: Final = 0.25
"""Pause of accepting when no descriptor is free, s."""
_KEEP_AGAIN_S: Final = 5.0
"""Minimum time between two starts of the keeper, s."""
_END_S: Final = 20.0
"""Maximum time for the collectors to end, s. Each waits 10 s for acknowledgements."""


Report = Callable[[PassedPeers, str], int]
"""Reports passed processes as the present user, with their loss, and returns the exit status."""


class NodeCollector:
    """Accepts connections of all users' programs. A process per user collects that user's programs.

    It reads nothing of what programs send, and holds no data of them. If it is killed, the processes of the users
    continue, and the next collector at the path adopts them with the connections that they have not read.

    Args:
        path: path of the socket.
        collect: collects passed processes; called in a process of the user.
        report: reports processes that are refused; called in a process of the user.
        bound: bound of the users whose programs are collected at once.
        state: folder for a folder of each user; None: none are needed.
        keys: origin of the keys with which all users' processes connect to the aggregator; read again on SIGHUP.

    Attributes:
        counters: ``failed`` (collectors that ended with an error), ``keepers_restarted``.

    Raises:
        InputError: another collector listens at the path.
    """

    def __init__(
        self, path: Path, collect: Collect, report: Report, bound: UserBound, state: Path | None, keys: KeySource
    ) -> None:
        self.counters: Counter[str] = Counter()
        self._path, self._collect, self._report, self._bound, self._state = path, collect, report, bound, state
        self._keys = keys
        self._users: dict[int, UserCollector] = {}
        self._keeper = NodeKeeper(path)
        self._events = select.epoll()
        self._refusals = Refusals(self._begin_report, self._events)
        self._listening, reports = self._keeper.listening or (listen(path, _MODE), None)
        self._listening.listen(BACKLOG)  # as this process, which `collect --stop` then ends
        self._events.register(self._listening, select.EPOLLIN)
        self._reports = ReportSocket(path, self._events, reports)
        self._last_number = 0
        self._unread: list[NumberedPeer] = []
        self._woken, self._waking = socket.socketpair()
        self._woken.setblocking(False)
        self._waking.setblocking(False)
        self._events.register(self._woken, select.EPOLLIN)
        self._accepts_again_s: float | None = None
        self._keeps_again_s, self._has_keeper = -math.inf, False
        self._ends = self._reloads = False
        self._keeper.start(self._listening, self._reports.fileno())
        self._watch_keeper()
        self._adopt()

    def run(self) -> int:
        """Collect until SIGINT or SIGTERM. Return 1 if a collector failed or lost events, else 0."""
        signal.set_wakeup_fd(self._waking.fileno(), warn_on_full_buffer=False)
        before = {number: signal.signal(number, self._request_end) for number in ENDING_SIGNALS}
        before[signal.SIGHUP] = signal.signal(signal.SIGHUP, self._request_reload)
        manager = ServiceManager()
        manager.ready(f"listens on {self._path}")
        try:
            while not self._ends:
                if self._reloads:
                    self._reloads = False
                    manager.reloading()
                    self._refresh_keys(self._users.values())
                    manager.ready(f"listens on {self._path}")
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

    def _request_reload(self, number: int, frame: object) -> None:
        self._reloads = True

    def _refresh_keys(self, collectors: Iterable[UserCollector]) -> None:
        """Read the keys again, and pass them to processes of users, which cannot read the files."""
        self._keys.refresh()
        if self._keys.keys is not None:
            for collector in collectors:
                collector.peers.pass_keys(self._keys.keys.packed())

    def _handle(self, ready: list[tuple[int, int]]) -> None:
        descriptors = {descriptor for descriptor, _ in ready}
        self._check_keeper(descriptors)
        for collector in list(self._users.values()):
            if collector.peers.fileno() in descriptors:
                self._exchange(collector)
            if collector.watch in descriptors:
                self._ended(collector)
        self._refusals.handle(descriptors, at_once=self._ends)
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
            self._last_number += 1
            numbered = NumberedPeer(self._last_number, peer)
            self._keeper.keep_peer(uid, gid, numbered)
            self._pass_on(numbered, uid, gid)

    def _pass_on(self, peer: NumberedPeer, uid: int, gid: int) -> None:
        collector = self._users.get(uid)
        if collector is None:
            if objection := self._bound.objection(uid, self._users):
                self._refuse(peer, RefusedGroup(uid, gid, REFUSED_USERS), objection)
                return
            if (collector := self._begin(uid, gid, [peer])) is None:
                return
        self._add(collector, [peer])

    def _add(self, collector: UserCollector, peers: list[NumberedPeer]) -> None:
        for peer in peers:
            if not collector.peers.add(peer):
                group = RefusedGroup(collector.uid, collector.gid, REFUSED_WAITING)
                self._refuse(peer, group, f"{MAX_WAITING} programs wait for the collector")
        self._watch_channel(collector)

    def _refuse(self, peer: NumberedPeer, group: RefusedGroup, reason: str) -> None:
        self._keeper.forget_peer(peer.number)
        self._refusals.add(peer, group, reason)

    def _begin_report(self, group: RefusedGroup) -> UserCollector:
        """Start a process that reports refused programs of a user. A successor of this process does not adopt it."""
        return begin_collector(
            group.uid,
            group.gid,
            lambda passed: self._report(passed, group.counter),
            self._close_in_child,
            lambda number: None,
        )

    def _drop(self, peer: NumberedPeer) -> None:
        peer.socket.close()
        self._keeper.forget_peer(peer.number)

    def _begin(self, uid: int, gid: int, unread: list[NumberedPeer]) -> UserCollector | None:
        """Start a user's collector. ``unread`` are connections that are passed to it later."""
        self._unread = unread
        try:
            if self._state is not None:
                make_state_folder(self._state, uid, gid)
            collector = begin_collector(uid, gid, self._collect, self._close_in_child, self._keeper.forget_peer)
        except OSError as error:
            for peer in unread:
                self._refuse(peer, RefusedGroup(uid, gid, ""), f"its collector cannot be started: {error.strerror}")
            return None
        finally:
            self._unread = []
        self._register(collector)
        return collector

    def _register(self, collector: UserCollector) -> None:
        self._users[collector.uid] = collector
        self._keeper.keep_user(collector.uid, collector.gid, collector.descriptors)
        self._events.register(collector.peers, select.EPOLLIN)
        self._events.register(collector.watch, select.EPOLLIN)

    def _adopt(self) -> None:
        """Continue with the processes and the connections of a killed collector."""
        for user in self._keeper.users:
            self._register(UserCollector(user, self._keeper.forget_peer))
        for uid, gid, peer in self._keeper.peers:
            self._last_number = max(self._last_number, peer.number)
            self._keeper.keep_peer(uid, gid, peer)
        self._keeper.has_inherited()
        self._refresh_keys(self._users.values())  # they may have changed
        for uid, gid, peer in self._keeper.peers:
            self._pass_on(peer, uid, gid)  # perhaps for the second time, which has no effect
        self._keeper.peers.clear()

    def _watch_keeper(self) -> None:
        channel = self._keeper.fileno()
        self._has_keeper = channel >= 0
        if self._has_keeper:
            self._events.register(channel, 0)  # its end is reported nevertheless

    def _check_keeper(self, ready: set[int]) -> None:
        """Start another keeper if there is none any more, and give it all that the one before had."""
        channel, now_s = self._keeper.fileno(), time.monotonic()
        if self._has_keeper and channel in ready:
            self._events.unregister(channel)  # because epoll would report its end until another one may start
            self._has_keeper = False
        if (self._has_keeper and channel >= 0) or self._ends or now_s < self._keeps_again_s:
            return
        self._keeps_again_s = now_s + _KEEP_AGAIN_S
        if not self._keeper.restart(self._listening, self._reports.fileno()):
            return
        for collector in self._users.values():
            self._keeper.keep_user(collector.uid, collector.gid, collector.descriptors)
            for peer in collector.peers.unread():
                self._keeper.keep_peer(collector.uid, collector.gid, peer)
        self._watch_keeper()
        self.counters["keepers_restarted"] += 1
        count = self.counters["keepers_restarted"]
        _log.warning("the process that keeps programs had ended: another process keeps programs; %d so far", count)

    def _watch_channel(self, collector: UserCollector) -> None:
        """Also wait for room if connections wait."""
        if collector.peers.is_cut_off:  # its end follows
            return
        room = select.EPOLLOUT if collector.peers.waiting and not collector.peers.end_requested else 0
        self._events.modify(collector.peers, select.EPOLLIN | room)

    def _exchange(self, collector: UserCollector) -> None:
        if collector.peers.receive():
            collector.peers.pass_waiting()
            if collector.peers.keys_requested:
                collector.peers.keys_requested = False
                self._refresh_keys([collector])
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
        self._keeper.forget_user(collector.uid)
        status = collector.wait()
        collector.peers.receive()  # what it acknowledged last
        if status is None:  # adopted: it was killed unless it was let go
            status = 0 if collector.peers.end_requested else -signal.SIGKILL
        unread = list(collector.peers.take_unread())
        collector.close()
        if status:
            self.counters["failed"] += 1
            by = f"signal {-status}" if status < 0 else f"status {status}"
            _log.warning("the collector of user %s ended with %s", collector.user, by)
        has_begun = not status or collector.peers.acknowledged
        is_replaced = (unread and has_begun) or (status < 0 and not collector.was_short_lived)
        if not is_replaced or self._ends:
            for peer in unread:
                self._drop(peer)
        elif (successor := self._begin(collector.uid, collector.gid, unread)) is not None:
            self._add(successor, unread)

    def _end(self) -> None:
        """Stop listening, and end all collectors; each sends its events before."""
        if self._accepts_again_s is None:
            self._accept()  # programs that have connected by now
        if self._accepts_again_s is None:
            self._events.unregister(self._listening)
        self._accepts_again_s = None
        self._keeper.forget_listening()
        self._listening.close()
        self._reports.close()
        with contextlib.suppress(OSError):
            self._path.unlink()
        self._refresh_keys(self._users.values())  # nothing is passed after the end
        for collector in self._users.values():
            collector.peers.end()
        until_s = time.monotonic() + _END_S
        while self._users or self._refusals.unreported:
            if (left_s := until_s - time.monotonic()) <= 0:
                self._refusals.close()
                for collector in self._users.values():
                    collector.kill()
            self._handle(self._events.poll(min(max(left_s, 0.0), _POLL_S)))
        self._keeper.close()
        self._close()

    def _close_in_child(self) -> None:
        """Close everything that a user's process must not have."""
        for peer in self._unread:
            peer.socket.close()
        for _, _, peer in self._keeper.peers:
            peer.socket.close()
        self._listening.close()
        self._reports.close_in_parent()
        for collector in self._users.values():
            collector.close()
        self._refusals.close_in_child()
        self._keeper.close_in_child()
        self._close()

    def _close(self) -> None:
        self._events.close()
        self._woken.close()
        self._waking.close()
