"""Processes that benchmarks start, and waiting for them."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

DEADLINE_S: Final = 300
PROGRAMS: Final = Path(__file__).parents[1] / "programs"
"""Programs in C that benchmarks build and start."""
_T = TypeVar("_T")


def answer(url: str) -> Any:
    """Returns the JSON document at an address."""
    with urllib.request.urlopen(url, timeout=10) as got:
        return json.load(got)


def wait_for(condition: Callable[[], _T], what: str) -> _T:
    """Returns what a condition returns once that is something."""
    until = time.monotonic() + DEADLINE_S
    while time.monotonic() < until:
        with contextlib.suppress(OSError):
            if found := condition():
                return found
        time.sleep(0.05)
    raise RuntimeError(f"{what} did not come within {DEADLINE_S} s")


@contextlib.contextmanager
def started(words: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    """Runs a program and those that it starts as long as the block lasts."""
    running = subprocess.Popen(words, start_new_session=True, **options)
    try:
        yield running
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(running.pid, 15)
        running.wait()
