"""What processes can interact through: files, pipes and the two ends of sockets as one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

from ...events import FileInfo, FileType
from ...events.interaction import EdgeKind

_CONNECTION: Final = re.compile(r"(?P<family>[A-Z]\w*(?:-\w+)?):\[(?P<one>[^\[\]<>]*|.*?)<?->(?P<other>.*)\]$")
_KINDS: Final[dict[FileType, EdgeKind]] = {
    FileType.REGULAR: "file",
    FileType.UNKNOWN: "file",
    FileType.PIPE: "pipe",
    FileType.SOCKET: "socket",
}


class Channels:
    """Numbers what files stand for: 0 for what connects nobody (devices, folders, pseudo files).

    Both ends of a connection have one number: ``TCP:[a->b]`` at one end is ``TCP:[b->a]`` at the other.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._names: list[str] = [""]
        self._kinds: list[EdgeKind] = ["file"]
        self._of_file = np.zeros(1, np.int64)

    def of(self, files: npt.NDArray[np.integer], known: Sequence[FileInfo]) -> npt.NDArray[np.int64]:
        """Returns the channel of each file number, int64.

        Args:
            files: numbers of files.
            known: all files, by number.
        """
        if len(known) > len(self._of_file):
            fresh = [self._number(info) for info in known[len(self._of_file) :]]
            self._of_file = np.concatenate((self._of_file, np.array(fresh, np.int64)))
        numbers: npt.NDArray[np.int64] = self._of_file[files]
        return numbers

    def name(self, channel: int) -> str:
        """Returns the path of a channel."""
        return self._names[channel]

    def kind(self, channel: int) -> EdgeKind:
        """Returns what a channel is."""
        return self._kinds[channel]

    def __len__(self) -> int:
        return len(self._names)

    def snapshot(self) -> dict[str, Any]:
        """Returns a copy of the state as plain data."""
        return {"names": list(self._names), "kinds": list(self._kinds), "of_file": self._of_file.copy()}

    @classmethod
    def restore(cls, data: dict[str, Any]) -> Self:
        """Makes one that has the state of a snapshot."""
        made = cls()
        made._names, made._kinds, made._of_file = list(data["names"]), list(data["kinds"]), data["of_file"].copy()
        made._numbers = {name: number for number, name in enumerate(made._names) if number}
        return made

    def _number(self, info: FileInfo) -> int:
        kind = _KINDS.get(info.type)
        if kind is None or not info.path:
            return 0
        return self.number(connection(info.path) if kind == "socket" else info.path, kind)

    def number(self, name: str, kind: EdgeKind) -> int:
        """Returns the number of a channel by its name."""
        number = self._numbers.get(name)
        if number is None:
            self._numbers[name] = number = len(self._names)
            self._names.append(name)
            self._kinds.append(kind)
        return number


def connection(path: str) -> str:
    """Returns the name that both ends of a connection have.

    >>> connection("TCP:[127.0.0.1:80->127.0.0.1:4711]") == connection("TCP:[127.0.0.1:4711->127.0.0.1:80]")
    True
    """
    found = _CONNECTION.match(path)
    if found is None:
        return path
    one, other = sorted((found["one"], found["other"].partition(",")[0]))
    return f"{found['family']}:[{one}<->{other}]"
