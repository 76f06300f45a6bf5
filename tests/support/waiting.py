"""Waiting on conditions instead of on the clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def wait_for(condition: Callable[[], T | None], deadline_s: float = 60.0, what: str = "the condition") -> T:
    """Calls ``condition`` until it returns something true, and returns that; fails after ``deadline_s``."""
    limit = time.monotonic() + deadline_s
    while time.monotonic() < limit:
        if result := condition():
            return result
        time.sleep(0.005)
    raise AssertionError(f"{what} did not come true within {deadline_s} s")
