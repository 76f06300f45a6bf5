"""Period error of alternative methods on the same semi-synthetic traces, as reasons for the default method.

IOTIDE_TRACES traces per cell (40), sampled at 1 Hz. A missing period counts as an error of 100 %.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final

import numpy as np
from iotide.analyzers.offline.autocorrelation import find_period
from iotide.analyzers.offline.trace import detect, examine
from iotide.analyzers.periodicity.spectrum.spectral_peak import dominant_peak, refined
from iotide.analyzers.settings import DetectSettings
from iotide.benchmarks.common.figures import Figure, report
from iotide.benchmarks.generators.semisynthetic import Times, Trace, trace
from scipy.signal import lombscargle

TRACES: Final = int(os.environ.get("IOTIDE_TRACES", "40"))
SETTINGS: Final = DetectSettings(sampling_frequency_hz=1.0)
TYPES: Final = np.zeros(0, np.uint8)
CELLS: Final[dict[str, dict[str, float]]] = {
    "even": {},
    "sigma/mu 0.5": {"relative_sigma": 0.5},
    "sigma/mu 1": {"relative_sigma": 1.0},
    "sigma/mu 2": {"relative_sigma": 2.0},
    "sigma/mu 1, high noise": {"relative_sigma": 1.0, "noise": 0.1},
    "delays of 11 s": {"delay_s": 11.0},
    "delays of 22 s": {"delay_s": 22.0},
}


def samples(job: Trace) -> Times:
    return np.asarray(examine([(job.batch(), TYPES)], SETTINGS, "job")[1].bandwidth)


def padded_dft(job: Trace) -> float | None:
    """The highest peak of the zero-padded spectrum, interpolated between bins."""
    peaks = dominant_peak(samples(job))[1]
    return peaks[0] if peaks else None


def autoperiod(job: Trace) -> float | None:
    """The highest peak, if the autocorrelation has a local maximum there (Vlachos et al. 2005)."""
    values = samples(job)
    line = dominant_peak(values)[0]
    return None if line is None else refined(values, line.period)


def autocorrelation(job: Trace) -> float | None:
    """The weighted mean distance of the autocorrelation's peaks."""
    return find_period(samples(job), 1.0, as_reference=False).period_s


def lomb_scargle(job: Trace) -> float | None:
    """The highest peak of the periodogram of the requests' starts, weighted by volume (Lomb 1976, Scargle 1982)."""
    length = float(job.end_s.max())
    frequency = np.arange(2, length / 3, 0.2) / length
    at, inverse = np.unique(np.round(job.start_s, 1), return_inverse=True)
    power = lombscargle(at, np.bincount(inverse, job.volume), 2 * np.pi * frequency, precenter=True)
    return float(1 / frequency[int(power.argmax())])


def two_classes_of_gaps(job: Trace) -> float | None:
    """Mean distance of phases; gaps are split into two classes by logarithm, and the longer class separates phases."""
    order = np.argsort(job.start_s)
    start, reach = job.start_s[order], np.maximum.accumulate(job.end_s[order])
    gap = start[1:] - reach[:-1]
    at = np.flatnonzero(gap > 1e-3)
    if len(at) < 2:
        return None
    level = np.log(gap[at])
    low, high = float(level.min()), float(level.max())
    for _ in range(50):
        near = np.abs(level - low) < np.abs(level - high)
        if near.all() or not near.any():
            break
        low, high = float(level[near].mean()), float(level[~near].mean())
    starts = np.concatenate([start[:1], start[at[~(np.abs(level - low) < np.abs(level - high))] + 1]])
    return float(np.diff(starts).mean()) if len(starts) > 1 else None


def ours(job: Trace) -> float | None:
    found = detect([(job.batch(), TYPES)], SETTINGS, "job").period_s
    return None if found is None else found.value


WAYS: Final[dict[str, Callable[[Trace], float | None]]] = {
    "tide": ours,
    "DFT, zero-padded": padded_dft,
    "AutoPeriod": autoperiod,
    "autocorrelation": autocorrelation,
    "Lomb-Scargle": lomb_scargle,
    "gaps in two classes": two_classes_of_gaps,
}


def measure() -> list[Figure]:
    figures = []
    for number, (cell, made_with) in enumerate(CELLS.items()):
        jobs = [trace(1000 * number + seed, **made_with) for seed in range(TRACES)]  # type: ignore[arg-type]
        for name, way in WAYS.items():
            found = [way(job) for job in jobs]
            errors = [
                1.0 if period is None else abs(period / job.period_s - 1)
                for period, job in zip(found, jobs, strict=True)
            ]
            label = f"{cell}: {name}"
            figures.append(Figure(f"{label}, median error", 100 * float(np.median(errors)), "%", better="lower"))
            figures.append(Figure(f"{label}, mean error", 100 * float(np.mean(errors)), "%", better="lower"))
    return figures


if __name__ == "__main__":
    report(measure())
