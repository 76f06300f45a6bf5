"""Registries of processes by stream, and of files by node."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from ....events import EventBatch, FileInfo, FileType, StreamInfo, is_constant
from ....events.programs import class_name
from ....events.schema import UNKNOWN_RANK
from ...common.state import Ints, State, distinct
from ...file_groups import DATA, GROUP_NAMES, CountRule

_LOW: Final = 2**32  # factor of the first number in a key of two
UNKNOWN: Final = -1
LOCAL: Final = 0
SHARED: Final = 1
_ON_EACH: Final = -1  # file with one number per node


class Process(NamedTuple):
    """Identity of a process; rank is -1 and pid 0 if unknown."""

    rank: int
    pid: int
    host: str
    command: str


class Processes:
    """Numbers the processes of a job from 1 in order of appearance. 0 stands for processes beyond the bound.

    A stream is a process, or one of its threads if another open stream has the same host, command and pid. Streams
    without a pid may contain several processes.
    """

    def __init__(self, bound: int) -> None:
        self.known: list[Process] = [Process(UNKNOWN_RANK, 0, "", "")]
        self.serials = 0
        self._bound = bound
        # by key: number of streams that use it, and the serial
        self._groups: dict[str, dict[int, tuple[int, int]]] = {}
        self._streams: dict[str, tuple[str, set[int]]] = {}

    def of(self, batch: EventBatch, stream: str, info: StreamInfo) -> Ints:
        """Return the serial number of each event's process, int64[n]."""
        if is_constant(batch.pid) and is_constant(batch.rank):
            pid, rank = int(batch.pid[0]) or info.pid, int(batch.rank[0])
            key = pid * _LOW + (info.rank if rank < 0 else rank) + 1
            return np.broadcast_to(np.int64(self._serial(stream, key, info)), (len(batch),))
        pids = np.where(batch.pid == 0, info.pid, batch.pid).astype(np.int64)
        ranks = np.where(batch.rank < 0, info.rank, batch.rank).astype(np.int64)
        found, group = distinct(pids * _LOW + (ranks + 1))
        return np.array([self._serial(stream, key, info) for key in found.tolist()], np.int64)[group]

    def row_of(self, serial: Ints) -> Ints:
        """Return the row in ``known`` of each serial number, int64[n]."""
        return np.where(serial <= self._bound, serial, 0)

    def close(self, stream: str) -> list[int]:
        """End a stream; return the serial numbers of the processes that ended with it."""
        name, keys = self._streams.pop(stream, ("", set()))
        numbers = self._groups.get(name, {})
        ended = set()
        for key in keys:
            uses, serial = numbers[key]
            if uses > 1:
                numbers[key] = uses - 1, serial
            else:
                del numbers[key]
                ended.add(serial)
        if not numbers:
            self._groups.pop(name, None)
        return sorted(ended)

    def merge(self, other: Processes) -> Ints:
        """Add the processes of another part of the job. Returns the row here of each of its rows."""
        rows = [0]
        for process in other.known[1:]:
            self.serials += 1
            rows.append(self._remember(process))
        self.serials += other.serials + 1 - len(other.known)
        return np.array(rows, np.int64)

    def snapshot(self) -> dict[str, Any]:
        """Return the state as plain data."""
        groups = {name: dict(numbers) for name, numbers in self._groups.items()}
        streams = {stream: (name, set(keys)) for stream, (name, keys) in self._streams.items()}
        return {
            "known": list(self.known), "serials": self.serials, "bound": self._bound, "groups": groups,
            "streams": streams,
        }  # fmt: skip

    @classmethod
    def restore(cls, data: dict[str, Any]) -> Self:
        """Create an object from a snapshot."""
        made = cls(data["bound"])
        made.known = [Process(*process) for process in data["known"]]
        made.serials = data["serials"]
        made._groups = {name: dict(numbers) for name, numbers in data["groups"].items()}
        made._streams = {stream: (name, set(keys)) for stream, (name, keys) in data["streams"].items()}
        return made

    def _serial(self, stream: str, key: int, info: StreamInfo) -> int:
        name, keys = self._streams.get(stream) or self._open(stream, info)
        numbers = self._groups.setdefault(name, {})
        if key not in keys:
            keys.add(key)
            uses, serial = numbers.get(key) or (0, self._number(numbers, key, info))
            numbers[key] = uses + 1, serial
        return numbers[key][1]

    def _open(self, stream: str, info: StreamInfo) -> tuple[str, set[int]]:
        # a command contains no NUL, so names of streams and groups differ
        name = f"{info.host}\0{info.command}" if info.pid else stream
        opened: tuple[str, set[int]] = (name, set())
        self._streams[stream] = opened
        return opened

    def _number(self, numbers: dict[int, tuple[int, int]], key: int, info: StreamInfo) -> int:
        pid, rank = divmod(key, _LOW)
        rank -= 1
        unranked = numbers.get(pid * _LOW) if pid and rank >= 0 else None
        if unranked is not None and self._becomes(unranked[1], rank):
            return unranked[1]  # the process received its rank in MPI_Init
        self.serials += 1
        self._remember(Process(rank, pid, info.host, info.command))
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
    """Numbers files from 1.

    A file on a node-local file system has one number per node. 0 stands for files beyond the bound.

    Attributes:
        paths, hosts, mounts, systems: texts of each file; the host is "" unless the file is node-local.
        scopes: ``UNKNOWN``, ``LOCAL`` or ``SHARED``.
        types: FileType of each file.
        classes: class number of each file.
        names: names of the classes: paths with ``#`` for numbers; 1 and 2 stand for files other than program data.
        class_groups: group of each class: DATA, CHANNEL or SYSTEM.
        overflowed: number of events on files beyond the bound.
    """

    def __init__(self, bound: int, rule: CountRule = CountRule()) -> None:  # noqa: B008  (it is immutable)
        self.paths = [""]
        self.hosts = [""]
        self.mounts = [""]
        self.systems = [""]
        self.scopes = [UNKNOWN]
        self.types = [int(FileType.UNKNOWN)]
        self.classes = [0]
        self.names = ["", *GROUP_NAMES.values()]
        self.class_groups = [DATA, *GROUP_NAMES]
        self.overflowed = 0
        self._bound = bound
        self._rule = rule
        self._known: dict[tuple[str, str], int] = {("", ""): 0}
        self._named: dict[tuple[str, int], int] = {
            known: number for number, known in enumerate(zip(self.names, self.class_groups, strict=True))
        }
        self._hosts: dict[str, int] = {"": 0}
        self._numbers: dict[int, int] = {0: 0}
        self._on_host: dict[int, int] = {}
        self._class_of = np.zeros(64, np.int64)
        self._group_of = np.zeros(64, np.int64)

    def host(self, name: str) -> int:
        """Return the number of a host."""
        return self._hosts.setdefault(name, len(self._hosts))

    def of(self, file: npt.NDArray[Any], host: Ints, known: Sequence[FileInfo], count: Ints | None = None) -> Ints:
        """Return the number of each event's file, int64[n].

        Args:
            file: file numbers of the job.
            host: host number of each event.
            known: files by the job's numbers.
            count: number of calls that each event stands for; one by default.
        """
        file = file.astype(np.int64)
        found, group = distinct(file)
        made = np.array([self._shared_file(number, known[number]) for number in found.tolist()], np.int64)[group]
        rows = np.flatnonzero(made == _ON_EACH)
        if len(rows):
            found, group = distinct(host[rows] * _LOW + file[rows])
            made[rows] = np.array([self._local_file(key, known) for key in found.tolist()], np.int64)[group]
        beyond = (file != 0) & (made == 0)
        self.overflowed += int(np.count_nonzero(beyond) if count is None else count[beyond].sum())
        return made

    def class_of(self, file: Ints) -> Ints:
        """Return the class of each file, int64[n]."""
        return self._class_of[file]

    def group_of(self, file: Ints) -> Ints:
        """Return the group of each file, int64[n]."""
        return self._group_of[file]

    def merge(self, other: Files) -> tuple[Ints, Ints]:
        """Add the files of another object.

        Returns the number here of each of its files, and of each of its classes.
        """
        files = [0]
        columns = zip(other.paths, other.hosts, other.mounts, other.systems, other.scopes, other.types, strict=True)
        for path, host, mount, system, scope, kind in list(columns)[1:]:
            files.append(self._add_file(path, host, mount, system, scope, kind))
        self.overflowed += other.overflowed
        classes = [self._class_number(name, group) for name, group in zip(other.names, other.class_groups, strict=True)]
        return np.array(files, np.int64), np.array(classes, np.int64)

    def _shared_file(self, number: int, info: FileInfo) -> int:
        one = self._numbers.get(number)
        if one is None:
            scope = UNKNOWN if info.shared is None else int(info.shared)
            place = (info.mount_point, info.filesystem, scope, int(info.type))
            one = _ON_EACH if scope == LOCAL else self._add_file(info.path, "", *place)
            if one:
                self._numbers[number] = one
        return one

    def _local_file(self, key: int, known: Sequence[FileInfo]) -> int:
        one = self._on_host.get(key)
        if one is None:
            host, number = divmod(key, _LOW)
            info = known[number]
            name = next(name for name, at in self._hosts.items() if at == host)
            one = self._add_file(info.path, name, info.mount_point, info.filesystem, LOCAL, int(info.type))
            if one:
                self._on_host[key] = one
        return one

    def _add_file(self, path: str, host: str, mount: str, system: str, scope: int, kind: int) -> int:
        key = host, path if kind != FileType.COPIED else f"{path}\0"  # code that programs copy has another group
        one = self._known.get(key)
        if one is None:
            if len(self.paths) > self._bound:
                return 0
            one = self._known[key] = len(self.paths)
            self.paths.append(path)
            self.hosts.append(host)
            self.mounts.append(mount)
            self.systems.append(system)
            self.scopes.append(scope)
            self.types.append(kind)
            group = self._rule.group(path, kind)
            self.classes.append(self._class_number(class_name(path), group))
            if one == len(self._class_of):
                self._class_of = np.concatenate([self._class_of, np.zeros_like(self._class_of)])
                self._group_of = np.concatenate([self._group_of, np.zeros_like(self._group_of)])
            self._class_of[one] = self.classes[one]
            self._group_of[one] = group
        return one

    def _class_number(self, name: str, group: int) -> int:
        number = self._named.get((name, group))
        if number is None:
            number = self._named[name, group] = len(self.names)
            self.names.append(name)
            self.class_groups.append(group)
        return number
