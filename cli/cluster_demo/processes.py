"""Programs that run temporarily, and waiting for conditions."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

from ...events import UnavailableError

T = TypeVar("T")
_POLL_S: Final = 0.05
_END_S: Final = 30.0
_DROPPED: Final = ("IOTIDE_", "SLURM_", "PBS_", "LD_PRELOAD")


def program(name: str) -> str:
    """Return the path of a program, including those in root's PATH.

    Raises:
        UnavailableError: it is not installed.
    """
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin:/usr/local/sbin")
    if found is None:
        raise UnavailableError(f"{name} is not installed; `make system-deps` installs it")
    return found


def clean_environment() -> dict[str, str]:
    """Return our environment without variables of a batch system or an outer iotide."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_DROPPED)}


@contextlib.contextmanager
def run_process(
    command: Sequence[str], output: Path, environment: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program for the duration of the block, with output to a file. Only this process is ended."""
    with output.open("wb") as out:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=environment)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(_END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def wait_for(condition: Callable[[], T | None], what: str, deadline_s: float) -> T:
    """Call ``condition`` until it returns a true value, and return that.

    Raises:
        UnavailableError: the deadline passed.
    """
    limit_s = time.monotonic() + deadline_s
    while time.monotonic() < limit_s:
        if found := condition():
            return found
        time.sleep(_POLL_S)
    raise UnavailableError(f"timeout after {deadline_s:g} s: {what}")
