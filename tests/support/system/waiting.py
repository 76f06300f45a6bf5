"""Wait for conditions instead of a fixed time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")


DEADLINE_S: Final = 240.0
"""Deadline of conditions, s; long enough for a machine that is busy or stalls."""


def wait_for(condition: Callable[[], T | None], deadline_s: float = DEADLINE_S, what: str = "the condition") -> T:
    """Call ``condition`` until it returns a true value, and return that; fail after ``deadline_s``."""
    limit = time.monotonic() + deadline_s
    while time.monotonic() < limit:
        if result := condition():
            return result
        time.sleep(0.005)
    raise AssertionError(f"timeout after {deadline_s} s waiting for {what}")
