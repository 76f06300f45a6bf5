"""Bound of the users whose programs a node's collector collects at once."""

from __future__ import annotations

import logging
import pwd
from bisect import bisect_right
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

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
                with self._path.open(errors="replace") as lines:
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
