"""Compiled steps of a prediction. Each returns None without the compiled helper; its caller then uses NumPy."""

from __future__ import annotations

import ctypes
import math
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...events.compiled import load
from ..common.grouping import PATH
from .tuning import TUNING

Floats = npt.NDArray[np.float64]
Positions = npt.NDArray[np.int64]

Course = tuple[float, float, float, float, float, float]

MOST_UNITS: Final = 48
"""Maximum number of volumes that are tried as that of a single phase."""
_WORD: Final = 8
_POINTER, _I64, _REAL = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double
_FUNCTIONS: Final[dict[str, tuple[Any, list[Any]]]] = {
    "segments_find": (
        _I64,
        [_POINTER, _I64, _POINTER, _I64, _REAL, _I64, _REAL, _REAL, _I64, _POINTER, _POINTER],
    ),
    "segments_edges": (
        None,
        [_POINTER, _I64, _POINTER, _POINTER, _I64, _REAL, _REAL, _POINTER, _POINTER, _POINTER],
    ),
    "segments_contrast": (_REAL, [_POINTER, _POINTER, _I64, _POINTER, _POINTER, _POINTER, _I64, _I64]),
    "segments_spreads": (None, [_POINTER, _POINTER, _POINTER, _I64, _I64, _POINTER]),
    "segments_multiples": (
        _I64,
        [_POINTER, _I64, _POINTER, _POINTER, _POINTER, _POINTER, _I64, _REAL, _POINTER, _POINTER, _POINTER],
    ),
    "starts_quantiles": (None, [_POINTER, _POINTER, _I64]),
    "starts_smooth": (None, [_POINTER, _I64, _POINTER, _I64, _REAL, _POINTER, _POINTER]),
    "intervals_classify": (None, [_POINTER, _I64, _REAL, _REAL, _REAL, _POINTER, _POINTER, _POINTER]),
    "intervals_last_change": (_I64, [_POINTER, _POINTER, _I64, _REAL, _REAL, _POINTER, _POINTER]),
    "intervals_changes": (_I64, [_POINTER, _I64, _POINTER, _POINTER]),
    "intervals_measure": (None, [_POINTER, _I64, _REAL, _POINTER]),
    "intervals_extrapolate": (None, [_POINTER, _I64, _POINTER, _POINTER]),
    "trains_find": (_I64, [_POINTER, _I64, _POINTER, _POINTER, _POINTER, _POINTER, _POINTER]),
}
_Pair: Final = ctypes.c_double * 2
_Triple: Final = ctypes.c_double * 3
_Nothing: Final = ctypes.c_char * 0
_COPIED: Final = 1 << 15
"""Maximum size of an input that is copied, bytes, since ``ndarray.ctypes`` takes longer than the copy."""


def _read(values: npt.NDArray[Any]) -> Any:
    """Return an input array as a pointer argument."""
    return values.tobytes() if values.nbytes <= _COPIED else np.ascontiguousarray(values).ctypes


def _address(made: npt.NDArray[Any]) -> int:
    """Return the address of a contiguous array that can be written, in a third of the time of ``ndarray.ctypes``."""
    return ctypes.addressof(_Nothing.from_buffer(made.data))


@lru_cache(maxsize=1)
def native() -> ctypes.CDLL | None:
    """Return the compiled helper, or None if it was not built. Its functions take microseconds."""
    return load(PATH, _FUNCTIONS, ctypes.PyDLL)


class _Bounds(ctypes.Structure):
    """Tolerances of changes: minimum intervals, log likelihood, variance, slope, ratio of squares, and deviation."""

    _fields_ = [
        ("least", ctypes.c_int64),
        *((name, ctypes.c_double) for name in ("likelihood", "resolved", "drift", "line", "missed")),
    ]


class _Merging(ctypes.Structure):
    """Tolerances of merged phases: two of volumes, three shares of phases, one of lengths, and the maximum merged."""

    _fields_ = [
        (name, ctypes.c_double)
        for name in ("tolerance", "loose", "single", "loose_single", "fitting", "length", "merged")
    ]


class _Odds(ctypes.Structure):
    """Odds of the next start, as in ``quantiles``."""

    _fields_ = [
        *((name, ctypes.c_double) for name in ("stray", "last", "period", "seen")),
        ("count", ctypes.c_int64),
        ("courses", ctypes.c_void_p),
    ]


class _Limits(ctypes.Structure):
    """Limits of sequences of phases, as in ``trains``: three of distances, their phases, and three of deviations."""

    _fields_ = [
        *((name, ctypes.c_int64) for name in ("orders", "tried", "missed", "least")),
        *((name, ctypes.c_double) for name in ("tolerance", "common", "resolved")),
    ]


class FoundPhases:
    """Memory for the phases of one signal, as each of its hypotheses fills it anew.

    Args:
        running: cumulative sum of the signal.
        runs: first bin of each run above the threshold and one after its last, by turns.
    """

    def __init__(self, running: Floats, runs: Positions) -> None:
        self.bins, self.runs, self.room = len(running) - 1, len(runs) // 2, len(running) // 2 + 1
        self.positions, self.values = np.empty((2, self.room), np.int64), np.empty((4, self.room))
        self.signal = running, runs  # the addresses are valid while these exist
        self.addresses = tuple(map(_address, (running, runs, self.positions, self.values)))


def find_phases(
    memory: FoundPhases, threshold: float, period: float, least: float
) -> tuple[Floats, Floats, Floats, Positions, Positions] | None:
    """Return the columns of the phases that a hypothesis of the period finds, with whole bins as starts and ends.

    Args:
        memory: signal, and memory for its phases.
        threshold: noise threshold, in the signal's unit.
        period: hypothesis, bins.
        least: minimum volume, as a share of a typical one.
    """
    if (library := native()) is None:
        return None
    running, runs, positions, values = memory.addresses
    count = library.segments_find(
        running, memory.bins, runs, memory.runs, threshold, int(period * TUNING.segmentation.smoothing_periods),
        period * TUNING.segmentation.max_gap_periods, least, memory.room, positions, values,
    )  # fmt: skip
    edges, columns = memory.positions[:, :count].copy(), memory.values[:3, :count].copy()
    return columns[0], columns[1], columns[2], edges[0], edges[1]


def edges(values: Floats, first: Positions, stop: Positions, background: float) -> tuple[Floats, Floats] | None:
    """Return starts and ends within their bins, as ``phases.edges_of``."""
    if (library := native()) is None:
        return None
    count = len(first)
    made = np.empty((3, count))
    at = _address(made)
    library.segments_edges(
        _read(values), len(values), _read(first), _read(stop), count, background,
        TUNING.tolerances.irregular_spread, at, at + _WORD * count, at + 2 * _WORD * count,
    )  # fmt: skip
    return made[0], made[1]


def contrast(values: Floats, running: Floats, first: Positions, stop: Positions, volume: Floats) -> float | None:
    """Return how much quieter the time between phases is, in [0, 1].

    Args:
        values: signal.
        running: its cumulative sum, one value longer.
        first: first bins of phases, at least one.
        stop: their stops.
        volume: their volumes.
    """
    if (library := native()) is None:
        return None
    return float(
        library.segments_contrast(
            _read(values), _read(running), len(values), _read(first), _read(stop),
            _read(volume), len(first), TUNING.segmentation.edge_bins,
        )
    )  # fmt: skip


def spreads(running: Floats, first: Positions, volume: Floats, complete: int) -> tuple[float, float] | None:
    """Return the spreads of the volumes of phases, and of those from each start to the next. NaN for fewer than two.

    Args:
        running: cumulative sum of the signal.
        first: first bins of phases.
        volume: their volumes.
        complete: number of phases that have ended.
    """
    if (library := native()) is None:
        return None
    made = _Pair(math.nan, math.nan)
    library.segments_spreads(_read(running), _read(first), _read(volume), len(first), complete, made)
    return made[0], made[1]


def classify(intervals: Floats, resolved: float) -> tuple[Positions, float, float, float] | None:
    """Return the periods that each interval spans, and the log likelihood.

    It also returns the sums of intervals and of their logarithms.

    Args:
        intervals: intervals, bins, > 0, at least two.
        resolved: variance of their resolution, bins squared.
    """
    if (library := native()) is None:
        return None
    count = len(intervals)
    multiple, made = np.empty(count, np.int64), np.empty(3 + 2 * count)
    at = _address(made)
    library.intervals_classify(
        _read(intervals), count, TUNING.tolerances.on_time, TUNING.next_phase.prior_miss_rate, resolved,
        _address(multiple), at, at + 3 * _WORD,
    )  # fmt: skip
    return multiple, float(made[0]), float(made[1]), float(made[2])


def last_change(intervals: Floats, level: Floats, longer: float) -> int | None:
    """Return the index of the first interval after the last change, 0 if there is none.

    It is the index among the intervals that are not longer than their neighbours.

    Args:
        intervals: intervals, bins.
        level: their logarithms.
        longer: ratio to the two intervals before and after from which on an interval is longer than its neighbours.
    """
    if (library := native()) is None:
        return None
    count = len(intervals)
    bounds, scratch = _bounds(), np.empty(2 * count)
    found: int = library.intervals_last_change(
        _read(intervals), _read(level), count, longer, TUNING.intervals.max_unchanged_ratio,
        ctypes.addressof(bounds), _address(scratch),
    )  # fmt: skip
    return found


def measure(intervals: Floats, resolved: float) -> tuple[float, float] | None:
    """Return the mean of intervals and their deviation over the mean.

    Args:
        intervals: intervals, bins, at least two.
        resolved: variance of their resolution, bins squared.
    """
    if (library := native()) is None:
        return None
    made = _Pair()
    library.intervals_measure(_read(intervals), len(intervals), resolved, made)
    return made[0], made[1]


def extrapolate(intervals: Floats) -> tuple[float, float, float] | None:
    """Return the next interval of a drift, and the sums of squares around the mean and around the drift."""
    if (library := native()) is None:
        return None
    count, made = len(intervals), _Triple()
    scratch = np.empty(count)
    library.intervals_extrapolate(_read(intervals), count, made, _address(scratch))
    return made[0], made[1], made[2]


def changes(level: Floats) -> list[int] | None:
    """Return the indices of the first intervals after each change."""
    if (library := native()) is None:
        return None
    bounds, places = _bounds(), np.empty(2 * len(level) + 2, np.int64)
    count = library.intervals_changes(_read(level), len(level), ctypes.addressof(bounds), _address(places))
    found: list[int] = places[:count].tolist()
    return found


def multiples(
    running: Floats, columns: tuple[Floats, Floats, Floats, Positions, Positions], ratio: float
) -> tuple[Positions | None] | None:
    """Return the number of equal phases in each phase; None in the tuple if each is one.

    Args:
        running: cumulative sum of the signal.
        columns: phases, at least one.
        ratio: maximum ratio of volumes that are those of single phases.
    """
    if (library := native()) is None:
        return None
    start, end, volume, first, _ = columns
    numbers, count = TUNING.merged_phases, len(start)
    by = _Merging(
        numbers.multiple_tolerance, numbers.loose_multiple_tolerance, numbers.min_single_share,
        numbers.loose_min_single_share, numbers.min_fitting_share, numbers.length_log_tolerance, numbers.max_merged,
    )  # fmt: skip
    found, scratch = np.empty(2 * count, np.int64), np.empty(4 * count + MOST_UNITS)
    several = library.segments_multiples(
        _read(running), len(running) - 1, _read(first), _read(start), _read(end),
        _read(volume), count, ratio, ctypes.addressof(by), _address(found), _address(scratch),
    )  # fmt: skip
    return (found[:count] if several else None,)


def quantiles(courses: list[Course], stray: float, times: tuple[float, float, float], *shares: float) -> Floats | None:
    """Return the times before which the next start comes with each share of the odds, bins.

    Args:
        courses: odds, remaining odds, origin, mean, slope and shift of each course.
        stray: odds of a stray start.
        times: last start, period, and end of the time without a start, bins.
        shares: shares of the odds.
    """
    if (library := native()) is None:
        return None
    table, found = np.array(courses), np.array(shares)
    odds = _Odds(stray, *times, len(courses), _address(table))
    library.starts_quantiles(ctypes.addressof(odds), _address(found), len(shares))
    return found


def smooth(off: Floats, shares: Floats, most: float) -> tuple[Floats, Floats] | None:
    """Return the last positions of a grid, and the errors of its predictions, one row per share.

    Args:
        off: deviations of the starts from an even grid, bins, at least two.
        shares: shares of a deviation that are forgotten.
        most: deviation of an outlier, bins.
    """
    if (library := native()) is None:
        return None
    levels, errors = np.empty(len(shares)), np.empty((len(shares), len(off) - 1))
    library.starts_smooth(_read(off), len(off), _read(shares), len(shares), most, _address(levels), _address(errors))
    return levels, errors


def trains(
    at: Floats, *, orders: int, tried: int, common: float, resolved: float
) -> list[tuple[Positions, float, float]] | None:
    """Return the best sequence of phases at each common distance: indices, period in bins, and spread.

    Args:
        at: starts, bins, ascending, at most 64.
        orders: maximum distance between successive phases of a sequence, in phases.
        tried: maximum number of distances, at most 64.
        common: minimum share of phases with a successor at a distance.
        resolved: variance of an interval's resolution, bins squared.
    """
    if (library := native()) is None:
        return None
    count = len(at)
    intervals, tolerance = TUNING.intervals, TUNING.tolerances.correct_period
    limits = _Limits(orders, tried, intervals.max_missed, intervals.min_intervals, tolerance, common, resolved)
    positions = np.empty((1 + count) * tried, np.int64)
    values = np.empty(2 * tried + 2 * orders * count + 1)
    begin, results = _address(positions), _address(values)
    made = library.trains_find(
        _read(at), count, ctypes.addressof(limits), begin, begin + _WORD * tried, results,
        results + 2 * _WORD * tried,
    )  # fmt: skip
    if made < 0:
        return None
    members = positions[tried:].reshape(tried, count)
    measured = values[: 2 * tried].reshape(tried, 2).tolist()
    numbers = positions[:made].tolist()
    return [
        (members[each, :number].copy(), measured[each][0], measured[each][1])
        for each, number in enumerate(numbers)
        if number
    ]


def _bounds() -> _Bounds:
    intervals, tolerances = TUNING.intervals, TUNING.tolerances
    return _Bounds(
        intervals.min_new_intervals,
        intervals.change_log_likelihood,
        tolerances.equal_spread**2,
        intervals.max_drift,
        intervals.line_square_ratio,
        tolerances.irregular_spread,
    )
