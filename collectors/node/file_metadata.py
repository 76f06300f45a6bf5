"""Look up the metadata of files that processes of this node name. It is mount, file system, scope and type."""

from __future__ import annotations

import math
import os
import select
import stat
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeAlias

import msgspec
from msgspec import Struct, field

from ...events import FileInfo, FileType
from .file_systems import (
    ROOT_MOUNT,
    FileSystems,
    Mount,
    MountTable,
    parse_mountinfo,
    root_mount,
    type_of_folder,
    type_on,
)
from .striping import LayoutReader, LayoutRequest, Striping

_REFRESH_INTERVAL_S: Final = 1.0
"""Seconds until a process's namespace is read again. Its mounts are read again, too, if the kernel does not report
changes."""
_MAX_VIEWS: Final = 64
_MAX_BYTES: Final = 16 << 20
_MAX_KNOWN: Final = 16_384
_STABLE: Final = ("/usr/", "/lib/", "/lib64/", "/etc/")
"""System folders, whose files are assumed not to change for a second."""
_PIECE: Final = 1 << 20
_MEMORY: Final = "/memfd:"
"""Prefix that the kernel gives to files without a mount (memfd)."""
_LONGEST_SOURCE: Final = 256
_STRIPED: Final = frozenset({"lustre", "lustre_lite"})
_TYPE_OF_MODE: Final = {
    stat.S_IFDIR: FileType.DIRECTORY,
    stat.S_IFIFO: FileType.PIPE,
    stat.S_IFSOCK: FileType.SOCKET,
    stat.S_IFCHR: FileType.DEVICE,
    stat.S_IFBLK: FileType.DEVICE,
}


_Key: TypeAlias = tuple[int, str]
"""Inode of a mount namespace, and a root folder in it."""
_OfMount: TypeAlias = tuple[FileType, str, str, bool | None, int, int, str, str]
"""Fields of FileInfo from ``type`` on."""


class _View(Struct):
    """The mounts that processes with the same mount namespace and root folder see."""

    descriptor: int
    """Open descriptor of a mountinfo file. It keeps the namespace readable after the process has ended."""
    content: bytes = b""
    table: MountTable | None = None
    read_s: float | None = None
    known: dict[tuple[str, FileType], _OfMount] = field(default_factory=dict)
    """Results per folder and type (from the path's spelling) for the current mount table; bounded."""
    infos: dict[tuple[str, FileType], FileInfo] = field(default_factory=dict)
    """Results for system files from the last second, by path and type. The type is from the path's spelling; the
    table is bounded."""
    named: dict[bytes, FileInfo] = field(default_factory=dict)
    """The same, by the bytes with which processes name the files."""
    infos_s: float = -math.inf
    """Time since when ``infos`` and ``named`` are collected, s."""
    changes: select.poll = field(default_factory=select.poll)
    """Reports once after each change of the mounts. Never reports for files that are not the kernel's."""

    def __post_init__(self) -> None:
        self.changes.register(self.descriptor, select.POLLPRI)

    def forget_files(self) -> None:
        """Discards the results for system files."""
        self.infos.clear()
        self.named.clear()


class NodeFileMetadata:
    """Reads the mounts of the node's processes, and caches them by namespace for short processes.

    Args:
        systems: properties of file system types.
        proc: path of the proc file system.
        clock: a steady clock, s.
        layouts: reader of file striping.
    """

    def __init__(
        self,
        systems: FileSystems | None = None,
        proc: Path = Path("/proc"),
        clock: Callable[[], float] = time.monotonic,
        layouts: LayoutReader | None = None,
    ) -> None:
        self.systems = systems or FileSystems()
        self.clock = clock
        self.layouts = layouts or LayoutReader()
        self._proc = proc
        self._own: _Key = (self._namespace("self") or 0, "/")
        self._views: OrderedDict[_Key, _View] = OrderedDict()
        self._roots: dict[int, _Key] = {root: self._own} if (root := root_mount("/")) else {}
        """Views by the ids of the mounts that are their root folders."""
        self._is_closed = False

    def of_process(self, pid: int, claimed_mounts: int = 0) -> ProcessFileMetadata:
        """Return a lookup of files by the names that a process uses.

        Args:
            pid: the process id in our namespace; the process may have ended.
            claimed_mounts: what the process reported: ``root_mount`` of its root folder, or the inode of its mount
                namespace; 0 if it reported none.
        """
        return ProcessFileMetadata(self, pid, claimed_mounts)

    def key_of(self, pid: int, claimed_mounts: int) -> _Key | None:
        """Return the key of the mounts that a process sees; None if unknown."""
        namespace = self._namespace(str(pid))
        if namespace is None:  # ended, or not accessible to us
            return self._key_of_claim(claimed_mounts)
        root = "/"
        with suppress(OSError):
            root = os.readlink(f"{self._proc}/{pid}/root")  # noqa: PTH115  (likewise)
        key = (namespace, root)
        return key if self._view(key, str(pid)) is not None else None

    def _key_of_claim(self, claimed: int) -> _Key | None:
        key: _Key | None = (claimed, "/")
        if claimed in (0, self._own[0]):
            key = self._own
        elif claimed & ROOT_MOUNT:
            key = self._roots.get(claimed)
        return key if key == self._own or key in self._views else None

    def is_own(self, key: _Key) -> bool:
        """Return whether paths have the same meaning for that process as for this one."""
        return key == self._own

    def view(self, key: _Key) -> _View | None:
        """Return a view with its current mounts; None if they are unknown."""
        view = self._view(key)
        if view is None:
            return None
        now_s = self.clock()
        if view.read_s is None or view.changes.poll(0) or now_s - view.read_s >= _REFRESH_INTERVAL_S:
            view.read_s = now_s
            content = _read(view.descriptor)
            if content != view.content:
                view.content = content
                view.known.clear()
                view.forget_files()
                mounts = parse_mountinfo(content)
                if not any(mount.point == "/" for mount in mounts):
                    if key == self._own:
                        mounts += _own_root(mounts)
                    elif key[1] != "/":
                        mounts += self._mount_of_root(key[1])
                view.table = MountTable(mounts)
        return view

    def close(self) -> None:
        """Close all descriptors. Later lookups find no mounts."""
        self._is_closed = True
        self.layouts.close()
        while self._views:
            os.close(self._views.popitem()[1].descriptor)

    def _mount_of_root(self, root: str) -> list[Mount]:
        """Return the mount of a root folder that is not a mount point (chroot). Mountinfo omits it."""
        view = self.view(self._own)
        found = None if view is None or view.table is None else view.table.find(root)
        # Mounts below it have this mount as their parent.
        return [] if found is None else [Mount(found.number, found.number, root, "/", found.filesystem, found.source)]

    def _namespace(self, process: str) -> int | None:
        try:
            return os.stat(f"{self._proc}/{process}/ns/mnt").st_ino  # noqa: PTH116  (for each process)
        except OSError:
            return None

    def _view(self, key: _Key, process: str | None = None) -> _View | None:
        """Return a cached view, otherwise one read from a process's mountinfo."""
        view = self._views.get(key)
        if view is not None:
            self._views.move_to_end(key)
            return view
        if self._is_closed or (process is None and key != self._own):
            return None
        try:
            name = "self" if key == self._own else str(process)
            descriptor = os.open(self._proc / name / "mountinfo", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        while len(self._views) >= _MAX_VIEWS:
            oldest, old = self._views.popitem(last=False)
            os.close(old.descriptor)
            self._roots = {root: known for root, known in self._roots.items() if known != oldest or known == self._own}
        view = self._views[key] = _View(descriptor)
        if root := root_mount(f"{self._proc}/{name}/root/"):  # as the process may not be believed
            self._roots.setdefault(root, key)
        return view


class ProcessFileMetadata:
    """Returns FileInfo for a path of one process and the type that its spelling implies.

    Mounts are those of the last ``refresh``. Striping is determined later, by a thread: ``has_pending`` is true while
    results are pending, and ``take_answers`` returns those that have arrived.
    """

    def __init__(self, node: NodeFileMetadata, pid: int, claimed_mounts: int) -> None:
        self._node = node
        self._pid = pid
        self._claimed = claimed_mounts
        self._key: _Key | None = None
        self._view: _View | None = None
        self._refreshed_s = -math.inf
        self._questions: list[LayoutRequest] = []
        self._find()  # before the process ends

    def __call__(self, path: str, spelled: FileType) -> FileInfo:
        """Return the metadata of a file; never waits for another machine."""
        if self._view is None:
            self.refresh()
        view = self._view
        if view is None or not path.startswith(_STABLE):
            return self._metadata_of(path, spelled)
        self._forget_old(view)
        info = view.infos.get((path, spelled))
        if info is None:
            info = self._metadata_of(path, spelled)
            if info.filesystem not in _STRIPED:  # each process asks for itself
                view.infos[path, spelled] = info
        return info

    def infos(self, files: Iterable[tuple[int, str, FileType]]) -> list[FileInfo]:
        """Return the metadata of files, each with its number, path and the type that its spelling implies."""
        if self._view is not None:
            self._forget_old(self._view)
        recent = {} if self._view is None else self._view.infos  # only files whose metadata may be reused
        return [recent.get((path, spelled)) or self(path, spelled) for _, path, spelled in files]

    def named(self) -> dict[bytes, FileInfo]:
        """Return the results of the last second, by the names that processes use. ``keep`` adds to them."""
        if (view := self._view) is None:
            return {}
        self._forget_old(view)
        return view.named

    def keep(self, name: bytes, info: FileInfo) -> None:
        """Add a result to ``named`` if it is valid for other processes, too."""
        view = self._view
        if view is not None and info.path.startswith(_STABLE) and info.filesystem not in _STRIPED:
            if len(view.named) >= _MAX_KNOWN:
                view.named.clear()
            view.named[name] = info

    def _forget_old(self, view: _View) -> None:
        now_s = self._node.clock()
        if now_s - view.infos_s >= _REFRESH_INTERVAL_S or len(view.infos) >= _MAX_KNOWN:
            view.forget_files()
            view.infos_s = now_s

    def _metadata_of(self, path: str, spelled: FileType) -> FileInfo:
        info = self._on_mount(path, spelled)
        if info.type is not FileType.REGULAR or not info.filesystem or not self._is_own:
            return info
        if self._node.systems.answers_at_once(info.filesystem):
            type_ = _type_of(path, info.type)
            return info if type_ is info.type else msgspec.structs.replace(info, type=type_)
        if info.filesystem in _STRIPED:
            self._questions.append(self._node.layouts.request_layout(path))
        return info

    def refresh(self) -> None:
        """Read the mounts again if they are old; later lookups use them."""
        if self._node.clock() - self._refreshed_s >= _REFRESH_INTERVAL_S:
            self._find()
        self._view = None if self._key is None else self._node.view(self._key)

    @property
    def has_pending(self) -> bool:
        """True while striping results are pending."""
        return bool(self._questions)

    def take_answers(self, *, last: bool = False) -> list[tuple[str, Striping]]:
        """Return the striping results since the last call; with ``last``, pending ones are abandoned."""
        if not self._questions:
            return []
        answered = [each for each in self._questions if each.answered.is_set()]
        self._questions = [] if last else [each for each in self._questions if not each.answered.is_set()]
        return [(each.path, each.answer) for each in answered if each.answer is not None]

    @property
    def _is_own(self) -> bool:
        return self._key is not None and self._node.is_own(self._key)

    def _on_mount(self, path: str, spelled: FileType) -> FileInfo:
        view = self._view
        if view is None or view.table is None or not path.startswith("/") or path.startswith(_MEMORY):
            return FileInfo(path, spelled)
        key = (path[: path.rfind("/")], spelled)
        of_folder = view.known.get(key)
        if of_folder is None or view.table.is_point(path):
            mount = view.table.find(path)
            if mount is None:
                return FileInfo(path, spelled)
            kind = mount.filesystem
            shared = self._node.systems.shared(kind)
            source = mount.source[:_LONGEST_SOURCE]
            of_mount = (type_on(kind, spelled), mount.point, kind, shared, 0, 0, "", source)
            if view.table.is_point(path):
                return FileInfo(path, *of_mount)
            if len(view.known) >= _MAX_KNOWN:
                view.known.clear()
            view.known[key] = of_folder = of_mount
        return FileInfo(path, *of_folder)

    def _find(self) -> None:
        self._refreshed_s = self._node.clock()
        # For a process that has ended since, the last known mounts remain valid.
        self._key = self._node.key_of(self._pid, self._claimed if self._key is None else self._key[0]) or self._key


def _own_root(mounts: list[Mount]) -> list[Mount]:
    """Return the mount of our root folder if it is not a mount point (chroot). Our mount table lacks it."""
    kind = type_of_folder("/")
    numbers = {mount.number for mount in mounts}
    number = next((mount.parent for mount in mounts if mount.parent not in numbers), 0)
    return [Mount(number, number, "/", "/", kind)] if kind else []


def _type_of(path: str, otherwise: FileType) -> FileType:
    try:
        return _TYPE_OF_MODE.get(stat.S_IFMT(os.stat(path).st_mode), otherwise)  # noqa: PTH116  (once for each file)
    except (OSError, ValueError):
        return otherwise


def _read(descriptor: int) -> bytes:
    pieces: list[bytes] = []
    try:
        os.lseek(descriptor, 0, os.SEEK_SET)
        while sum(map(len, pieces)) < _MAX_BYTES and (piece := os.read(descriptor, _PIECE)):
            pieces.append(piece)
    except OSError:
        return b""
    return b"".join(pieces)
