"""Open descriptors of other processes, which may close them meanwhile."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path


def open_files(pid: int) -> list[str]:
    """Return what each descriptor of a process refers to. Numbers are reused; sockets and pipes have inodes."""
    found = list[str]()
    for path in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed since it was listed
            found.append(str(path.readlink()))
    return found
