"""Cuts a signal into I/O phases, and tells how regular they are."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from .certainty import chance_of

Floats = npt.NDArray[np.float64]
Positions = npt.NDArray[np.int64]

SILENT = 0.01
"""Of the noise threshold: a bin that moves less is empty."""
_SMOOTHING = 1 / 16  # of the period: hides the gaps between single requests of a phase
_MERGING = 1 / 4  # of the period: shorter gaps do not end a phase
_SMALLEST = 0.2  # of the volume of the phase that holds the median byte: smaller ones are unrelated I/O
_FAR_BETTER = 0.1  # ratio of chances that makes other intervals than those between all starts the better ones
_FAR_LESS = 0.5  # ratio of spreads that does
_MOST_MISSED = 3  # periods that an interval over missed phases may span
_PAUSES = 1 / 8  # share of the intervals that may be pauses of the program
_PAUSED = 0.6  # share of the time that these may take
_ROUNDING = 1e-9
_SAMPLE = 512  # bins that suffice for a median
_FEWEST_LATEST = 2  # intervals that can show a new rhythm
_CHANGED = 8.0  # logarithm of the ratio of likelihoods that tells a change of rhythm, for one place
_SAME = 1.2  # longest over shortest interval, up to which they are surely of one rhythm
_UNRESOLVED = 0.03  # spread of intervals below which they are as good as equal
_IRREGULAR = 0.1  # spread of intervals up to which one that is two periods long means that a phase was missed


class Phases(Struct, frozen=True, eq=False):
    """I/O phases in order of time; arrays of equal length, times in bins (fractions are meant) from the first bin.

    Attributes:
        start: start times.
        end: end times.
        volume: what moved, in the signal's unit times bins.
        first: first bin above the noise threshold, int64.
        stop: one after the last such bin.
    """

    start: Floats
    end: Floats
    volume: Floats
    first: Positions
    stop: Positions

    def __len__(self) -> int:
        return len(self.start)

    def shifted(self, bins: int) -> Phases:
        """Returns the phases with all times later by ``bins``."""
        return Phases(self.start + bins, self.end + bins, self.volume, self.first + bins, self.stop + bins)

    def select(self, rows: slice | npt.NDArray[np.bool_]) -> Phases:
        """Returns some of the phases."""
        return Phases(self.start[rows], self.end[rows], self.volume[rows], self.first[rows], self.stop[rows])


class Regularity(Struct, frozen=True, eq=False):
    """How regularly phases follow one another.

    Attributes:
        period: mean interval between starts, bins.
        spread: standard deviation of the intervals, as a share of the period.
        chance: probability that as many intervals between random moments are as regular as these.
        intervals: the intervals, bins; one over a missed phase counts as several of equal length.
        since: number of the first phase that the intervals belong to; the rhythm before was another one.
        skipped: share of the phases that did not come a period after the one before, but a whole number of periods.
    """

    period: float
    spread: float
    chance: float
    intervals: Floats
    since: int = 0
    skipped: float = 0.0


class Segmenter:
    """Cuts one signal into phases, for several hypotheses of its period.

    A bin belongs to a phase when the signal there, smoothed over a sixteenth of the period, is above the noise
    threshold, the mean V(T)/L(T) ([FTIO], Section 3.3). Gaps below a quarter of the period are closed. Phases that
    move less than a fifth of a typical one are left out: loading of libraries, logs.
    """

    def __init__(self, values: Floats, origin: Segmenter | None = None) -> None:
        """Prepares what all hypotheses share; the signal is at least 0 everywhere.

        Args:
            values: the signal.
            origin: of the signal that this one is a form of; itself by default.
        """
        self.values = values
        self.origin = origin or self
        self.running = np.zeros(len(values) + 1)
        np.cumsum(values, out=self.running[1:])
        self.total = float(self.running[-1])
        # rounding must not cut a constant signal into phases
        self.threshold = self.total / max(len(values), 1) * (1 + _ROUNDING)
        above = values > self.threshold
        self._runs = runs(above)
        self.duty = float((self._runs[1] - self._runs[0]).sum()) / max(len(values), 1)
        """Share of the bins above the threshold."""

    @property
    def busy(self) -> tuple[Positions, Positions]:
        """First bin of each stretch above the threshold, and one after its last."""
        return self._runs

    @property
    def pauses(self) -> Positions:
        """Length of each stretch between two others above the threshold, bins."""
        first, stop = self._runs
        return first[1:] - stop[:-1]

    def segment(self, period: float) -> Phases:
        """Finds phases of a signal of which the period in bins is known roughly; edges are those of bins."""
        width = int(period * _SMOOTHING)
        if width > 1 and len(self.values) > width:
            smooth = np.empty(len(self.values), bool)
            low, high = width // 2, len(self.values) - width + width // 2
            smooth[low : high + 1] = self.running[width:] - self.running[:-width] > width * self.threshold
            smooth[:low], smooth[high + 1 :] = smooth[low], smooth[high]
            begin, end = merge(*runs(smooth), period * _MERGING)
            # smoothing moves the edges; those of the bins above the threshold are the true ones
            left = np.searchsorted(self._runs[1], begin, side="right")
            right = np.searchsorted(self._runs[0], end) - 1
            filled = right >= left
            first, stop = self._runs[0][left[filled]], self._runs[1][right[filled]]
        else:
            first, stop = merge(*self._runs, period * _MERGING)
        # a first or last bin that a phase fills in part may lie below the threshold
        volume = self.running[np.minimum(stop + 1, len(self.values))] - self.running[np.maximum(first - 1, 0)]
        phases = Phases(first.astype(float), stop.astype(float), volume, first, stop)
        return phases.select(volume >= _SMALLEST * _typical(volume)) if len(first) else phases

    def refined(self, phases: Phases) -> Phases:
        """Places starts and ends within their bins."""
        if not len(phases):
            return phases
        start, end = _edges(self.origin.values, phases.first, phases.stop, self.threshold)
        return Phases(start, end, phases.volume, phases.first, phases.stop)

    def segment_by_pauses(self, period: float) -> Phases:
        """Finds phases that fill most of the time, by the pauses between them.

        Pauses are sought as ``segment`` seeks phases, in how far the signal lies below its usual level. What comes
        before the first pause is left out, since its start is not known; the last phase may still run.
        """
        dips = self._dips
        pauses = dips.refined(dips.segment(period))
        length = len(self.values)
        first, stop = pauses.stop, np.append(pauses.first[1:], length)
        end = np.append(pauses.start[1:], float(length))
        last = len(pauses) - int(len(pauses) > 0 and first[-1] >= length)
        rows = slice(0, last)
        volume = self.running[stop[: len(first)]] - self.running[first]
        return Phases(pauses.end[rows], end[rows], volume[rows], first[rows], stop[rows])

    def levelled(self, quantile: float) -> Segmenter:
        """Of the same signal, cut off at a quantile of the bandwidths of the bins with I/O.

        Phases that move much more than others hide them from a threshold and from a typical volume; here all count for
        about as long as they last.
        """
        active = np.sort(self.values[self.values > SILENT * self.threshold])
        level = float(active[int(quantile * len(active))]) if len(active) else 0.0
        return Segmenter(np.minimum(self.values, level), self)

    def measured(self, phases: Phases) -> Phases:
        """Returns phases with what they move in the signal that this one is a form of."""
        if self.origin is self:
            return phases
        running, last = self.origin.running, len(self.values)
        volume = running[np.minimum(phases.stop + 1, last)] - running[np.maximum(phases.first - 1, 0)]
        return replace(phases, volume=volume)

    @cached_property
    def _dips(self) -> Segmenter:
        above = np.sort(self.values[self.values > self.threshold])
        level = float(above[len(above) // 2]) if len(above) else 0.0
        return Segmenter(np.maximum(level - self.values, 0.0))


def runs(active: npt.NDArray[np.bool_]) -> tuple[Positions, Positions]:
    """Finds stretches of true values; returns the first position of each and one after its last, int64."""
    edges = np.flatnonzero(active[1:] != active[:-1]) + 1
    if len(active) and active[0]:
        edges = np.concatenate([[0], edges])
    if len(edges) % 2:
        edges = np.concatenate([edges, [len(active)]])
    return edges[::2], edges[1::2]


def merge(first: Positions, stop: Positions, shortest_gap: float) -> tuple[Positions, Positions]:
    """Joins stretches that a gap shorter than ``shortest_gap`` separates."""
    if len(first) < 2:
        return first, stop
    separate = np.flatnonzero(first[1:] - stop[:-1] >= shortest_gap)
    return first[np.concatenate([[0], separate + 1])], stop[np.concatenate([separate, [len(stop) - 1]])]


def shortest_interval(period: float) -> float:
    """Returns the shortest interval in bins that ``segment`` can find between phases: a bin and a pause."""
    return 1 + max(period * _MERGING, 1.0)


def regularity(phases: Phases, shortest: float = 0.0) -> Regularity | None:
    """Measures the intervals between the phases' starts; None for fewer than two phases.

    Those between their ends, or those without the first phase, are taken when they are far more regular: a start-up is
    no phase, and it may run into the first one. Only those since the last change of rhythm are taken. When intervals
    are alike but for a few that are a whole multiple, phases were missed there.

    Args:
        phases: the phases.
        shortest: the shortest interval that their segmentation lets through, bins.
    """
    if len(phases) < 2:
        return None
    if len(phases) == 2:
        interval = phases.start[1:] - phases.start[:1]
        return Regularity(float(interval[0]), 1.0, 1.0, interval)
    found = _measure(phases.start[1:] - phases.start[:-1], shortest)
    if found.spread > _UNRESOLVED:
        others = [_measure(phases.end[1:] - phases.end[:-1], shortest)]
        if len(phases) > 3:
            others.append(_measure(found.intervals[1:], shortest))
        best = min(others, key=lambda other: other.chance)
        if best.chance < _FAR_BETTER * found.chance and best.spread < _FAR_LESS * found.spread:
            found = best
    if (change := last_change(found.intervals)) > 0:
        found = _since(len(phases), found.intervals[change:], shortest)
    found = _without_pauses(found, shortest)
    usual = float(np.sort(found.intervals)[len(found.intervals) // 2])
    if usual <= 0 or float(found.intervals.max()) < 1.5 * usual:
        return found
    missed = np.maximum(np.rint(found.intervals / usual), 1)
    if float(missed.max()) <= _MOST_MISSED and int((missed > 1).sum()) <= len(missed) / 4:
        whole = _measure(np.repeat(found.intervals / missed, missed.astype(int)), shortest)
        if whole.spread < _IRREGULAR:
            return replace(whole, since=found.since, skipped=float((missed > 1).sum()) / (len(missed) + 1))
    return found


def _without_pauses(found: Regularity, shortest: float) -> Regularity:
    """Leaves out intervals so long that the program paused, where the others are alike without them.

    What fills less of the time than the pauses between is the inside of phases, and after a pause two phases must show
    that the rhythm is back.
    """
    usual = float(np.sort(found.intervals)[len(found.intervals) // 2])
    pauses = found.intervals > (_MOST_MISSED + 0.5) * usual
    if not pauses.any() or pauses[-1] or int(pauses.sum()) > _PAUSES * len(pauses):
        return found
    paused, whole = float(found.intervals[pauses].sum()), float(found.intervals.sum())
    if paused > _PAUSED * whole:
        return found
    rest = _measure(found.intervals[~pauses], shortest)
    return replace(rest, since=found.since) if rest.spread < _FAR_LESS * found.spread else found


def _since(phases: int, intervals: Floats, shortest: float) -> Regularity:
    """Measures the intervals since a change of rhythm; the first may still be in between the two rhythms."""
    found = _measure(intervals, shortest)
    if len(intervals) > _FEWEST_LATEST + 1:
        rest = _measure(intervals[1:], shortest)
        if rest.spread < _FAR_LESS * found.spread:
            found = rest
    return replace(found, since=phases - 1 - len(found.intervals))


def last_change(intervals: Floats) -> int:
    """Returns the number of the first interval after the last change of rhythm; 0 without one.

    A change splits the logarithms of the intervals in two groups, each about its own mean. It is believed when that is
    far more likely than one group: the ratio of the likelihoods of normal distributions, n/2 ln(SSE one / SSE two),
    exceeds a bound that grows with the number of places where it may be. Two intervals show a new rhythm, and three
    when each is a multiple of the old ones, as missed phases would make them.
    """
    if float(intervals.max()) < _SAME * float(intervals.min()):
        return 0
    begin = 0
    while True:
        # several changes hide one another: the newer half may show what all together do not
        for first in (begin, (begin + len(intervals)) // 2):
            if (found := _likeliest_split(intervals[first:])) is not None:
                begin = first + found
                break
        else:
            return begin


def _likeliest_split(intervals: Floats) -> int | None:
    n = len(intervals)
    if n < 2 * _FEWEST_LATEST:
        return None
    level = np.log(np.maximum(intervals, 1e-9))
    level -= level.mean()
    sums, squares = np.cumsum(level), np.cumsum(level * level)
    before = np.arange(1, n)
    within = squares[-1] - sums[:-1] ** 2 / before - sums[:-1] ** 2 / (n - before)  # level sums up to 0
    gain = n / 2 * np.log((squares[-1] + n * _UNRESOLVED**2) / (np.maximum(within, 0) + n * _UNRESOLVED**2))
    gain[: _FEWEST_LATEST - 1] = gain[n - _FEWEST_LATEST :] = 0.0
    at = int(gain.argmax())
    if gain[at] < _CHANGED + math.log(n):
        return None
    ratio = math.exp(-float(sums[at]) * (1 / (n - 1 - at) + 1 / (at + 1)))
    times = max(round(ratio), 1)
    if times > 1 and abs(ratio / times - 1) < _IRREGULAR and n - 1 - at <= _FEWEST_LATEST:
        return None  # missed phases look the same so far
    return at + 1


def _measure(intervals: Floats, shortest: float) -> Regularity:
    n = len(intervals)
    period = max(float(intervals.sum()) / n, 1e-9)
    off = intervals - period
    # no interval is known better than to a twelfth of a bin's square
    spread = math.sqrt(float(off @ off) / (n - 1) + 1 / 12) / period
    free = max(1 - shortest / period, 1e-3)  # the share of an interval that chance has to itself
    return Regularity(period, spread, chance_of(spread / free, n), intervals)


def _typical(volume: Floats) -> float:
    ordered = np.sort(volume)
    running = np.cumsum(ordered)
    return float(ordered[np.searchsorted(running, 0.5 * running[-1])])


def _edges(values: Floats, first: Positions, stop: Positions, threshold: float) -> tuple[Floats, Floats]:
    """Places starts and ends within their bins.

    Where a phase has three bins or more, the share that its edge bin is filled, against the next bin inside, tells
    where in the bin it began. A shorter one is as long as its volume at its highest rate takes, around its centre of
    volume. Background below the threshold counts as empty.
    """
    last = len(values) - 1
    quiet = values[values <= threshold]
    quiet = np.sort(quiet[:: len(quiet) // _SAMPLE + 1])
    background = float(quiet[len(quiet) // 2]) if len(quiet) else 0.0
    before = np.where(first > 0, np.maximum(values[np.maximum(first - 1, 0)] - background, 0.0), 0.0)
    after = np.where(stop <= last, np.maximum(values[np.minimum(stop, last)] - background, 0.0), 0.0)
    head, tail = values[first] - background, values[stop - 1] - background
    inner_head, inner_tail = values[np.minimum(first + 1, last)] - background, values[stop - 2] - background
    # what is left of the background's subtraction may be below 0; np.clip would take as long as all of this
    start = (first + 1.0) - np.minimum(np.maximum((before + head) / np.maximum(inner_head, head), 0), 2)
    end = (stop - 1.0) + np.minimum(np.maximum((after + tail) / np.maximum(inner_tail, tail), 0), 2)
    short = stop - first < 3
    if short.any():
        second = np.where(stop - first == 2, tail, 0.0)
        volume = before + head + second + after
        middle = (
            before * (first - 0.5) + head * (first + 0.5) + second * (first + 1.5) + after * (stop + 0.5)
        ) / volume
        length = volume / np.maximum(head, np.maximum(second, 1e-300))
        start = np.where(short, middle - length / 2, start)
        end = np.where(short, middle + length / 2, end)
    return np.asarray(start, np.float64), np.asarray(end, np.float64)
