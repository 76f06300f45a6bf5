"""Segmentation of a signal into I/O phases."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt
from msgspec import Struct
from msgspec.structs import replace

from .. import compiled
from ..tuning import TUNING

Floats = npt.NDArray[np.float64]
Positions = npt.NDArray[np.int64]

_SEGMENTATION = TUNING.segmentation
_ROUNDING = 1e-9  # relative rounding error of a sum
_SAMPLE = 512  # bins that suffice for a median
_HALF = 0.5  # of the bandwidth of a phase, at its edges; of a usual pause
_NOTHING = 1e-300
_FEWEST = 3  # phases from which on a common growth can be confirmed
_INNER = 5  # bins of a phase from which on its growth is measured
_ENDLESS = 1e3  # growth from an empty bin
_STEEPEST = 4.0  # maximum growth of bandwidth from one bin to the next
_INWARD = np.array([[1], [-1]])  # direction from a start, and from an end, into the phase


class Phases(Struct, frozen=True, eq=False):
    """I/O phases in order of time. Arrays have equal length; times are fractional bins from the first bin.

    Attributes:
        start: start times.
        end: end times.
        volume: volumes, in the signal's unit times bins.
        first: first bin above the noise threshold, int64.
        stop: one after the last such bin, int64.
    """

    start: Floats
    end: Floats
    volume: Floats
    first: Positions
    stop: Positions

    def __len__(self) -> int:
        return len(self.start)

    @property
    def columns(self) -> tuple[Floats, Floats, Floats, Positions, Positions]:
        """All arrays, in the order of the constructor."""
        return self.start, self.end, self.volume, self.first, self.stop

    def shifted(self, bins: int) -> Phases:
        """Return the phases with all times shifted by ``bins``."""
        return Phases(self.start + bins, self.end + bins, self.volume, self.first + bins, self.stop + bins)

    def select(self, rows: slice | npt.NDArray[np.bool_]) -> Phases:
        """Return the selected phases."""
        return Phases(self.start[rows], self.end[rows], self.volume[rows], self.first[rows], self.stop[rows])


class Segmenter:
    """Segments one signal into phases for several hypotheses of its period.

    A bin belongs to a phase if the signal there, smoothed over a sixteenth of the period, exceeds the noise threshold,
    which is the mean V(T)/L(T) ([FTIO], Section 3.3). Gaps below a quarter of the period are closed. Phases with less
    than a fifth of a typical volume are dropped (loading of libraries, logs).
    """

    def __init__(self, values: Floats, origin: Segmenter | None = None) -> None:
        """Prepare the data that all hypotheses share.

        Args:
            values: signal, >= 0 everywhere.
            origin: segmenter of the signal that this one was derived from; itself by default.
        """
        self.values = values
        self._origin = origin  # not itself: a cycle would keep the arrays until a garbage collection
        self.running = np.zeros(len(values) + 1)
        np.cumsum(values, out=self.running[1:])
        self.total = float(self.running[-1])
        # rounding must not split a constant signal into phases
        self.threshold = self.total / max(len(values), 1) * (1 + _ROUNDING)
        above = values > self.threshold
        self._edges = _edges_of_runs(above)
        self._runs = self._edges[::2], self._edges[1::2]
        self._last_hypothesis: tuple[float, tuple[Positions, Positions, Floats]] | None = None
        self.duty = float((self._runs[1] - self._runs[0]).sum()) / max(len(values), 1)
        """Share of the bins above the threshold."""

    @property
    def origin(self) -> Segmenter:
        """Segmenter of the signal that this one was derived from; itself if it was not derived."""
        return self if self._origin is None else self._origin

    @property
    def busy(self) -> tuple[Positions, Positions]:
        """First bin of each run above the threshold, and one after its last."""
        return self._runs

    @property
    def pauses(self) -> Positions:
        """Length of each pause between two runs above the threshold, bins."""
        first, stop = self._runs
        return first[1:] - stop[:-1]

    def segment(self, period: float, least: float | None = None) -> Phases:
        """Find phases of a signal for a rough period in bins; edges are whole bins.

        ``least`` is the minimum volume of a phase as a share of a typical one; by default the usual share.
        """
        least = _SEGMENTATION.min_volume_share if least is None else least
        found = compiled.find_phases(self._found, self.threshold, period, least)
        if found is not None:
            return Phases(*found)
        first, stop, volume = self._stretches(period)
        phases = Phases(first.astype(float), stop.astype(float), volume, first, stop)
        return phases.select(volume >= least * _typical(volume)) if len(first) else phases

    def _stretches(self, period: float) -> tuple[Positions, Positions, Floats]:
        """Return first bin, stop and volume of phases of any volume. Keeps the latest result for another ``least``."""
        if self._last_hypothesis is not None and self._last_hypothesis[0] == period:
            return self._last_hypothesis[1]
        width = int(period * _SEGMENTATION.smoothing_periods)
        if width > 1 and len(self.values) > width:
            smooth = np.empty(len(self.values), bool)
            low, high = width // 2, len(self.values) - width + width // 2
            smooth[low : high + 1] = self.running[width:] - self.running[:-width] > width * self.threshold
            smooth[:low], smooth[high + 1 :] = smooth[low], smooth[high]
            begin, end = merge(*runs(smooth), period * _SEGMENTATION.max_gap_periods)
            # smoothing shifts the edges, so use those of the bins above the threshold
            left = np.searchsorted(self._runs[1], begin, side="right")
            right = np.searchsorted(self._runs[0], end) - 1
            filled = right >= left
            first, stop = self._runs[0][left[filled]], self._runs[1][right[filled]]
        else:
            first, stop = merge(*self._runs, period * _SEGMENTATION.max_gap_periods)
        # a first or last bin that a phase fills partly may be below the threshold
        volume = self.running[np.minimum(stop + 1, len(self.values))] - self.running[np.maximum(first - 1, 0)]
        self._last_hypothesis = period, (first, stop, volume)
        return first, stop, volume

    def refined(self, phases: Phases, *, whole: bool = True) -> Phases:
        """Compute starts and ends within their bins; of phases to be extended if ``whole``."""
        if not len(phases):
            return phases
        if whole:
            phases = self._whole(phases)
        start, end = edges_of(self.origin.values, phases.first, phases.stop, self._background)
        return Phases(start, end, phases.volume, phases.first, phases.stop)

    def _whole(self, phases: Phases) -> Phases:
        """Extend phases with little more than the mean bandwidth to the bins above half of their own.

        Requests at the edges of a delayed phase may be below the noise threshold. At most half of a pause is added.
        """
        rate = phases.volume / (phases.stop - phases.first)
        slow = (rate < self.threshold / _HALF).nonzero()[0]
        if not len(slow):
            return phases
        least = np.maximum(_HALF * rate, 2 * self._background)
        # a single bin below the threshold belongs to the edge anyway
        last = len(self.values) - 1
        before, after = np.maximum(phases.first[slow] - 2, 0), np.minimum(phases.stop[slow] + 1, last)
        slow = slow[np.maximum(self.values[before], self.values[after]) > least[slow]]
        if not len(slow):
            return phases
        first, stop = phases.first.copy(), phases.stop.copy()
        middles = np.concatenate([[0], (phases.first[1:] + phases.stop[:-1]) // 2, [len(self.values)]])
        for place in slow.tolist():
            before = self.values[middles[place] : first[place]][::-1] > least[place]
            after = self.values[stop[place] : middles[place + 1]] > least[place]
            first[place] -= _length_of_edge(before)
            stop[place] += _length_of_edge(after)
        volume = self.running[np.minimum(stop + 1, len(self.values))] - self.running[np.maximum(first - 1, 0)]
        return replace(phases, first=first, stop=stop, volume=volume)

    def segment_by_pauses(self, period: float) -> Phases:
        """Find phases that fill most of the time, using the pauses between them.

        Pauses are found like phases in ``segment``, in the amount by which the signal falls below its usual level.
        Volume before the first pause is dropped, since its start is unknown; the last phase may be running.
        """
        dips = self._dips
        pauses = dips.refined(self._ended(dips.segment(period)), whole=False)
        length = len(self.values)
        first, stop = pauses.stop, np.append(pauses.first[1:], length)
        end = np.append(pauses.start[1:], float(length))
        last = len(pauses) - int(len(pauses) > 0 and first[-1] >= length)
        rows = slice(0, last)
        volume = self.running[stop[: len(first)]] - self.running[first]
        return Phases(pauses.end[rows], end[rows], volume[rows], first[rows], stop[rows])

    def _ended(self, pauses: Phases) -> Phases:
        """End a last pause where a phase has begun in it, of the minimum volume.

        The bins after its newest request are quiet, and a phase shorter than a gap would be part of the pause.
        """
        length = len(self.values)
        if len(pauses) < 2 or pauses.stop[-1] < length:
            return pauses
        usual = median((pauses.stop - pauses.first)[:-1].astype(float))
        begun = int(np.searchsorted(self._runs[0], float(pauses.first[-1]) + _HALF * usual))
        if begun >= len(self._runs[0]) or length - self._runs[1][-1] >= _HALF * usual:
            return pauses
        first = self._runs[0][begun]
        volume = median(self.running[pauses.first[1:]] - self.running[pauses.stop[:-1]])
        if self.total - self.running[first] < _SEGMENTATION.min_volume_share * volume:
            return pauses
        return replace(pauses, stop=np.append(pauses.stop[:-1], first))

    def starts_of_bursts(self, phases: Phases) -> Floats:
        """Return the starts of phases and of further bursts inside them that are as large as a usual phase.

        The hypothesis of a long period closes short pauses, so that such bursts become one phase.
        """
        first, stop = self._runs
        volume = self.running[np.minimum(stop + 1, len(self.values))] - self.running[np.maximum(first - 1, 0)]
        usual = float(np.sort(phases.volume)[len(phases) // 2])
        place = np.searchsorted(phases.first, first, side="right") - 1
        inside = (place >= 0) & (stop <= phases.stop[place])
        inside &= volume >= (1 - TUNING.merged_phases.loose_multiple_tolerance) * usual
        place, first = place[inside], first[inside]
        further = first[1:][place[1:] == place[:-1]]
        return np.sort(np.append(phases.start, further)) if len(further) else phases.start

    def levelled(self, quantile: float) -> Segmenter:
        """Return a segmenter of the same signal, clipped. The limit is a quantile of the bandwidths of bins with I/O.

        Large phases hide smaller ones by raising the threshold and the typical volume. After clipping, phases count
        roughly by their length.
        """
        active = self._active
        level = float(active[int(quantile * len(active))]) if len(active) else 0.0
        return Segmenter(np.minimum(self.values, level), self)

    def measured(self, phases: Phases) -> Phases:
        """Return the phases with their volumes in the original signal."""
        if self.origin is self:
            return phases
        running, last = self.origin.running, len(self.values)
        volume = running[np.minimum(phases.stop + 1, last)] - running[np.maximum(phases.first - 1, 0)]
        return replace(phases, volume=volume)

    @cached_property
    def _found(self) -> compiled.FoundPhases:
        return compiled.FoundPhases(self.running, self._edges)

    @cached_property
    def _active(self) -> Floats:
        """Bandwidths of bins with I/O, in ascending order."""
        return np.sort(self.values[self.values > _SEGMENTATION.empty_bin_share * self.threshold])

    @cached_property
    def _background(self) -> float:
        """Median volume of a bin outside of phases, which counts as empty."""
        return float(self._quiet[len(self._quiet) // 2]) if len(self._quiet) else 0.0

    @cached_property
    def least_background(self) -> float:
        """Same, lower quartile: phases whose bandwidth rises slowly are outside for a part of their length."""
        return float(self._quiet[len(self._quiet) // 4]) if len(self._quiet) else 0.0

    @cached_property
    def _quiet(self) -> Floats:
        """Volumes of bins outside of phases, a sample in ascending order."""
        values = self.origin.values
        quiet = values[values <= self.threshold]
        return np.sort(quiet[:: len(quiet) // _SAMPLE + 1])

    @cached_property
    def _dips(self) -> Segmenter:
        above = np.sort(self.values[self.values > self.threshold])
        level = float(above[len(above) // 2]) if len(above) else 0.0
        return Segmenter(np.maximum(level - self.values, 0.0))


def _length_of_edge(above: npt.NDArray[np.bool_]) -> int:
    """Return up to which bin true values reach from the first bin on, with short gaps between them."""
    found = np.flatnonzero(above)
    if not len(found):
        return 0
    wide = np.flatnonzero(np.diff(found, prepend=-1) > _SEGMENTATION.edge_bins)
    count = int(wide[0]) if len(wide) else len(found)
    return int(found[count - 1]) + 1 if count else 0


def runs(active: npt.NDArray[np.bool_]) -> tuple[Positions, Positions]:
    """Find runs of true values. Returns the first position of each run and one after its last, int64."""
    edges = _edges_of_runs(active)
    return edges[::2], edges[1::2]


def _edges_of_runs(active: npt.NDArray[np.bool_]) -> Positions:
    """Return the first position of each run of true values and one after its last, by turns."""
    changed = (active[1:] != active[:-1]).nonzero()[0]
    begun = int(len(active) > 0 and bool(active[0]))
    edges = np.empty((len(changed) + begun + 1) // 2 * 2, np.int64)
    edges[:begun] = 0
    edges[begun + len(changed) :] = len(active)
    np.add(changed, 1, out=edges[begun : begun + len(changed)])
    return edges


def merge(first: Positions, stop: Positions, shortest_gap: float) -> tuple[Positions, Positions]:
    """Join runs that are separated by a gap shorter than ``shortest_gap``."""
    if len(first) < 2:
        return first, stop
    separate = np.ones(len(first) + 1, bool)
    np.greater_equal(first[1:] - stop[:-1], shortest_gap, out=separate[1:-1])
    return first[separate[:-1]], stop[separate[1:]]


def median(values: Floats) -> float:
    """Return the median of at least one value, ten times as fast as ``np.median``."""
    ordered, half = np.sort(values), len(values) // 2
    return float(ordered[half]) if len(values) % 2 else float(ordered[half - 1] + ordered[half]) / 2


def _typical(volume: Floats) -> float:
    ordered = np.sort(volume)
    running = np.cumsum(ordered)
    return float(ordered[np.searchsorted(running, 0.5 * running[-1])])


def edges_of(values: Floats, first: Positions, stop: Positions, background: float) -> tuple[Floats, Floats]:
    """Compute starts and ends within their bins.

    For phases of three bins or more, the fill of the edge bin gives the position within the bin. It is relative to the
    next inner bin, divided by the usual growth from there to the one after. A shorter phase is as long as its volume
    takes at its highest rate, around its centre of volume. Bins at the background level count as empty.
    """
    if (found := compiled.edges(values, first, stop, background)) is not None:
        return found
    count, last, length = len(first), len(values) - 1, stop - first
    # both edges of all phases at once: bin beyond the edge, at the edge, and the next inner one
    at = np.empty((3, 2, count), np.int64)
    at[1, 0], at[1, 1] = first, stop - 1
    at[0, 0], at[0, 1] = first - 1, stop
    at[2, 0], at[2, 1] = first + 1, stop - 2
    outside = (at[0] < 0) | (at[0] > last)
    near = values[np.minimum(np.maximum(at, -1), last)] - background
    beyond, edge, inner = near
    beyond = np.where(outside, 0.0, np.maximum(beyond, 0.0))
    # subtracting the background may give values below 0; np.clip would take as long as this whole function
    full = np.maximum(inner / _growth(values, first, stop, background), edge)
    filled = np.minimum(np.maximum((beyond + edge) / np.maximum(full, _NOTHING), 0), 2)
    start, end = (first + 1.0) - filled[0], (stop - 1.0) + filled[1]
    short = length < 3
    if short.any():
        before, after = beyond
        head, tail = edge
        second = np.where(length == 2, tail, 0.0)
        volume = before + head + second + after
        middle = (
            before * (first - 0.5) + head * (first + 0.5) + second * (first + 1.5) + after * (stop + 0.5)
        ) / volume
        reach = volume / np.maximum(head, np.maximum(second, _NOTHING)) / 2
        start = np.where(short, middle - reach, start)
        end = np.where(short, middle + reach, end)
    return start, end


def _growth(values: Floats, first: Positions, stop: Positions, background: float) -> Floats:
    """Return by how much bandwidth usually grows from one bin to the next at the start, and backwards at the end.

    The values are medians over the phases that have enough inner bins; one if the phases differ in it.

    Returns:
        float64[2, 1].
    """
    growth = np.ones((2, 1))
    rows = (stop - first >= _INNER).nonzero()[0]
    if len(rows) < _FEWEST:
        return growth
    at = np.array([first[rows] + 1, stop[rows] - 2])
    far = values[at + _INWARD] - background
    near = values[at] - background
    ratio = np.sort(far / np.maximum(near, np.maximum(np.abs(far) / _ENDLESS, _NOTHING)))
    usual = ratio[:, len(rows) // 2, None]
    off = np.sort(np.abs(ratio - usual))[:, len(rows) // 2, None]
    similar = (off <= TUNING.tolerances.irregular_spread * usual) & (usual > 1 / _STEEPEST) & (usual < _STEEPEST)
    return np.where(similar, usual, growth)
