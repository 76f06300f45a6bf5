"""How work grows with its input, measured in CPU time against itself: no machine is too slow for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

_Input = TypeVar("_Input")

_TIMES = 8
_ALLOWED = 3 * _TIMES
"""Times the CPU time for ``_TIMES`` the input: 8 if it is linear, 64 if it is quadratic."""


def assert_linear(work: Callable[[_Input], object], make: Callable[[int], _Input], size: int) -> None:
    """Compares the CPU time of the work for an input of ``size`` with that for one 8 times as large."""
    small, large = make(size), make(_TIMES * size)
    work(small)
    short, long = _least_s(work, small, 5), _least_s(work, large, 2)
    assert long < _ALLOWED * short, f"{_TIMES} times the input took {long / short:.0f} times the CPU time"


def _least_s(work: Callable[[_Input], object], given: _Input, rounds: int) -> float:
    """Returns the least CPU time of some rounds: what other processes add is left out as far as can be."""
    least = float("inf")
    for _ in range(rounds):
        began = time.process_time()
        work(given)
        least = min(least, time.process_time() - began)
    return max(least, 1e-4)
