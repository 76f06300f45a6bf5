"""The log of a node: messages of Slurm's scripts are stored only here."""

from __future__ import annotations

import os
import time
from pathlib import Path


class NodeLog:
    """Appends lines to a file, each with time, node, job and script. Errors on writing are ignored."""

    def __init__(self, path: Path, script: str, node: str, job: str) -> None:
        self._path = path
        self._about = f"{node or '-'} job {job} {script}"

    def write(self, text: str) -> None:
        """Append a line."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S%z")
        printable = "".join(character if character.isprintable() else "?" for character in text)
        try:
            descriptor = os.open(
                self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o640
            )
        except OSError:
            return
        try:
            os.write(descriptor, f"{stamp} {self._about}: {printable}\n".encode(errors="replace"))
        except OSError:
            pass
        finally:
            os.close(descriptor)
