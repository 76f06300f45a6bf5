"""Find the mount of a path from ``/proc/PID/mountinfo``, by the kernel's rules."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

_OCTAL: Final = re.compile(rb"\\([0-7]{3})")
_REMEMBERED: Final = 4096
"""Maximum number of folders whose mount is cached."""
_NO_PARENT: Final = None


class Mount(Struct, frozen=True):
    """One line of mountinfo."""

    number: int
    parent: int
    """Number of the mount on which it is mounted."""
    root: str
    """The mounted part of the file system; not ``/`` for a bind mount."""
    point: str
    """Mount point as the process sees it."""
    filesystem: str
    source: str = ""


class MountTable:
    """The mounts of one namespace, as a process with one root folder sees them.

    A mount hides earlier mounts below it, and the last of several mounts on one point is visible. The mount of a path
    is found as in the kernel: from each mount to the next one that is mounted on it.
    """

    def __init__(self, mounts: Iterable[Mount]) -> None:
        self.mounts = tuple(mounts)
        numbers = {mount.number for mount in self.mounts}
        self._on: dict[tuple[int | None, str], Mount] = {}
        self._points = {mount.point for mount in self.mounts}
        for mount in self.mounts:
            known = mount.parent in numbers and mount.parent != mount.number
            self._on[mount.parent if known else _NO_PARENT, mount.point] = mount
        self._of_folder: dict[str, Mount | None] = {}

    def is_point(self, path: str) -> bool:
        """Return whether the path is a mount point. Everything else in a folder is on the folder's mount."""
        return path in self._points

    def find(self, path: str) -> Mount | None:
        """Return the mount of an absolute path without ``.`` and ``..``. Returns None if no mount covers it."""
        if path in self._points:
            return self._walk(path)
        folder = path[: path.rfind("/")] or "/"
        try:
            return self._of_folder[folder]
        except KeyError:
            if len(self._of_folder) >= _REMEMBERED:
                self._of_folder.clear()
            found = self._of_folder[folder] = self._walk(folder)
            return found

    def _walk(self, path: str) -> Mount | None:
        reached: Mount | None = None
        for at in [0, *(place for place, each in enumerate(path) if each == "/" and place), len(path)]:
            point = path[:at] or "/"
            if point not in self._points:
                continue
            for _ in range(len(self.mounts)):  # mounts that hide one another
                following = self._on.get((reached.number if reached else _NO_PARENT, point))
                if following is None or following is reached:
                    break
                reached = following
        return reached


def parse_mountinfo(text: bytes) -> list[Mount]:
    """Parse mountinfo; malformed lines are skipped.

    >>> parse_mountinfo(rb"36 35 98:0 /mnt1 /with\\040space rw master:1 - ext3 /dev/root rw")[0].point
    '/with space'
    """
    mounts = []
    for line in text.splitlines():
        fields = line.split(b" ")
        try:
            dash = fields.index(b"-", 6)
            number, parent = int(fields[0]), int(fields[1])
            root, point, kind, source = (_unescaped(each) for each in (*fields[3:5], *fields[dash + 1 : dash + 3]))
        except (ValueError, IndexError):
            continue
        if point.startswith("/"):
            mounts.append(Mount(number, parent, root, point, kind, source))
    return mounts


def _unescaped(field: bytes) -> str:
    return _OCTAL.sub(lambda found: bytes([int(found[1], 8) & 0xFF]), field).decode(errors="backslashreplace")
