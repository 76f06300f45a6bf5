"""Read the messages of the subprocess that reads a Darshan log."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from signal import Signals
from typing import IO, Any, Final

from ....events import InputError
from .dxt import MAX_SEGMENTS, WIDEST

EXPECTED: Final = "a log that a program ended with, of Darshan 3.1 or later"
_MAX_TEXT: Final = 64 << 20
_TIMEOUT_S: Final = 60


def messages(path: Path) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Yield messages and their raw bytes.

    Raises:
        InputError: the library could not read the log to its end; messages read before were yielded.
    """
    # -P: do not import modules from the working directory
    command = [sys.executable, "-P", "-m", f"{__package__}.child", str(path.absolute())]
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors) as child,
    ):
        try:
            if child.stdout is not None:
                yield from _read(child.stdout)
            status = child.wait(_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            raise InputError(str(path), None, "Darshan's library did not finish", EXPECTED) from None
        finally:
            child.kill()
        if status:
            errors.seek(0)
            raise InputError(str(path), None, _reason(status, errors.read(65_536)), EXPECTED)


def _read(pipe: IO[bytes]) -> Iterator[tuple[dict[str, Any], bytes]]:
    while len(head := pipe.read(4)) == 4:
        size = int.from_bytes(head, "little")
        text = pipe.read(size) if size <= _MAX_TEXT else b""
        if len(text) < size:
            return
        message: dict[str, Any] = json.loads(text)
        wanted = min(message.get("bytes", 0), MAX_SEGMENTS * WIDEST)
        raw = pipe.read(wanted)
        if len(raw) < wanted:
            return
        yield message, raw


def _reason(status: int, errors: bytes) -> str:
    lines = [line.strip() for line in errors.decode(errors="replace").splitlines() if line.strip()]
    last_line = next((line for line in reversed(lines) if not line.startswith("[")), "")[:200]
    if status < 0:
        return f"Darshan's library gave it up ({Signals(-status).name}{': ' if last_line else ''}{last_line})"
    return last_line or f"Darshan's library gave it up (exit status {status})"
