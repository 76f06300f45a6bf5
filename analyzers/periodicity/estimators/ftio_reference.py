"""FTIO's method: bandwidth sampled at points, plain DFT, z-scores. Source: [FTIO], Sections 2 and 3."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ....results.base import Estimate
from ...common.sorting import Columns, Ordering, ordered
from ...settings import DetectSettings
from ...signal.binning import Numbers
from ...signal.selection import Times
from ..estimator import PeriodEstimate, SignalWindow
from ..spectrum.spectrum import Floats, describe, find_candidates, spectrum_of

Requests: TypeAlias = Iterable[tuple[Times, Times, Numbers]]
"""Start, end and bytes of requests, in pieces that can be iterated several times."""

_MAX_DOMINANT = 2  # maximum number of candidates for a result


def point_samples(
    requests: Requests,
    sampling_frequency_hz: float,
    ordering: Ordering = ordered,
    *,
    as_published: bool = True,
) -> Floats:
    """Sample the bandwidth at t0, t0 + 1/f_s, and so on.

    The bandwidth is the sum over all requests in progress. Requests of zero duration have none and are dropped. Samples
    range from the first request's start until before the last one's end.

    The times are accumulated step by step like in the reference, including its rounding errors.

    Args:
        requests: the requests.
        sampling_frequency_hz: f_s.
        ordering: function that sorts the changes of the bandwidth by time; in memory by default.
        as_published: keep the rounding errors of the sum where no request is in progress, which may be negative.

    Returns:
        bytes/s, float64[floor((last end - first start) f_s)]
    """
    spans = [
        (int(start[rows].min()), int(end[rows].max())) for start, end, _ in requests if (rows := end > start).any()
    ]
    if not spans:
        return np.zeros(0)
    first_s, last_s = min(low for low, _ in spans) / 1e9, max(high for _, high in spans) / 1e9
    steps = np.full(int((last_s - first_s) * sampling_frequency_hz), 1 / sampling_frequency_hz)
    steps[:1] = first_s
    times = np.cumsum(steps)
    samples = np.zeros(len(times))
    done, level = 0, 0.0
    for at, levels, running in bandwidth_changes(requests, ordering):
        if not as_published:
            levels = np.where(running > 0, np.maximum(levels, 0.0), 0.0)
        at_s = at / 1e9
        begin = int(np.searchsorted(times, at_s[0], side="left"))
        stop = int(np.searchsorted(times, at_s[-1], side="right"))
        samples[done:begin] = level
        samples[begin:stop] = levels[np.searchsorted(at_s, times[begin:stop], side="right") - 1]
        done, level = stop, float(levels[-1])
    samples[done:] = level
    return samples


def bandwidth_changes(
    requests: Requests, ordering: Ordering = ordered
) -> Iterator[tuple[npt.NDArray[np.int64], Floats, npt.NDArray[np.int64]]]:
    """Yield the times in ns at which the sum of bandwidths changes, ascending, and the sum in bytes/s from each on.

    The third array is the number of requests in progress from each time on. At equal times, starts come before ends.
    """
    level, count = 0.0, 0
    for piece in ordering(_starts_and_ends(requests), "at"):
        change = piece["bytes"] / (piece["lasts"] / 1e9)
        levels = np.cumsum(np.concatenate([[level], change]))[1:]
        running = count + np.cumsum(np.sign(piece["lasts"]))
        level, count = float(levels[-1]), int(running[-1])
        yield piece["at"], levels, running


def _starts_and_ends(
    requests: Requests,
) -> Iterator[Columns]:
    """Yield all starts, then all ends. Ends have a negative duration, so that they lower the bandwidth."""
    for is_end in (False, True):
        for start, end, volume in requests:
            rows = end > start
            if rows.any():
                lasts = (end - start)[rows]
                yield {
                    "at": (end if is_end else start)[rows],
                    "lasts": -lasts if is_end else lasts,
                    "bytes": volume[rows],
                }


def samples_within(bins: int) -> int:
    """Return the number of samples that certainly fit in these bins. Bins are whole ns long and at least 1 us."""
    return bins - bins // 1000 - 2


def automatic_frequency(changes: Iterable[npt.NDArray[np.int64]], most_samples: int) -> float | None:
    """Return the sampling frequency that the reference selects, Hz; None without two different times.

    It is twice the inverse of the shortest time between two changes of the bandwidth, or lower if memory requires it.

    Args:
        changes: start and end times of all requests, ns, ascending, in pieces.
        most_samples: maximum number of samples in memory.
    """
    first = last = shortest = None
    for piece in changes:
        at = piece if last is None else np.concatenate([[last], piece])
        apart = np.diff(at)
        apart = apart[apart > 0]
        if len(apart):
            shortest = int(apart.min()) if shortest is None else min(shortest, int(apart.min()))
        if len(at):
            first, last = int(at[0]) if first is None else first, int(at[-1])
    if first is None or last is None or shortest is None:
        return None
    return min(2 / (shortest / 1e9), most_samples / ((last - first) / 1e9))


def estimate(view: SignalWindow, settings: DetectSettings) -> PeriodEstimate:
    """Find the dominant frequency like the reference: a result needs one or two candidates.

    Of two candidates, the one with the higher confidence is the result. The period's interval is that of the spectral
    bin.
    """
    spectrum = spectrum_of(view.window, 1 / view.bin_s)
    candidates = find_candidates(spectrum, settings, harmonics="modulo")
    dominant = describe(spectrum, candidates)
    if not 1 <= len(dominant) <= _MAX_DOMINANT:
        return PeriodEstimate(dominant=dominant, harmonics_dropped=candidates.dropped)
    best = max(dominant, key=lambda row: row.confidence)
    half_bin = 0.5 / (len(view.window) * view.bin_s)
    period = Estimate(
        value=best.period_s, low=1 / (best.frequency_hz + half_bin), high=1 / (best.frequency_hz - half_bin)
    )
    return PeriodEstimate(period, best.confidence, best.confidence, dominant, candidates.dropped)
