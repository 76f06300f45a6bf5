"""Files of collectors of Slurm jobs on a node. They are root's files, and a folder of the user for each job."""

from __future__ import annotations

import contextlib
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ...events import IotideError

_MAX_LOG: Final = 1 << 16
"""Maximum bytes of a collector's output that are forwarded."""


@dataclass(frozen=True, slots=True)
class JobFolder:
    """Files of a job's collector. Only the socket's folder belongs to the user, and root reads nothing there."""

    folder: Path
    job: str

    @property
    def sockets(self) -> Path:
        """The folder that belongs to the user."""
        return self.folder / self.job

    @property
    def socket(self) -> Path:
        """Socket for programs."""
        return self.sockets / "tracer.sock"

    @property
    def environment(self) -> Path:
        """Environment that the TaskProlog adds to each task; exists while the collector is wanted."""
        return self.folder / f"{self.job}.env"

    @property
    def log(self) -> Path:
        """Output of the collector."""
        return self.folder / f"{self.job}.log"

    @property
    def process(self) -> Path:
        """File with the collector's process id."""
        return self.folder / f"{self.job}.pid"

    def create(self, uid: int, gid: int) -> None:
        """Create the folders.

        Raises:
            IotideError: other users may write to the parent folder.
            OSError: a folder cannot be created.
        """
        self.folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        state = self.folder.stat()
        if state.st_uid != os.geteuid() or state.st_mode & 0o022:
            raise IotideError(f"{self.folder} is writable by other users")
        self.sockets.mkdir(mode=0o700)
        if (uid, gid) != (os.geteuid(), os.getegid()):
            os.chown(self.sockets, uid, gid)

    def save_process(self, pid: int) -> None:
        """Store the process id of the collector."""
        self.process.write_text(f"{pid} {start_of(pid)}\n", encoding="utf-8")

    @property
    def pid(self) -> int:
        """The number that the collector had when it was noted; 0 where none was."""
        try:
            return int(self.process.read_text(encoding="utf-8").split()[0])
        except (OSError, ValueError, IndexError):
            return 0

    def opened_process(self) -> int | None:
        """Return a descriptor of the collector's process. Return None if it has ended, even if its pid was reused."""
        try:
            pid, started = map(int, self.process.read_text(encoding="utf-8").split())
            watch = os.pidfd_open(pid)
        except (OSError, ValueError):
            return None
        if start_of(pid) != started:
            os.close(watch)
            return None
        return watch

    def log_tail(self) -> list[str]:
        """Return the output of the collector, or its last lines if it is long."""
        try:
            with self.log.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                file.seek(max(0, size - _MAX_LOG))
                return file.read(_MAX_LOG).decode(errors="replace").splitlines()
        except OSError:
            return []

    def remove(self) -> None:
        """Remove all files, as far as possible."""
        shutil.rmtree(self.sockets, ignore_errors=True)
        for file in (self.environment, self.log, self.process):
            with contextlib.suppress(OSError):
                file.unlink()


def start_of(pid: int) -> int:
    """Return the start time of a process, in ticks since the boot. Return 0 if it has ended."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[19])
    except (OSError, IndexError, ValueError):
        return 0
