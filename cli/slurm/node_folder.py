"""What of the jobs with a collector lies on a node: files of root's, and for each job a folder of its user's."""

from __future__ import annotations

import contextlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ...events import IotideError

_MOST_LOG: Final = 1 << 16
"""Bytes of what a collector said that are passed on."""


@dataclass(frozen=True, slots=True)
class JobPlace:
    """Where a job's collector has its things; only the socket's folder is its user's, and root reads nothing there."""

    folder: Path
    job: str

    @property
    def sockets(self) -> Path:
        """The folder of the user's."""
        return self.folder / self.job

    @property
    def socket(self) -> Path:
        """Where programs find the collector."""
        return self.sockets / "tracer.sock"

    @property
    def environment(self) -> Path:
        """What the TaskProlog adds to the environment of each task; it is there as long as the collector is wanted."""
        return self.folder / f"{self.job}.env"

    @property
    def log(self) -> Path:
        """What the collector says."""
        return self.folder / f"{self.job}.log"

    @property
    def process(self) -> Path:
        """Which process it is."""
        return self.folder / f"{self.job}.pid"

    def make(self, uid: int, gid: int) -> None:
        """Makes the folders.

        Raises:
            IotideError: somebody else may write where it is to be.
            OSError: it cannot be made.
        """
        self.folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        state = self.folder.stat()
        if state.st_uid != os.geteuid() or state.st_mode & 0o022:
            raise IotideError(f"{self.folder} is not ours alone to write")
        self.sockets.mkdir(mode=0o700)
        if (uid, gid) != (os.geteuid(), os.getegid()):
            os.chown(self.sockets, uid, gid)

    def remember(self, pid: int) -> None:
        """Notes which process the collector is."""
        self.process.write_text(f"{pid} {start_of(pid)}\n")

    def opened_process(self) -> int | None:
        """Returns a descriptor of the collector's process; None once it has ended, whoever has its number now."""
        try:
            pid, started = map(int, self.process.read_text().split())
            watch = os.pidfd_open(pid)
        except (OSError, ValueError):
            return None
        if start_of(pid) != started:
            os.close(watch)
            return None
        return watch

    def said(self) -> list[str]:
        """Returns what the collector said, its last lines where that is much."""
        try:
            with self.log.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                file.seek(max(0, size - _MOST_LOG))
                return file.read(_MOST_LOG).decode(errors="replace").splitlines()
        except OSError:
            return []

    def remove(self) -> None:
        """Removes all; what cannot be removed stays."""
        shutil.rmtree(self.sockets, ignore_errors=True)
        for file in (self.environment, self.log, self.process):
            with contextlib.suppress(OSError):
                file.unlink()


def start_of(pid: int) -> int:
    """Returns when a process started, in ticks since the boot; 0 where it is gone."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[19])
    except (OSError, IndexError, ValueError):
        return 0
