"""Programs that log when their phases begin: the period that is told of one is held to its own log."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeVar

import pytest

_Run = TypeVar("_Run")

_ATTEMPTS: Final = 2
_UNEVEN: Final = 5.0
"""A log is even if its longest distance is longer than its shortest by at most so many times the tolerance."""


def distances(starts_s: Sequence[float]) -> list[float]:
    """Returns the seconds between phases."""
    return [later - earlier for earlier, later in itertools.pairwise(starts_s)]


def even_run(
    run: Callable[[Path], _Run], starts_of: Callable[[_Run], Sequence[float]], folder: Path, near: float
) -> tuple[_Run, list[float]]:
    """Runs a periodic program until its own log is even; skips the test where the machine stands still in each run.

    A program that was kept from running is not periodic, whatever is told of it. How often it is run depends on its
    own log alone, so that a wrong period is not given a second chance.

    Args:
        run: runs the program in a folder of its own.
        starts_of: when its phases began, by its own log, seconds.
        folder: where the folders are made.
        near: tolerance of the period that will be compared with ``assert_period``.

    Returns:
        What the run returned, and the starts.
    """
    seen = []
    for attempt in range(_ATTEMPTS):
        inside = folder / f"run{attempt}"
        inside.mkdir()
        done = run(inside)
        starts = list(starts_of(done))
        apart = distances(starts)
        if max(apart) <= (1 + _UNEVEN * near) * min(apart):
            return done, starts
        seen.append(f"{min(apart):.3f} to {max(apart):.3f} s")
    pytest.skip(f"this machine stood still in each of {len(seen)} runs; phases were {', '.join(seen)} apart")


def assert_period(period_s: float | None, starts_s: Sequence[float], near: float) -> None:
    """Fails unless a period lies among the distances of an even log, within the tolerance."""
    apart = distances(starts_s)
    assert period_s is not None, f"no period, but phases were {min(apart):.3f} to {max(apart):.3f} s apart"
    assert min(apart) * (1 - near) <= period_s <= max(apart) * (1 + near), (period_s, apart)
