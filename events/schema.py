"""The columns of an event, and the vocabularies of the coded ones.

An event is one *completed* I/O call. Source of the event classes: [Layers] (I/O events of OTF2).
"""

from __future__ import annotations

from enum import IntEnum, IntFlag
from typing import Any, Final

import numpy as np


class Layer(IntEnum):
    """The software layer whose interface was called."""

    OTHER = 0
    POSIX = 1
    STDIO = 2
    MPIIO = 3
    HDF5 = 4
    NETCDF = 5
    PNETCDF = 6
    KERNEL = 7


class Kind(IntEnum):
    """Effect of a call on its handle or file."""

    OTHER = 0
    """Other metadata: stat, mkdir, rename ..."""
    CREATE = 1
    """Creates a handle: open, creat, fopen."""
    DUPLICATE = 2
    """Duplicates a handle: dup, dup2."""
    DESTROY = 3
    """Destroys a handle: close, fclose."""
    SEEK = 4
    CHANGE_FLAGS = 5
    DELETE = 6
    """Deletes a file: unlink, rmdir."""
    READ = 7
    WRITE = 8
    SYNC = 9


class Flag(IntFlag):
    """Properties of one call."""

    NONE = 0
    BLOCKING = 1
    COLLECTIVE = 2
    FAILED = 4
    APPEND = 8
    AGGREGATE = 16
    """Not one call but a summary of many (a TMIO phase). Its bytes were moved during [start, end)."""
    SPREAD = 32
    """With AGGREGATE: the calls are anywhere in [start, end). ``requested`` is their number, and ``offset`` their total
    duration (ns), because the values of single calls are unknown; see ``events/summaries.py``."""
    STORES = 64
    """For mmap and msync: stores to the mapping change the file. ``requested`` is the mapping's length, or the
    length of the part that is written back."""
    LOADS = 512
    """For mmap: the program can read the file in the mapping. ``requested`` is the mapping's length."""
    MAPS = STORES | LOADS
    """Calls whose ``requested`` is a length of mapped memory."""
    THROUGH = 256
    """For C library calls: the call made system calls. Others only copied to or from the buffer. Set only by the
    preload library."""
    BEGUN = 128
    """Starts an asynchronous operation whose bytes come with a later call (io_submit, MPI_File_iwrite). It does not
    count as an operation. Set by ``analyzers/pipeline/numbering.py``; sources and archives do not set it."""


class FileType(IntEnum):
    """Type of a path's object. Only REGULAR, UNKNOWN and COPIED count towards a job's bandwidth signal."""

    UNKNOWN = 0
    REGULAR = 1
    DIRECTORY = 2
    PIPE = 3
    SOCKET = 4
    DEVICE = 5
    PSEUDO = 6
    """Kernel pseudo files: /proc, /sys, anonymous inodes."""
    COPIED = 7
    """A regular file of code that a program reads as data (tar, cp). Set by ``analyzers/pipeline/numbering.py``."""


UNKNOWN_RANK: Final = -1
UNKNOWN_ID: Final = 0
UNKNOWN_OFFSET: Final = -1

COLUMNS: Final[dict[str, tuple[np.dtype[Any], int]]] = {
    "start": (np.dtype("<i8"), 0),
    "duration": (np.dtype("<i8"), 0),
    "call": (np.dtype("<u4"), UNKNOWN_ID),
    "layer": (np.dtype("u1"), int(Layer.OTHER)),
    "kind": (np.dtype("u1"), int(Kind.OTHER)),
    "rank": (np.dtype("<i4"), UNKNOWN_RANK),
    "pid": (np.dtype("<i4"), 0),
    "tid": (np.dtype("<i4"), 0),
    "file": (np.dtype("<u4"), UNKNOWN_ID),
    "handle": (np.dtype("<u4"), UNKNOWN_ID),
    "parent": (np.dtype("<u4"), UNKNOWN_ID),
    "depth": (np.dtype("u1"), 0),
    "offset": (np.dtype("<i8"), UNKNOWN_OFFSET),
    "requested": (np.dtype("<i8"), 0),
    "bytes": (np.dtype("<i8"), 0),
    "errno": (np.dtype("<u2"), 0),
    "flags": (np.dtype("<u2"), int(Flag.NONE)),
    "signature": (np.dtype("<u4"), UNKNOWN_ID),
}
"""Column name -> (little-endian dtype, value that means "unknown"). start and duration are nanoseconds."""


_PSEUDO_PREFIXES = ("/proc/", "/sys/", "anon_inode:")
_TYPE_OF_PREFIX = (
    ("pipe:", FileType.PIPE),
    ("socket:", FileType.SOCKET),
    ("TCP:", FileType.SOCKET),
    ("TCPv6:", FileType.SOCKET),
    ("UDP:", FileType.SOCKET),
    ("UDPv6:", FileType.SOCKET),
    ("UNIX:", FileType.SOCKET),
    ("UNIX-STREAM:", FileType.SOCKET),
    ("UNIX-DGRAM:", FileType.SOCKET),
    ("NETLINK:", FileType.SOCKET),
)


def file_type_of(path: str) -> FileType:
    """Return a path's type from its spelling alone, as Linux spells descriptors in /proc/PID/fd.

    >>> file_type_of("/scratch/out.h5"), file_type_of("pipe:[81]"), file_type_of("/dev/null")
    (<FileType.REGULAR: 1>, <FileType.PIPE: 3>, <FileType.DEVICE: 5>)
    """
    if path.startswith("/"):
        if path.startswith("/dev/") and not path.startswith("/dev/shm/"):  # noqa: S108  (a path to compare with)
            return FileType.DEVICE
        return FileType.PSEUDO if path.startswith(_PSEUDO_PREFIXES) else FileType.REGULAR
    if path.startswith(_PSEUDO_PREFIXES):
        return FileType.PSEUDO
    for prefix, file_type in _TYPE_OF_PREFIX:
        if path.startswith(prefix):
            return file_type
    return FileType.REGULAR if path else FileType.UNKNOWN
