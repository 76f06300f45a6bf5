"""File system of each file, with one identity for all nodes that share it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from ...events import FileInfo
from ...results.jobs.file_systems import Place
from ..common.sorting import distinct_pairs

UNKNOWN: Final = "unknown"
_MAX_POINTS: Final = 8  # maximum number of mount points kept per file system
_UNRESOLVED: Final = -1
Numbers = npt.NDArray[np.int64]


class NodeFileSystem(Struct, frozen=True):
    """A file system as seen by one node. ``name`` is its identity if it is the same on all nodes."""

    name: str = ""
    place: Place = "unknown"
    type: str = ""
    source: str = ""
    local: str = ""
    """Distinguishes it from others of its node."""


class IdentifiedFileSystem(Struct):
    """A file system with its identity."""

    name: str
    node_file_system: NodeFileSystem
    points: list[str]


def file_system_of(file: FileInfo, names: Mapping[str, str]) -> NodeFileSystem:
    """Return the file system of a file.

    Args:
        file: information on the file.
        names: configured names by path prefix, by source, and by type and source.

    >>> file_system_of(FileInfo("/s/a", mount_point="/s", filesystem="nfs4", shared=True, source="srv:/s"), {}).name
    'nfs4:srv:/s'
    >>> file_system_of(FileInfo("/scratch/a"), {"/scratch": "fast"}).name
    'fast'
    >>> file_system_of(FileInfo("/a", mount_point="/", filesystem="ext4", shared=False, source="/dev/vda"), {}).local
    '/dev/vda'
    """
    kind, source, point = file.filesystem, file.source, file.mount_point
    given = (
        _configured_name(file.path, names) or names.get(f"{kind}:{source}") or (names.get(source) if source else None)
    )
    if given:
        return NodeFileSystem(given, "shared", kind, source)
    if file.shared:
        return NodeFileSystem(f"{kind}:{source or point}", "shared", kind, source)
    if not point:
        return NodeFileSystem()
    local = source if source.startswith("/dev/") else point  # a device may be mounted at several places
    return NodeFileSystem("", "unknown" if file.shared is None else "local", kind, source, local)


def _configured_name(path: str, names: Mapping[str, str]) -> str:
    """Return the configured name of the longest path prefix that ends at a slash. Returns "" if there is none."""
    fitting = [start for start in names if start.startswith("/") and (path + "/").startswith(start.rstrip("/") + "/")]
    return names[max(fitting, key=len)] if fitting else ""


class FileSystemTable:
    """Numbers the file systems of a job. 0 stands for unknown ones and those beyond the bound.

    Args:
        bound: maximum number of distinct file systems.
        names: configured names, as for ``file_system_of``.

    Attributes:
        all: file systems by number.
        beyond: number of files, and of hosts' views of file systems, that are unknown because of the bound.
    """

    def __init__(self, bound: int, names: Mapping[str, str]) -> None:
        self.all = [IdentifiedFileSystem(UNKNOWN, NodeFileSystem(), [])]
        self.beyond = 0
        self.hosts: list[str] = []
        self._bound = bound
        self._names = dict(names)
        self._node_file_systems = [NodeFileSystem()]
        self._node_file_system_numbers = {NodeFileSystem(): 0}
        self._mount_points: list[list[str]] = [[]]
        self._of_file = np.zeros(1, np.int64)
        self._host_numbers: dict[str, int] = {}
        self._numbers: dict[str, int] = {UNKNOWN: 0}
        self._of_host = np.zeros((0, 1), np.int64)  # place by host and spot
        self._used = np.zeros((0, 1), np.bool_)  # whether each host uses each place

    def host(self, name: str) -> int:
        """Return the number of a host."""
        number = self._host_numbers.get(name)
        if number is None:
            number = self._host_numbers[name] = len(self.hosts)
            self.hosts.append(name)
            self._of_host = _grown(self._of_host, (len(self.hosts), self._of_host.shape[1]), _UNRESOLVED)
            self._of_host[number, 0] = 0
        return number

    def add_files(self, files: Sequence[FileInfo]) -> None:
        """Add files by number; known ones are unchanged."""
        first = len(self._of_file)
        if first == len(files):
            return
        of_file = np.zeros(len(files), np.int64)
        of_file[:first] = self._of_file
        for number in range(first, len(files)):
            of_file[number] = self._node_file_system_number(files[number])
        self._of_file = of_file
        self._of_host = _grown(self._of_host, (len(self.hosts), len(self._node_file_systems)), _UNRESOLVED)

    def numbers(self, files: npt.NDArray[np.integer[Any]], hosts: Numbers) -> Numbers:
        """Return the place of each file as seen by a host.

        Args:
            files: numbers of known files.
            hosts: host number of each.
        """
        node_file_systems = self._of_file.take(files)
        found = self._of_host[hosts, node_file_systems]
        if (missing := found < 0).any():
            both = np.stack(np.broadcast_arrays(hosts, node_file_systems), axis=1)[missing]
            for host, node_file_system in distinct_pairs(*both.T).T.tolist():
                self._of_host[host, node_file_system] = self._place(node_file_system, host)
            found = self._of_host[hosts, node_file_systems]
        return found

    def tables(self) -> tuple[Numbers, Numbers, npt.NDArray[np.bool_]]:
        """Return three tables. They are spot by file, place by host and spot, and use by host and place.

        A place that is not yet known is -1. The caller may set uses.
        """
        return self._of_file, self._of_host, self._users()

    def use(self, hosts: Numbers, places: Numbers) -> None:
        """Record that hosts use places."""
        self._users()[hosts, places] = True

    def _users(self) -> npt.NDArray[np.bool_]:
        if self._used.shape != (shape := (len(self.hosts), len(self.all))):
            self._used = _grown(self._used, shape, False)
        return self._used

    def users(self, place: int) -> list[str]:
        """Return the hosts that use a place."""
        if place >= self._used.shape[1]:
            return []
        return sorted(self.hosts[host] for host in np.flatnonzero(self._used[:, place]).tolist() if self.hosts[host])

    def _node_file_system_number(self, file: FileInfo) -> int:
        node_file_system = file_system_of(file, self._names)
        number = self._node_file_system_numbers.get(node_file_system)
        if number is None:
            if len(self._node_file_systems) > self._bound:
                self.beyond += 1
                return 0
            number = self._node_file_system_numbers[node_file_system] = len(self._node_file_systems)
            self._node_file_systems.append(node_file_system)
            self._mount_points.append([])
        points = self._mount_points[number]
        if file.mount_point and file.mount_point not in points and len(points) < _MAX_POINTS:
            points.append(file.mount_point)
        return number

    def _place(self, number: int, host: int) -> int:
        node_file_system = self._node_file_systems[number]
        name = node_file_system.name
        if not name:
            if not self.hosts[host]:
                return 0  # the node is unknown
            name = f"{self.hosts[host]}:{node_file_system.local}"
        place = self._numbers.get(name)
        if place is None:
            if len(self.all) > self._bound:
                self.beyond += 1
                return 0
            place = self._numbers[name] = len(self.all)
            self.all.append(IdentifiedFileSystem(name, node_file_system, self._mount_points[number]))
        return place


def _grown(table: npt.NDArray[Any], shape: tuple[int, int], fill: int) -> npt.NDArray[Any]:
    made = np.full(shape, fill, table.dtype)
    made[: table.shape[0], : table.shape[1]] = table
    return made
