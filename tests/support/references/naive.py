"""Slow, obvious references of the fast algorithms in ``analyzers``."""

from __future__ import annotations

import cmath
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction

Interval = tuple[int, int, int]
"""Start and end in ns, and bytes."""


def volume_bins(requests: Sequence[Interval], bin_ns: int) -> dict[int, Fraction]:
    """Bytes in each bin: every request moves its bytes at a constant rate ([FTIO], Eq. 1)."""
    bins: dict[int, Fraction] = defaultdict(Fraction)
    for start, end, volume in requests:
        if end <= start:
            bins[start // bin_ns] += volume
            continue
        for number in range(start // bin_ns, (end - 1) // bin_ns + 1):
            overlap = min(end, (number + 1) * bin_ns) - max(start, number * bin_ns)
            bins[number] += Fraction(volume * overlap, end - start)
    return bins


def point_samples(requests: Sequence[Interval], frequency_hz: float) -> list[float]:
    """Bandwidth in bytes/s at the times t0, t0 + 1/f, ...; t0 is the first start, and the last end is not reached."""
    begin = min(start for start, _, _ in requests)
    stop = max(end for _, end, _ in requests)
    values = []
    at = begin / 1e9
    # times are floating-point seconds, and their difference is too, as in the reference
    for _ in range(int((stop / 1e9 - begin / 1e9) * frequency_hz)):
        # a request includes its start and excludes its end
        values.append(sum(v / ((e - s) / 1e9) for s, e, v in requests if s / 1e9 <= at < e / 1e9))
        at += 1 / frequency_hz
    return values


def power_spectrum(values: Sequence[float]) -> list[float]:
    """|X_k|^2 / N for k = 0 .. N/2 ([FTIO], Eq. 2)."""
    n = len(values)
    transform = [
        sum(x * cmath.exp(-2j * cmath.pi * k * i / n) for i, x in enumerate(values)) for k in range(n // 2 + 1)
    ]
    return [abs(x) ** 2 / n for x in transform]


def without_harmonics(frequencies: Sequence[int], relative_tolerance: float) -> list[int]:
    """Drop each frequency that is a multiple of at least two lower frequencies that were kept."""
    kept: list[int] = []
    for frequency in sorted(frequencies):
        ratios = [frequency / lower for lower in kept]
        if not any(round(ratio) > 1 and abs(ratio / round(ratio) - 1) <= relative_tolerance for ratio in ratios):
            kept.append(frequency)
    return kept


def runs(active: Sequence[bool], shortest_gap: float) -> list[tuple[int, int]]:
    """Half-open runs of true values; gaps shorter than ``shortest_gap`` do not separate runs."""
    found: list[tuple[int, int]] = []
    for position, value in enumerate(active):
        if not value:
            continue
        if found and position - found[-1][1] < max(shortest_gap, 0.5):
            found[-1] = (found[-1][0], position + 1)
        else:
            found.append((position, position + 1))
    return found
