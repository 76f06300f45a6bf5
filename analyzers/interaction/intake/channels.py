"""Channels of interaction: files, pipes, and sockets with both ends as one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

from ....events import FileInfo, FileType
from ....results.interaction_kinds import EdgeKind

_CONNECTION: Final = re.compile(r"(?P<family>[A-Z]\w*(?:-\w+)?):\[(?P<one>[^\[\]<>]*|.*?)<?->(?P<other>.*)\]$")
_MAPPED: Final = re.compile(r"\[::ffff:(\d+\.\d+\.\d+\.\d+)\]")
_LOOPBACK: Final = re.compile(r"[\[>]127\.|\[::1\]|\[::ffff:127\.")
MAX_CHANNELS: Final = 1_000_000  # maximum number of channels
EVERYWHERE: Final = -1  # space of channels shared by all machines
_KINDS: Final[dict[FileType, EdgeKind]] = {
    FileType.REGULAR: "file",
    FileType.UNKNOWN: "file",
    FileType.COPIED: "file",
    FileType.PIPE: "pipe",
    FileType.SOCKET: "socket",
}


class Channels:
    """Numbers the channels of files.

    0 stands for files beyond the bound, and for files that connect nothing (devices, folders, pseudo files).

    Both ends of a connection have one number: ``TCP:[a->b]`` at one end is ``TCP:[b->a]`` at the other. Pipes,
    host-local sockets and files on node-local file systems have different numbers on each machine.

    Attributes:
        overflowed: number of files beyond the bound.
    """

    def __init__(self) -> None:
        self.overflowed = 0
        self._numbers: dict[tuple[int, str], int] = {}
        self._names: list[str] = [""]
        self._kinds: list[EdgeKind] = ["file"]
        self._spaces: list[int] = [EVERYWHERE]
        self._of_file = np.zeros(1, np.int64)
        self._local = np.zeros(1, np.bool_)

    def __len__(self) -> int:
        return len(self._names)

    def of(self, files: npt.NDArray[np.integer], known: Sequence[FileInfo], space: int = 0) -> npt.NDArray[np.int64]:
        """Return the channel of each file number, int64.

        Args:
            files: file numbers.
            known: all files, by number.
            space: number of the machine that uses them.
        """
        if len(known) > len(self._of_file):
            fresh = known[len(self._of_file) :]
            self._local = np.concatenate((self._local, np.array([_is_local(info) for info in fresh], np.bool_)))
            # local files are numbered on first use, since only then the machine is known
            numbers = [0 if _is_local(info) else self._number(info, EVERYWHERE) for info in fresh]
            self._of_file = np.concatenate((self._of_file, np.array(numbers, np.int64)))
        channels: npt.NDArray[np.int64] = self._of_file[files]
        local = self._local[files]
        if local.any():
            found, which = np.unique(files[local], return_inverse=True)
            numbers = [self._number(known[file], space) for file in found.tolist()]
            channels[local] = np.array(numbers, np.int64)[which]
        return channels

    def name(self, channel: int) -> str:
        """Return the path of a channel."""
        return self._names[channel]

    def kind(self, channel: int) -> EdgeKind:
        """Return the kind of a channel."""
        return self._kinds[channel]

    def adopt(self, other: Channels, channel: int) -> int:
        """Return the number here of another object's channel, if the machines have the same numbers."""
        return self._add(other._names[channel], other._kinds[channel], other._spaces[channel])

    def adopt_shared(self, other: Channels, channel: int, machines: Sequence[int]) -> int:
        """Return the number here of another job's channel.

        Returns 0 for pipes and sockets of one machine, or of an unknown one.

        Args:
            other: channels of the other job.
            channel: number of the channel there.
            machines: number here of each of its machines, below 0 if unknown.
        """
        name, kind, space = other._names[channel], other._kinds[channel], other._spaces[channel]
        if space != EVERYWHERE:
            space = machines[space] if kind == "file" and space < len(machines) else EVERYWHERE
            if space < 0:
                return 0
        return self._add(name, kind, space)

    def snapshot(self) -> dict[str, Any]:
        """Return a copy of the state as plain data."""
        return {
            "overflowed": self.overflowed,
            "names": list(self._names),
            "kinds": list(self._kinds),
            "spaces": list(self._spaces),
            "of_file": self._of_file.copy(),
            "local": self._local.copy(),
        }

    @classmethod
    def restore(cls, data: dict[str, Any]) -> Self:
        """Create an object from a snapshot."""
        made = cls()
        made.overflowed = data["overflowed"]
        made._names, made._kinds, made._spaces = list(data["names"]), list(data["kinds"]), list(data["spaces"])
        made._of_file, made._local = data["of_file"].copy(), data["local"].copy()
        pairs = zip(made._spaces, made._names, strict=True)
        made._numbers = {pair: number for number, pair in enumerate(pairs) if number}
        return made

    def _number(self, info: FileInfo, space: int) -> int:
        kind = _KINDS.get(info.type)
        if kind is None or not info.path:
            return 0
        return self._add(connection(info.path) if kind == "socket" else info.path, kind, space)

    def _add(self, name: str, kind: EdgeKind, space: int) -> int:
        number = self._numbers.get((space, name))
        if number is None:
            if len(self._names) > MAX_CHANNELS:
                self.overflowed += 1
                return 0
            self._numbers[space, name] = number = len(self._names)
            self._names.append(name)
            self._kinds.append(kind)
            self._spaces.append(space)
        return number


def _is_local(info: FileInfo) -> bool:
    if info.type is FileType.SOCKET:
        return not info.path.startswith(("TCP", "UDP")) or _LOOPBACK.search(info.path) is not None
    return info.type is FileType.PIPE or info.shared is False


def connection(path: str) -> str:
    """Return the common name of both ends of a connection.

    >>> connection("TCP:[127.0.0.1:80->127.0.0.1:4711]") == connection("TCP:[127.0.0.1:4711->127.0.0.1:80]")
    True
    """
    found = _CONNECTION.match(path)
    if found is None:
        return path
    one, other = sorted(_MAPPED.sub(r"\1", end) for end in (found["one"], found["other"].partition(",")[0]))
    # a dual-stack server has clients of both families
    family = found["family"] if "[" in one else found["family"].removesuffix("v6")
    return f"{family}:[{one}<->{other}]"
