"""Compare the reported period of a program with the program's own log of its phases."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final, TypeVar

import pytest

_Run = TypeVar("_Run")

_ATTEMPTS: Final = 2
_UNEVEN: Final = 5.0
"""Maximum spread of the distances in an even log (longest less shortest), in multiples of the tolerance."""


def phase_distances(starts_s: Sequence[float]) -> list[float]:
    """Return the distances between phases, s."""
    return [later - earlier for earlier, later in itertools.pairwise(starts_s)]


def even_run(
    run: Callable[[Path], _Run], starts_of: Callable[[_Run], Sequence[float]], folder: Path, near: float
) -> tuple[_Run, list[float]]:
    """Run a periodic program until its own log is even; skip the test if the machine stalls in each run.

    A program that was kept from running is not periodic, whatever period is reported. The number of runs depends only
    on the program's own log, so a wrong period gets no second chance.

    Args:
        run: runs the program in a folder of its own.
        starts_of: returns the starts of its phases by its own log, s.
        folder: parent of the runs' folders.
        near: tolerance of the later comparison with ``assert_period``.

    Returns:
        The result of the run, and the starts.
    """
    seen = []
    for attempt in range(_ATTEMPTS):
        inside = folder / f"run{attempt}"
        inside.mkdir()
        done = run(inside)
        starts = list(starts_of(done))
        distances_s = phase_distances(starts)
        if max(distances_s) <= (1 + _UNEVEN * near) * min(distances_s):
            return done, starts
        seen.append(f"{min(distances_s):.3f} to {max(distances_s):.3f} s")
    pytest.skip(f"the machine stalled in each of {len(seen)} runs; distances of phases: {', '.join(seen)}")


def assert_period(period_s: float | None, starts_s: Sequence[float], near: float) -> None:
    """Fail unless a period lies within the distances of an even log, with the given tolerance."""
    distances_s = phase_distances(starts_s)
    assert period_s is not None, f"no period, but phases were {min(distances_s):.3f} to {max(distances_s):.3f} s apart"
    assert min(distances_s) * (1 - near) <= period_s <= max(distances_s) * (1 + near), (period_s, distances_s)
