"""Properties of system calls in strace's lines, as columns indexed by the call's code."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from ....events import Interner, Layer
from ....events.kernel import FORKS
from ...call_classes import CALLS, classify

MAX_CALLS = 4096


class PathIn(IntEnum):
    """Location of the file name in a call's line."""

    DESCRIPTOR = 0
    """In the annotation of the first argument."""
    RESULT = 1
    """In the annotation of the returned descriptor, otherwise as for ARGUMENT."""
    ARGUMENT = 2
    """In the first string among the arguments."""
    LAST_DESCRIPTOR = 3
    """In the last annotation among the arguments."""


class Numbers(IntEnum):
    """Meaning of the last numbers among a call's arguments."""

    NONE = 0
    COUNT = 1
    OFFSET = 2
    COUNT_AND_OFFSET = 3
    MAPPING = 4
    """Not the last ones: the length is the second argument, and protection and flags follow it."""


_RETURNS_PATH: Final = "open open64 openat openat64 openat2 creat memfd_create socket accept accept4"
_TAKES_PATH: Final = (
    "unlink unlinkat rmdir stat stat64 lstat lstat64 newfstatat fstatat64 statx statfs statfs64 access faccessat "
    "faccessat2 mkdir mkdirat mknod mknodat rename renameat renameat2 link linkat symlink symlinkat readlink "
    "readlinkat chmod fchmodat chown fchownat lchown utime utimes utimensat futimesat truncate truncate64 chdir "
    "getxattr lgetxattr setxattr lsetxattr listxattr llistxattr removexattr execve execveat mount umount2 "
    "inotify_add_watch"
)
_PATH_IN: Final = {
    **dict.fromkeys(_RETURNS_PATH.split(), PathIn.RESULT),
    **dict.fromkeys(_TAKES_PATH.split(), PathIn.ARGUMENT),
    **dict.fromkeys(("mmap", "mmap2", "copy_file_range", "splice"), PathIn.LAST_DESCRIPTOR),
}
_RINGS: Final = frozenset(("io_uring_enter", "io_submit"))
_TRANSFERS: Final = frozenset(("copy_file_range", "sendfile", "sendfile64", "splice", "tee"))
_NUMBERS: Final = {
    **dict.fromkeys(("read", "write"), Numbers.COUNT),
    **dict.fromkeys(("pread64", "pwrite64", "pread", "pwrite"), Numbers.COUNT_AND_OFFSET),
    **dict.fromkeys(("preadv", "pwritev"), Numbers.OFFSET),
    **dict.fromkeys(("mmap", "mmap2"), Numbers.MAPPING),
}


class CallTable:
    """Assigns each call name a code from 1 and stores its properties in columns. Code 0 is any further name."""

    def __init__(self, interner: Interner) -> None:
        self._interner = interner
        self._names = [""]
        self._strings = np.zeros(MAX_CALLS + 1, np.uint32)
        self.kind = np.zeros(MAX_CALLS + 1, np.uint8)
        self.layer = np.zeros(MAX_CALLS + 1, np.uint8)
        self.is_io = np.zeros(MAX_CALLS + 1, np.bool_)
        self.is_fork = np.zeros(MAX_CALLS + 1, np.bool_)
        self.path_in = np.zeros(MAX_CALLS + 1, np.uint8)
        self.numbers = np.zeros(MAX_CALLS + 1, np.uint8)
        self.is_ring = np.zeros(MAX_CALLS + 1, np.bool_)
        """Calls that hand operations to the kernel, which the trace does not have."""
        self.is_transfer = np.zeros(MAX_CALLS + 1, np.bool_)
        """Calls that move data between descriptors."""

    def add(self, call: bytes) -> int:
        """Return the code of a new name, 0 if the table is full."""
        if len(self._names) > MAX_CALLS:
            return 0
        name, code = call.decode("ascii", "replace"), len(self._names)
        self._names.append(name)
        self.layer[code], self.kind[code] = classify(name)
        self.is_io[code], self.is_fork[code] = name in CALLS, name in FORKS
        if self.is_fork[code]:
            self.layer[code] = Layer.KERNEL
        self.is_ring[code], self.is_transfer[code] = name in _RINGS, name in _TRANSFERS
        self.path_in[code] = _PATH_IN.get(name, PathIn.DESCRIPTOR)
        self.numbers[code] = _NUMBERS.get(name, Numbers.NONE)
        return code

    def strings(self, codes: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
        """Return the stream's string number of each code. A name is defined when an event first uses it."""
        for code in np.flatnonzero(np.bincount(codes, minlength=1)):
            if not self._strings[code] and code:
                self._strings[code] = self._interner.string(self._names[code])
        return self._strings[codes]
