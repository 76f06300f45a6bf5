"""Bound of a node's users, and the programs beyond it. A process of their user reports these to their jobs."""

from __future__ import annotations

import contextlib
import logging
import math
import pwd
import select
import time
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final, NamedTuple

from ...collectors.sources.preload.rings.passed_peers import NumberedPeer
from .node_users import UserCollector

_log = logging.getLogger(__name__)
SUBUID: Final = Path("/etc/subuid")
_OWNERS_SHARE: Final = 8
"""A user with its subordinate ids has at most the bound divided by this, so that one user cannot use up the bound."""
_MAX_BYTES: Final = 16 << 20


class _Range(NamedTuple):
    """Subordinate ids of a user, as in subuid(5)."""

    first: int
    last: int
    owner: str


class UserBound:
    """Decides whether a further user is admitted.

    The ids that a user was given for rootless containers count for that user.

    Args:
        most: maximum number of users at once.
        subuid: file with the subordinate ids, read again when it changes.
    """

    def __init__(self, most: int, subuid: Path = SUBUID) -> None:
        self._most, self._path = most, subuid
        self._owners_most = max(1, most // _OWNERS_SHARE)
        self._read_for: tuple[int, int, int] | None = None
        self._ranges: list[_Range] = []
        self._uids: dict[str, int | None] = {}
        """Ids of owners, because a directory service may take long to answer. They are renewed with the file."""

    def objection(self, uid: int, present: Iterable[int]) -> str:
        """Return the reason against a further user beside the present ones; "" if there is none."""
        users = list(present)
        if len(users) >= self._most:
            return f"--max-users {self._most} is reached"
        self._refresh()
        owner = self._owner(uid)
        if sum(self._owner(each) == owner for each in users) >= self._owners_most:
            share = f"{self._owners_most} of --max-users {self._most}"
            return f"user {owner} and the subordinate ids of that user have {share}"
        return ""

    def _owner(self, uid: int) -> int:
        """Return the user to whom an id is subordinate; the id itself if it is subordinate to none."""
        at = bisect_right(self._ranges, uid, key=lambda each: each.first) - 1
        if at < 0 or uid > (found := self._ranges[at]).last:
            return uid
        if found.owner not in self._uids:
            self._uids[found.owner] = _uid_of(found.owner)
        known = self._uids[found.owner]
        return found.first if known is None else known

    def _refresh(self) -> None:
        try:
            stat = self._path.stat()
            version = stat.st_ino, stat.st_size, stat.st_mtime_ns
            if version != self._read_for:
                self._read_for = version
                self._uids = {}
                with self._path.open(errors="replace", encoding="utf-8") as lines:
                    self._ranges = _ranges_of(lines.read(_MAX_BYTES))
        except FileNotFoundError:
            self._read_for, self._ranges, self._uids = None, [], {}
        except OSError as error:
            _log.warning("the subordinate ids in %s cannot be read: %s", self._path, error.strerror)


def _uid_of(owner: str) -> int | None:
    """Return the id of a user by name or number; None if there is no such user."""
    if owner.isdecimal():
        return int(owner)
    try:
        return pwd.getpwnam(owner).pw_uid
    except KeyError:
        return None


def _ranges_of(text: str) -> list[_Range]:
    """Return the ranges in the order of their first ids. Lines of another form are left out."""
    found = []
    for line in text.splitlines():
        owner, _, numbers = line.strip().partition(":")
        first, _, count = numbers.partition(":")
        if owner and not owner.startswith("#") and first.isdecimal() and count.isdecimal() and int(count):
            found.append(_Range(int(first), int(first) + int(count) - 1, owner))
    return sorted(found)


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
