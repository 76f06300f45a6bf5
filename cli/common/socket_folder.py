"""A private folder for the sockets of a run or check, and removal of leftovers of killed runs."""

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
"""Files of a run with collectors on other nodes."""
_LOCK: Final = "lock"
_PREFIX: Final = "iotide-"
_SPARE: Final = 16  # bytes of a socket's path after the folder's
_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_MAX_EXAMINED: Final = 1000
"""Maximum number of folders of other runs examined when a run starts."""


@contextlib.contextmanager
def socket_folder(*, of_this_node: bool = False) -> Iterator[Path]:
    """Yield a folder whose path is short enough for sockets. Remove leftovers of dead runs beside it.

    Args:
        of_this_node: the folder must be node-local, as other nodes create one at the same path.

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
    """Remove our user's folders of killed runs.

    Only folders of this kernel are recognised as dead, by a lock that the kernel releases with the process, in any
    namespace. Only files that a run creates are removed, and no link is followed; a folder with other contents stays.
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
                if looked_at >= _MAX_EXAMINED:
                    break


@contextlib.contextmanager
def in_use(folder: Path) -> Iterator[None]:
    """Mark a folder as used until the block or this process ends. Where locks fail it is never removed."""
    descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.write(descriptor, _boot())  # after the lock: a reader of this file finds it locked
        yield
    finally:
        os.close(descriptor)


def _remove_if_dead(path: str, boot: bytes) -> None:
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        about = os.fstat(folder)
        if about.st_uid != os.geteuid() or stat.S_IMODE(about.st_mode) & 0o077:
            return
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # do not wait for the writer of a FIFO
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
    """Return an id of this boot of the kernel; empty if unknown."""
    try:
        return _BOOT.read_bytes()
    except OSError:
        return b""
