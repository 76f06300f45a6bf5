"""Start processes for benchmarks, and wait for them."""

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
"""C programs that benchmarks build and start."""
_T = TypeVar("_T")


def answer(url: str) -> Any:
    """Return the JSON document at an address."""
    with urllib.request.urlopen(url, timeout=10) as got:
        return json.load(got)


def wait_for(condition: Callable[[], _T], what: str) -> _T:
    """Return the first true result of a condition."""
    until = time.monotonic() + DEADLINE_S
    while time.monotonic() < until:
        with contextlib.suppress(OSError):
            if found := condition():
                return found
        time.sleep(0.05)
    raise RuntimeError(f"timeout after {DEADLINE_S} s waiting for {what}")


@contextlib.contextmanager
def started(words: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program and its child processes during the block."""
    running = subprocess.Popen(words, start_new_session=True, **options)
    try:
        yield running
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(running.pid, 15)
        running.wait()


def children_of(pid: int) -> list[int]:
    """Return the child processes of a process."""
    lists = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for each in lists for child in each.read_text().split()]


def used_ns(pid: int) -> int:
    """Return the CPU time of a process."""
    return sum(int(each.read_text().split()[0]) for each in Path(f"/proc/{pid}/task").glob("*/schedstat"))
