"""Growth of CPU time with the size of the input, relative to itself, so it is independent of the machine's speed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

_Input = TypeVar("_Input")

_TIMES = 8
_ALLOWED = 3 * _TIMES
"""Maximum ratio of CPU times for ``_TIMES`` the input: 8 if it is linear, 64 if it is quadratic."""
_ROUNDS = 8


def assert_linear(work: Callable[[_Input], object], make: Callable[[int], _Input], size: int) -> None:
    """Compare the CPU time of the work for an input of ``size`` with that for one 8 times as large."""
    small, large = make(size), make(_TIMES * size)
    work(small)
    short = max(min(_cpu_s(work, small) for _ in range(5)), 1e-4)
    long = float("inf")
    # Noise from other processes, such as evicted caches, varies between rounds; quadratic growth does not.
    for _ in range(_ROUNDS):
        long = min(long, _cpu_s(work, large))
        if long < _ALLOWED * short:
            return
    raise AssertionError(f"{_TIMES} times the input took {long / short:.0f} times the CPU time")


def _cpu_s(work: Callable[[_Input], object], given: _Input) -> float:
    began = time.process_time()
    work(given)
    return time.process_time() - began
