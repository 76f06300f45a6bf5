"""The folder of a run's sockets, and what is left of those of runs that were killed."""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ...collectors.node.file_systems import FileSystems, type_of_folder
from ...collectors.tracer.preload_environment import LONGEST_SOCKET_PATH
from ...events import UnavailableError

GATE: Final = "tracer.sock"
KEYS: Final = ("run.key", "run.key_secret", "nodes.key", "nodes.key_secret", "principals.toml")
"""Files of a run that collectors of other nodes connect to."""
_LOCK: Final = "lock"
_PREFIX: Final = "iotide-"
_SPARE: Final = 16  # bytes of a socket's path after the folder's
_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_MOST_LOOKS: Final = 1000
"""Folders of others' runs that are looked at, at most, when a run starts."""


@contextlib.contextmanager
def private_folder(*, of_this_node: bool = False) -> Iterator[Path]:
    """Yields a folder with room for sockets in its path; takes away what dead runs have left beside it.

    Args:
        of_this_node: other nodes may not see it, and are to have one at the same path.

    Raises:
        UnavailableError: no folder has a path that is short enough.
    """
    roots = [tempfile.gettempdir(), "/tmp", "/dev/shm"]  # noqa: S108  (mkdtemp makes a private folder in it)
    for root in roots:
        if of_this_node and FileSystems().shared(type_of_folder(root)):
            continue
        with tempfile.TemporaryDirectory(prefix=_PREFIX, dir=root) as name:
            if len(os.fsencode(name)) + _SPARE <= LONGEST_SOCKET_PATH:
                folder = Path(name)
                with in_use(folder):
                    remove_left_over(folder.parent)
                    yield folder
                return
    raise UnavailableError("no folder with a short enough path for Unix sockets; set TMPDIR to one")


def remove_left_over(root: Path) -> None:
    """Removes our user's folders of runs that were killed.

    Only this kernel's are told to be dead, by a lock that it lets go of with the process, in whatever namespace that
    was. Nothing but what a run makes is removed, and no link is followed; a folder with anything else in it stays.
    """
    if not (boot := _boot()):
        return
    with contextlib.suppress(OSError), os.scandir(root) as entries:
        looked_at = 0
        for entry in entries:
            if entry.name.startswith(_PREFIX) and entry.is_dir(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    _remove_if_dead(entry.path, boot)
                looked_at += 1
                if looked_at >= _MOST_LOOKS:
                    break


@contextlib.contextmanager
def in_use(folder: Path) -> Iterator[None]:
    """Has a folder told to be in use until the block or this process ends; where locks fail nobody removes it."""
    descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.write(descriptor, _boot())  # after the lock: who reads it finds that locked
        yield
    finally:
        os.close(descriptor)


def _remove_if_dead(path: str, boot: bytes) -> None:
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        about = os.fstat(folder)
        if about.st_uid != os.geteuid() or stat.S_IMODE(about.st_mode) & 0o077:
            return
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # not to wait for the writer of a FIFO
        lock = os.open(_LOCK, flags, dir_fd=folder)
        try:
            if not stat.S_ISREG(os.fstat(lock).st_mode) or os.read(lock, len(boot) + 1) != boot:
                return
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if set(os.listdir(folder)) <= {_LOCK, GATE, *KEYS}:  # noqa: PTH208  (by descriptor)
                for name in (GATE, *KEYS):
                    with contextlib.suppress(FileNotFoundError):
                        os.unlink(name, dir_fd=folder)
                os.unlink(_LOCK, dir_fd=folder)
                Path(path).rmdir()
        finally:
            os.close(lock)
    finally:
        os.close(folder)


def _boot() -> bytes:
    """Returns what only this kernel has, and only until the machine starts anew; nothing where nobody knows."""
    try:
        return _BOOT.read_bytes()
    except OSError:
        return b""
