"""Waiting on conditions instead of on the clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final, TypeVar

T = TypeVar("T")


DEADLINE_S: Final = 240.0
"""What has not happened by then will not: a machine that others keep busy, or that stands still, takes its time."""


def wait_for(condition: Callable[[], T | None], deadline_s: float = DEADLINE_S, what: str = "the condition") -> T:
    """Calls ``condition`` until it returns something true, and returns that; fails after ``deadline_s``."""
    limit = time.monotonic() + deadline_s
    while time.monotonic() < limit:
        if result := condition():
            return result
        time.sleep(0.005)
    raise AssertionError(f"{what} did not come true within {deadline_s} s")
