"""Result type of all benchmarks, and its printed form."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured quantity, with the peer's on the same work if there is a peer."""

    name: str
    value: float
    unit: str
    budget: str = ""
    """The budget as text, e.g. ``>= 20 M events/s``."""
    peer: str = ""
    peer_value: float | None = None
    better: str = "higher"
    """``higher`` or ``lower``: the better direction."""

    @property
    def ratio(self) -> float | None:
        """Factor by which it is better than the peer."""
        if self.peer_value is None or not self.peer_value or not self.value:
            return None
        return self.value / self.peer_value if self.better == "higher" else self.peer_value / self.value


def seconds_of(work: Callable[[], object], repeats: int = 5) -> float:
    """Return the median wall time of ``work`` in seconds, after one warm-up."""
    work()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def report(figures: Sequence[Figure]) -> None:
    """Print one line per figure."""
    for figure in figures:
        line = f"{figure.name:<44} {figure.value:>12.4g} {figure.unit:<12}"
        if figure.budget:
            line += f" budget {figure.budget:<22}"
        if figure.peer and figure.peer_value is not None:
            line += f" {figure.peer}: {figure.peer_value:.4g} {figure.unit}"
        if figure.ratio is not None:
            line += f" ({figure.ratio:.3g}x)"
        print(line)
