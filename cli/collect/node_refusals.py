"""Programs that a node's collector does not collect. A process of their user reports them to their jobs."""

from __future__ import annotations

import contextlib
import logging
import math
import select
import time
from collections import deque
from collections.abc import Callable
from typing import Final, NamedTuple

from ...collectors.sources.preload.rings.passed_peers import NumberedPeer
from .node_users import UserCollector

_log = logging.getLogger(__name__)
_MAX_KEPT: Final = 1024
_MAX_KEPT_OF_USER: Final = 64
"""Maximum numbers of refused programs that wait to be reported. A user may start any number of programs."""
_BEGIN_EVERY_S: Final = 1.0
"""Minimum time between the starts of two reporting processes, s."""
_REPORT_S: Final = 30.0
"""Maximum time of a reporting process, s. Its user may stop it, and must not hold up the reports of others."""
_LOG_EVERY_S: Final = 1.0
"""Minimum time between log lines about refused programs, s."""


class RefusedGroup(NamedTuple):
    """What the programs that one process reports have in common."""

    uid: int
    gid: int
    counter: str
    """The loss of their jobs."""


Begin = Callable[[RefusedGroup], UserCollector]
"""Starts a process that reports passed programs; may raise OSError."""


class Refusals:
    """Logs refused programs, and lets one process at a time report those of one user.

    Args:
        begin: starts a reporting process.
        events: set in which its descriptors are registered.
        most_s: maximum time of a reporting process, s.

    Attributes:
        count: number of refused programs.
    """

    def __init__(self, begin: Begin, events: select.epoll, most_s: float = _REPORT_S) -> None:
        self.count = 0
        self._begin, self._events, self._most_s = begin, events, most_s
        self._kept: dict[RefusedGroup, deque[NumberedPeer]] = {}
        self._reporting: UserCollector | None = None
        self._begins_again_s = self._logs_again_s = -math.inf
        self._until_s = math.inf

    @property
    def unreported(self) -> bool:
        """Whether refused programs are yet to be reported."""
        return bool(self._kept) or self._reporting is not None

    def add(self, peer: NumberedPeer, group: RefusedGroup, reason: str) -> None:
        """Take over the connection of a refused program."""
        self.count += 1
        if (now_s := time.monotonic()) >= self._logs_again_s:
            self._logs_again_s = now_s + _LOG_EVERY_S
            _log.warning("a program of user %d is not traced: %s; %d refused so far", group.uid, reason, self.count)
        kept = self._kept.get(group)
        of_user = sum(len(peers) for each, peers in self._kept.items() if each.uid == group.uid)
        if not group.counter or of_user >= _MAX_KEPT_OF_USER or sum(map(len, self._kept.values())) >= _MAX_KEPT:
            peer.socket.close()
        elif kept is None:
            self._kept[group] = deque([peer])
        else:
            kept.append(peer)

    def handle(self, ready: set[int], *, at_once: bool = False) -> None:
        """Continue to report.

        Args:
            ready: descriptors that are ready.
            at_once: start the next process without a pause.
        """
        if (reporting := self._reporting) is not None:
            if reporting.peers.fileno() in ready and not reporting.peers.receive():
                self._unregister(reporting.peers)
            if reporting.watch in ready:
                self._end(reporting)
            elif time.monotonic() >= self._until_s:
                reporting.kill()
        if self._reporting is None and self._kept and (at_once or time.monotonic() >= self._begins_again_s):
            self._start()

    def close(self) -> None:
        """Close the connections, and kill the reporting process."""
        for peers in self._kept.values():
            for peer in peers:
                peer.socket.close()
        self._kept.clear()
        if self._reporting is not None:
            self._reporting.kill()
            self._end(self._reporting)

    def close_in_child(self) -> None:
        """Close the descriptors in a forked process."""
        for peers in self._kept.values():
            for peer in peers:
                peer.socket.close()
        if self._reporting is not None:
            self._reporting.close()

    def _start(self) -> None:
        """Start a process for the user who waits longest. The channel has room for all programs of a user."""
        now_s = time.monotonic()
        self._begins_again_s, self._until_s = now_s + _BEGIN_EVERY_S, now_s + self._most_s
        group = next(iter(self._kept))
        try:
            reporting = self._begin(group)
        except OSError as error:
            _log.warning("refused programs of user %d are not reported: %s", group.uid, error.strerror)
            for peer in self._kept.pop(group):
                peer.socket.close()
            return
        self._reporting = reporting
        self._events.register(reporting.peers, select.EPOLLIN)
        self._events.register(reporting.watch, select.EPOLLIN)
        for peer in self._kept.pop(group):
            if not reporting.peers.add(peer):
                peer.socket.close()
        reporting.peers.end()

    def _end(self, reporting: UserCollector) -> None:
        self._unregister(reporting.peers)
        self._events.unregister(reporting.watch)
        reporting.wait()
        reporting.close()
        self._reporting = None

    def _unregister(self, peers: object) -> None:
        with contextlib.suppress(OSError):
            self._events.unregister(peers)  # type: ignore[arg-type]
