"""Mounts, and file systems by type: shared between nodes or local; the type determines that of their files."""

from __future__ import annotations

import ctypes
import os
import re
import struct
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from ...events import FileType

# Types of kernel file systems and of user space (fuse.NAME); several have changed their name.
_TYPES: Final = {
    "shared": "acfs afs beegfs ceph cifs coda cvfs daos dvs fhgfs gfs gfs2 glusterfs gpfs kafs lustre lustre_lite mfs "
    "ncpfs nfs nfs3 nfs4 ocfs2 orangefs panfs pvfs2 quobyte smb smb2 smb3 smbfs snfs wekafs fuse.ceph fuse.ceph-fuse "
    "fuse.cvmfs fuse.cvmfs2 fuse.daos fuse.dfuse fuse.gcsfuse fuse.gekkofs fuse.glusterfs fuse.goofys fuse.juicefs "
    "fuse.lizardfs fuse.mfs fuse.moosefs fuse.orangefs fuse.pvfs2fuse fuse.quobyte fuse.rclone fuse.s3fs "
    "fuse.seaweedfs fuse.sshfs fuse.unifyfs",
    "disk": "bcachefs btrfs erofs exfat ext2 ext3 ext4 f2fs hfsplus iso9660 jfs minix nilfs2 ntfs3 overlay overlayfs "
    "ramfs reiserfs rootfs squashfs tmpfs udf vfat xfs zfs",
    "pseudo": "binfmt_misc bpf cgroup cgroup2 configfs debugfs efivarfs fusectl mqueue nsfs pipefs proc pstore "
    "rpc_pipefs securityfs selinuxfs sockfs sysfs tracefs",
    "device": "devpts devtmpfs",
    "other local": "aufs fuseblk hugetlbfs ntfs",
}
_SHARED, _DISK, _PSEUDO, _DEVICES, _OTHER_LOCAL = (frozenset(names.split()) for names in _TYPES.values())

# Names of statfs(2) numbers, used if there is no mount table; EXT4 includes ext2 and ext3.
_NAMES_OF_NUMBERS: Final = {
    0xEF53: "ext4",
    0x58465342: "xfs",
    0x9123683E: "btrfs",
    0x2FC12FC1: "zfs",
    0xF2F52010: "f2fs",
    0x794C7630: "overlay",
    0x01021994: "tmpfs",
    0x858458F6: "ramfs",
    0x73717368: "squashfs",
    0x6969: "nfs",
    0x0BD00BD0: "lustre",
    0x47504653: "gpfs",
    0x19830326: "beegfs",
    0x00C36400: "ceph",
    0xFE534D42: "smb2",
    0xFF534D42: "cifs",
}
_STATFS_BYTES: Final = 256  # larger than on any architecture
_STATX_BYTES: Final = 256
_HERE: Final = -100  # AT_FDCWD
_NO_SYNC: Final = 0x4000  # AT_STATX_DONT_SYNC
_UNIQUE_ID: Final = 0x4000  # STATX_MNT_ID_UNIQUE, since Linux 6.8
_IS_ROOT: Final = 0x2000  # STATX_ATTR_MOUNT_ROOT
_STATX: Final = struct.Struct("<I4xQ128xQ")
"""stx_mask, stx_attributes, stx_mnt_id."""
ROOT_MOUNT: Final = 1 << 63
"""Bit of ids of mounts, to distinguish them from inodes of namespaces."""
_OCTAL: Final = re.compile(rb"\\([0-7]{3})")
_REMEMBERED: Final = 4096
"""Maximum number of folders whose mount is cached."""
_NO_PARENT: Final = None


class FileSystems:
    """A table of file system types that can be extended.

    Args:
        shared: further types that nodes share.
        local: further types that are local to a node; a type in both is shared.
    """

    def __init__(self, shared: Iterable[str] = (), local: Iterable[str] = ()) -> None:
        self._shared: dict[str, bool] = {}
        for names, is_shared in (
            (_DISK | _PSEUDO | _DEVICES | _OTHER_LOCAL, False),
            (_SHARED, True),
            (frozenset(local), False),
            (frozenset(shared), True),
        ):
            self._shared.update(dict.fromkeys(names, is_shared))

    def shared(self, kind: str) -> bool | None:
        """Return whether nodes share a file system of this type; None if unknown.

        >>> FileSystems().shared("lustre"), FileSystems().shared("xfs"), FileSystems().shared("fuse.mine")
        (True, False, None)
        """
        return self._shared.get(kind)

    def answers_at_once(self, kind: str) -> bool:
        """Return whether metadata requests never wait for another machine or process."""
        return kind in _DISK and not self._shared[kind]


def type_on(kind: str, spelled: FileType) -> FileType:
    """Return the type of a file. It depends on its file system and on the type that its path implies."""
    if spelled is not FileType.REGULAR:
        return spelled
    if kind in _PSEUDO:
        return FileType.PSEUDO
    return FileType.DEVICE if kind in _DEVICES else spelled


def type_of_folder(path: str) -> str:
    """Return the type of the file system of a folder, from statfs(2); "" if unknown."""
    statfs_result = (ctypes.c_long * (_STATFS_BYTES // ctypes.sizeof(ctypes.c_long)))()
    failed = ctypes.CDLL(None).statfs(os.fsencode(path), statfs_result)
    return "" if failed else _NAMES_OF_NUMBERS.get(statfs_result[0] & 0xFFFFFFFF, "")


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


def root_mount(folder: str) -> int:
    """Return the id of the mount whose root a folder is, with ``ROOT_MOUNT``.

    It is never reused, and belongs to one mount namespace. Returns 0 if the folder is no root of a mount, or the kernel
    is older than 6.8.
    """
    try:
        statx = ctypes.CDLL(None).statx
    except AttributeError:  # glibc before 2.28
        return 0
    facts = ctypes.create_string_buffer(_STATX_BYTES)
    if statx(_HERE, os.fsencode(folder), _NO_SYNC, _UNIQUE_ID, facts) != 0:
        return 0
    mask, attributes, number = _STATX.unpack_from(facts)
    return ROOT_MOUNT | number if mask & _UNIQUE_ID and attributes & _IS_ROOT else 0
