"""Who calls and on what: processes of streams, files of nodes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from ...events import EventBatch, FileInfo, FileType, StreamInfo, is_constant
from ...events.schema import UNKNOWN_RANK
from ..dfg.state import Ints, State, distinct

_LOW: Final = 2**32
_NUMBER: Final = re.compile(r"\d+")
_ENDING: Final = re.compile(r"\.[A-Za-z]\w{0,4}$")
UNKNOWN: Final = -1
LOCAL: Final = 0
SHARED: Final = 1


class Process(NamedTuple):
    """What is known of one; rank -1 and pid 0 where they are not."""

    rank: int
    pid: int
    host: str
    command: str


class Processes:
    """Numbers the processes of a job from 1, in the order in which they come; 0 is those beyond the bound."""

    def __init__(self, bound: int) -> None:
        self.known: list[Process] = [Process(UNKNOWN_RANK, 0, "", "")]
        self.serials = 0
        self._bound = bound
        self._streams: dict[str, dict[int, int]] = {}

    def of(self, batch: EventBatch, stream: str, info: StreamInfo) -> tuple[Ints, Ints]:
        """Returns the serial number of each event's process, and its row in ``known``; int64[n] both."""
        numbers = self._streams.setdefault(stream, {})
        if is_constant(batch.pid) and is_constant(batch.rank):
            one_pid, one_rank = int(batch.pid[0]) or info.pid, int(batch.rank[0])
            key = one_pid * _LOW + (info.rank if one_rank < 0 else one_rank) + 1
            one = numbers.get(key) or self._number(numbers, key, info)
            return np.full(len(batch), one), np.full(len(batch), one if one <= self._bound else 0)
        pid = np.where(batch.pid == 0, info.pid, batch.pid).astype(np.int64)
        rank = np.where(batch.rank < 0, info.rank, batch.rank).astype(np.int64)
        found, group = distinct(pid * _LOW + (rank + 1))
        serials = np.array([numbers.get(key) or self._number(numbers, key, info) for key in found.tolist()], np.int64)
        serial = serials[group]
        return serial, np.where(serial <= self._bound, serial, 0)

    def close(self, stream: str) -> list[int]:
        """Forgets a stream; returns the serials of its processes."""
        return sorted(set(self._streams.pop(stream, {}).values()))

    def merge(self, other: Processes) -> Ints:
        """Adds the processes of another job's part; returns our row of each of its rows."""
        rows = [0]
        for process in other.known[1:]:
            self.serials += 1
            rows.append(self._remember(process))
        self.serials += other.serials + 1 - len(other.known)
        return np.array(rows, np.int64)

    def snapshot(self) -> dict[str, Any]:
        """Returns the state as plain data."""
        streams = {stream: dict(numbers) for stream, numbers in self._streams.items()}
        return {"known": list(self.known), "serials": self.serials, "bound": self._bound, "streams": streams}

    @classmethod
    def restore(cls, data: dict[str, Any]) -> Self:
        """Makes processes that go on where a snapshot was made."""
        made = cls(data["bound"])
        made.known = [Process(*process) for process in data["known"]]
        made.serials = data["serials"]
        made._streams = {stream: dict(numbers) for stream, numbers in data["streams"].items()}
        return made

    def _number(self, numbers: dict[int, int], key: int, info: StreamInfo) -> int:
        pid, rank = divmod(key, _LOW)
        rank -= 1
        unranked = numbers.get(pid * _LOW) if pid and rank >= 0 else None
        if unranked is not None and self._becomes(unranked, rank):
            numbers[key] = unranked  # MPI_Init has told the process its rank
            return unranked
        self.serials += 1
        self._remember(Process(rank, pid, info.host, info.command))
        numbers[key] = self.serials
        return self.serials

    def _becomes(self, serial: int, rank: int) -> bool:
        if serial >= len(self.known):
            return True
        if self.known[serial].rank not in (UNKNOWN_RANK, rank):
            return False
        self.known[serial] = self.known[serial]._replace(rank=rank)
        return True

    def _remember(self, process: Process) -> int:
        if len(self.known) > self._bound:
            return 0
        self.known.append(process)
        return len(self.known) - 1


class Files(State):
    """Numbers files from 1: one on a file system of a single node is another on each; 0 is those beyond the bound.

    Attributes:
        paths, hosts, mounts, systems: texts of each file; the host is "" unless the file is of one node.
        scopes: ``UNKNOWN``, ``LOCAL`` or ``SHARED``; -1 too where it is not known.
        types: FileType of each.
        classes: number of each file's class.
        names: of the classes: paths with their numbers as ``#``.
        overflowed: events on files beyond the bound.
    """

    def __init__(self, bound: int) -> None:
        self.paths = [""]
        self.hosts = [""]
        self.mounts = [""]
        self.systems = [""]
        self.scopes = [UNKNOWN]
        self.types = [int(FileType.UNKNOWN)]
        self.classes = [0]
        self.names = [""]
        self.overflowed = 0
        self._bound = bound
        self._known: dict[tuple[str, str], int] = {("", ""): 0}
        self._named: dict[str, int] = {"": 0}
        self._hosts: dict[str, int] = {"": 0}
        self._numbers: dict[int, int] = {0: 0}
        self._class_of = np.zeros(1, np.int64)
        self._of_data = np.ones(1, np.bool_)

    def of(self, file: npt.NDArray[Any], host: str, known: Sequence[FileInfo]) -> Ints:
        """Returns the number of each event's file, int64[n].

        Args:
            file: the job's numbers.
            host: where the events come from.
            known: what the job's numbers mean.
        """
        found, group = distinct(file.astype(np.int64))
        at = self._hosts.setdefault(host, len(self._hosts))
        numbers = self._numbers
        made = np.zeros(len(found), np.int64)
        for row, number in enumerate(found.tolist()):
            one = numbers.get(number)
            if one is None:
                one = numbers.get(number + _LOW * (at + 1))
                if one is None:
                    one = self._remember(number, at, known[number], host)
            made[row] = one
        result = made[group]
        if not made.all():
            self.overflowed += int(np.count_nonzero((result == 0) & (file != 0)))
        return result

    def class_of(self, file: Ints) -> Ints:
        """Returns the class of each of some files, int64[n]."""
        if len(self._class_of) < len(self.classes):
            self._class_of = np.array(self.classes, np.int64)
        return self._class_of[file]

    def of_data(self, file: Ints) -> npt.NDArray[np.bool_]:
        """Tells which files are regular ones, as far as is known; bool[n]."""
        if len(self._of_data) < len(self.types):
            self._of_data = np.isin(self.types, (FileType.UNKNOWN, FileType.REGULAR))
        return self._of_data[file]

    def merge(self, other: Files) -> tuple[Ints, Ints]:
        """Adds the files of another; returns our number of each of its files, and of each of its classes."""
        files = [0]
        columns = zip(other.paths, other.hosts, other.mounts, other.systems, other.scopes, other.types, strict=True)
        for path, host, mount, system, scope, kind in list(columns)[1:]:
            files.append(self._place(path, host, mount, system, scope, kind))
        self.overflowed += other.overflowed
        return np.array(files, np.int64), np.array([self._class(name) for name in other.names], np.int64)

    def _remember(self, number: int, at: int, info: FileInfo, host: str) -> int:
        local = info.shared is False
        scope = UNKNOWN if info.shared is None else int(info.shared)
        place = (info.path, host if local else "", info.mount_point, info.filesystem, scope, int(info.type))
        one = self._place(*place)
        if one or not info.path:
            self._numbers[number + _LOW * (at + 1) if local else number] = one
        return one

    def _place(self, path: str, host: str, mount: str, system: str, scope: int, kind: int) -> int:
        one = self._known.get((host, path))
        if one is None:
            if len(self.paths) > self._bound:
                return 0
            one = self._known[host, path] = len(self.paths)
            self.paths.append(path)
            self.hosts.append(host)
            self.mounts.append(mount)
            self.systems.append(system)
            self.scopes.append(scope)
            self.types.append(kind)
            self.classes.append(self._class(class_name(path)))
        return one

    def _class(self, name: str) -> int:
        number = self._named.get(name)
        if number is None:
            number = self._named[name] = len(self.names)
            self.names.append(name)
        return number


def class_name(path: str) -> str:
    """Returns a path with its numbers as ``#``, except in an ending such as ``.h5``.

    >>> class_name("/scratch/run7/out.0017.h5"), class_name("/proc/4711/maps")
    ('/scratch/run#/out.#.h5', '/proc/#/maps')
    """
    ending = _ENDING.search(path)
    cut = ending.start() if ending else len(path)
    return _NUMBER.sub("#", path[:cut]) + path[cut:]
