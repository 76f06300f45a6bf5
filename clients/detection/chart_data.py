"""Data of period charts that all drawing libraries share: coarse steps, ticks, curves."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Final

import numpy as np
from msgspec import Struct

from ...results.base import Estimate
from ...results.prediction import Frequency, Prediction, Who
from ...results.traces.analysis import WaveletView
from ...results.traces.plot_data import Floats, PhaseColumns, PlotData, SpectrumColumns, TraceSignal
from ..drawing.charts import FURTHER_PERIODS
from ..text.headline import members_text
from ..text.units import duration_text

MAX_BARS: Final = 60
"""Maximum number of windows drawn as bars below one another."""

_WAVE_PERIODS: Final = 60
_POINTS_PER_PERIOD: Final = 40
_LATEST_PHASES: Final = 10
_LOW_WAVE: Final = 0.25  # of the highest bandwidth
_WAVE_HEIGHT: Final = 0.4
_MAX_MARKS: Final = 200
_MAX_MISSED: Final = 2  # missing phases that are marked
_LATE: Final = 0.2  # largest deviation of an interval that counts as one period, or several, in periods
_MIN_BINS: Final = 4  # least bins of a period whose phases are visible
_ABOVE: Final = 1 + 1e-9  # rounding must not split a constant signal
_OF_A_PHASE: Final = 0.1
"""Least share of a phase's usual volume at which a period has a phase."""
_MIN_SHOWN: Final = 1 / 4  # of the period

_FINE_TICKS: Final = (
    *(digit * 10.0**power for power in range(-6, 1) for digit in (1, 2, 5)),
    *(10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 7200.0, 18000.0, 43200.0, 86400.0, 604800.0),
)
_COARSE_TICKS: Final = (*(10.0**power for power in range(-6, 2)), 60.0, 600.0, 3600.0, 36000.0, 360000.0)
_MAX_TICKS: Final = 12


class Steps(Struct, frozen=True, eq=False):
    """Bandwidth as steps, coarse enough to be drawn. Edges in s (one more than values), values in bytes/s.

    ``read`` and ``written`` are means over each step, ``highest`` is the largest bin of both together within it.
    """

    edges: Floats
    read: Floats
    written: Floats
    highest: Floats
    bins_a_step: int


class Wave(Struct, frozen=True, eq=False):
    """A cosine to draw. It has its period in s, times in s, and values in bytes/s (clipped at 0)."""

    period_s: float
    times: Floats
    values: Floats


def period_ticks(shortest_s: float, longest_s: float) -> list[float]:
    """Return round periods within limits for a logarithmic axis, about a dozen or fewer.

    >>> period_ticks(0.3, 90)
    [0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0]
    """
    fine = [tick for tick in _FINE_TICKS if shortest_s <= tick <= longest_s]
    return fine if len(fine) <= _MAX_TICKS else [tick for tick in _COARSE_TICKS if shortest_s <= tick <= longest_s]


def tick_text(seconds: float) -> str:
    """Format a round period.

    >>> tick_text(0.5), tick_text(30), tick_text(600), tick_text(36000)
    ('500 ms', '30 s', '10 min', '10 h')
    """
    for least, factor, name in ((3600, 3600, "h"), (60, 60, "min"), (1, 1, "s"), (1e-3, 1e-3, "ms")):
        if seconds >= 0.999 * least:
            return f"{seconds / factor:.3g} {name}"
    return f"{seconds * 1e6:.3g} µs"


def merge_bins(signal: TraceSignal, most: int, *, from_s: float = -math.inf, to_s: float = math.inf) -> Steps:
    """Return the bins that overlap an interval, merged into at most ``most`` steps."""
    bins = len(signal.written)
    low = min(max(math.floor((max(from_s, signal.start_s) - signal.start_s) / signal.bin_s), 0), bins)
    high = min(max(math.ceil((min(to_s, signal.end_s) - signal.start_s) / signal.bin_s - 1e-6), low), bins)
    factor = max(-(-(high - low) // most), 1)
    first = np.arange(low, high, factor)
    edges = signal.start_s + np.append(first, high) * signal.bin_s
    if not len(first):
        return Steps(edges, np.zeros(0), np.zeros(0), np.zeros(0), factor)
    count = np.diff(np.append(first, high))
    read, written = (np.add.reduceat(row[low:high], first - low) / count for row in (signal.read, signal.written))
    highest = np.maximum.reduceat(signal.read[low:high] + signal.written[low:high], first - low)
    return Steps(edges, read, written, highest, factor)


def dominant_wave(
    prediction: Prediction, mean: float, phases: PhaseColumns | None = None, *, from_s: float = -math.inf
) -> Wave | None:
    """Return the cosine of the dominant frequency. It is extended by one and a half periods into the future.

    Only the latest periods are drawn. None without a period. If phases have rests or pauses between them, each stretch
    of phases has a cosine of its own with its crests in the middle of the phases, and NaN separates them.

    Args:
        prediction: the prediction.
        mean: mean of the signal, bytes/s.
        phases: phases of the signal; None: as if there were no rests.
        from_s: start of the chart.
    """
    strongest = _dominant(prediction)
    if strongest is None:
        return None
    window, period_s = prediction.window, strongest.period_s
    begin = max(window.start_s, from_s, window.end_s - _WAVE_PERIODS * period_s)
    end = window.end_s + 1.5 * period_s
    # a sample represents its whole bin
    crest_s = window.start_s + 0.5 / prediction.sampling_frequency_hz - strongest.phase_rad / (2 * math.pi) * period_s
    spans = [(begin, end, crest_s)]
    if phases is not None and len(parts := _stretches(phases, prediction, period_s)) > 1:
        spans = [
            (max(first, begin), min(last, end), crest_s)
            for first, last, crest_s in (_span_of(phases, rows, period_s) for rows in parts)
            if last > begin
        ]
    times, values = np.zeros(0), np.zeros(0)
    for first, last, crest_s in spans:
        count = math.ceil((last - first) / period_s * _POINTS_PER_PERIOD) + 1
        part = np.linspace(first, last, max(count, 2))
        wave = np.maximum(mean + strongest.amplitude * np.cos(2 * math.pi / period_s * (part - crest_s)), 0.0)
        break_s = [] if not len(times) else [first]
        times, values = (
            np.concatenate([times, break_s, part]),
            np.concatenate([values, [math.nan] * len(break_s), wave]),
        )
    return Wave(period_s, times, values)


def _spanned_periods(interval_s: float, prediction: Prediction, period_s: float) -> int:
    """Return how many periods an interval between phases spans: two or three if phases are missing.

    It is 0 for rests and pauses: intervals of 1.8 periods or more that are no multiple, and all between shifts.
    """
    if interval_s < (2 - _LATE) * period_s:
        return 1
    periods = round(interval_s / period_s)
    missing = periods <= _MAX_MISSED + 1 and abs(interval_s / periods - period_s) <= _LATE * period_s / periods
    return periods if missing and prediction.shifts is None else 0


def _stretches(phases: PhaseColumns, prediction: Prediction, period_s: float) -> list[slice]:
    """Return the rows of phases without a rest or pause between them."""
    rests = [
        at
        for at, interval_s in enumerate(np.diff(phases.start_s).tolist(), 1)
        if not _spanned_periods(interval_s, prediction, period_s)
    ]
    return [slice(low, high) for low, high in pairwise([0, *rests, len(phases)]) if high > low]


def _span_of(phases: PhaseColumns, rows: slice, period_s: float) -> tuple[float, float, float]:
    """Return start and end of the periods of a stretch of phases, and the mean time of a phase's middle, modulo P."""
    middle = (phases.start_s[rows] + phases.end_s[rows]) / 2
    turns = np.exp(2j * math.pi * (middle - middle[0]) / period_s)
    crest_s = float(middle[0]) + float(np.angle(turns.mean())) / (2 * math.pi) * period_s
    return float(middle[0]) - period_s / 2, float(middle[-1]) + period_s / 2, crest_s


def scale_wave(wave: Wave, top: float) -> tuple[Floats, str]:
    """Return a wave scaled to be visible, and its name. The wave of sharp bursts is low and is scale_wave.

    Args:
        wave: the wave.
        top: largest other value in the chart, bytes/s.
    """
    name = f"wave of {duration_text(wave.period_s)}"
    highest = float(np.nanmax(wave.values, initial=0.0))
    if not 0 < highest < _LOW_WAVE * top:
        return wave.values, name
    factor = _WAVE_HEIGHT * top / highest
    return wave.values * factor, f"{name}, {factor:.2g} times as high"


def period_marks_s(prediction: Prediction, signal: TraceSignal) -> Floats:
    """Return a time in each period of the prediction's window that has a phase; none without a period.

    These are the starts of phases, and of missing ones if a period or two have none. There is none in rests and pauses.
    If phases are too short for the bins of the signal, these are the crests of the dominant cosine.
    """
    if prediction.period_s is None or not prediction.period_s.value > 0:
        return np.zeros(0)
    window, period_s = prediction.window, prediction.period_s.value
    starts = _phase_starts_s(signal, period_s)
    starts = starts[(starts >= window.start_s - period_s / 2) & (starts <= window.end_s)]
    even = len(starts) > 1 and abs(float(np.median(np.diff(starts))) - period_s) <= _LATE * period_s
    if not even:
        return _crests_with_phases_s(prediction, signal)
    marks = [starts]
    for start_s, next_s in pairwise(starts.tolist()):
        periods = _spanned_periods(next_s - start_s, prediction, period_s)
        marks.append(np.linspace(start_s, next_s, max(periods, 1), endpoint=False)[1:])
    return np.sort(np.concatenate(marks))[-_MAX_MARKS:]


def _phase_starts_s(signal: TraceSignal, period_s: float) -> Floats:
    """Return the starts of stretches above the mean bandwidth, without pauses of a quarter of a period."""
    total, period = signal.total, period_s / signal.bin_s
    above = np.flatnonzero(total > float(total.mean()) * _ABOVE) if len(total) else np.zeros(0, np.int64)
    if not len(above) or period < _MIN_BINS:
        return np.zeros(0)
    begins = np.append(True, np.diff(above) > max(period / 4, 1))
    volume = np.add.reduceat(total[above], np.flatnonzero(begins))
    first = above[begins][volume >= _OF_A_PHASE * float(np.median(volume))]
    return np.asarray(signal.start_s + first * signal.bin_s, np.float64)


def _crests_with_phases_s(prediction: Prediction, signal: TraceSignal) -> Floats:
    crests = crest_times_s(prediction)
    crests = crests[(crests >= signal.start_s) & (crests < signal.end_s)]
    if len(crests) < 2:
        return crests
    half = (crests[1] - crests[0]) / 2
    moved = np.concatenate([[0.0], np.cumsum(signal.total)])
    around = [np.clip((crests + side - signal.start_s) / signal.bin_s, 0, len(moved) - 1) for side in (-half, half)]
    volume = moved[np.ceil(around[1]).astype(int)] - moved[np.floor(around[0]).astype(int)]
    return np.asarray(
        crests[volume >= _OF_A_PHASE * float(np.median(volume[volume > 0]))] if volume.any() else crests[:0]
    )


def crest_times_s(prediction: Prediction) -> Floats:
    """Return the times of the dominant cosine's crests in the phases of the prediction's window; none without a period.

    A window may end where its last phase begins, so crests up to half a period later count.
    """
    wave = _dominant(prediction)
    if wave is None or not wave.frequency_hz > 0:
        return np.zeros(0)
    window = prediction.window
    first = window.start_s + 0.5 / prediction.sampling_frequency_hz - wave.phase_rad / (2 * math.pi) * wave.period_s
    first += math.ceil((window.start_s - first) / wave.period_s) * wave.period_s
    return np.arange(first, window.end_s + wave.period_s / 2, wave.period_s)[-_MAX_MARKS:]


def visible_periods(view: WaveletView, period: Estimate | None) -> slice:
    """Return the rows of a wavelet chart to draw. Periods much shorter than the main one only show burst edges."""
    if period is None:
        return slice(None)
    first = int(np.searchsorted(view.periods_s, period.value * _MIN_SHOWN))
    return slice(min(first, len(view.periods_s) - 2), None)


def wavelet_amplitude(view: WaveletView, rows: slice) -> tuple[Floats, float]:
    """Return the amplitudes of rows of a wavelet chart, and the one with the brightest colour."""
    amplitude = np.sqrt(np.maximum(view.power[rows], 0.0))
    return amplitude, float(np.quantile(amplitude, 0.995)) or 1.0


def _dominant(prediction: Prediction) -> Frequency | None:
    period = prediction.period_s
    if period is None or not prediction.dominant:
        return None
    return min(prediction.dominant, key=lambda row: abs(row.frequency_hz - 1 / period.value))


def picture_end_s(panels: PlotData) -> float:
    """Return the end of the time axis. It is the end of the trace or of the expected next phase."""
    upcoming = panels.prediction.next_phase
    end = panels.signal.end_s
    if upcoming is None:
        return end
    return max(end, upcoming.start_s.high, upcoming.start_s.value + upcoming.duration_s.value)


class Strip(Struct, frozen=True, eq=False):
    """Marks of the phases of another period, as a strip below the upper edge.

    Attributes:
        phases: its phases.
        label: label in the legend.
        colour: colour of the strip.
        low: lower edge, as a share of the chart's height.
        high: upper edge, as a share of the chart's height.
    """

    phases: PhaseColumns
    label: str
    colour: str
    low: float
    high: float


def period_strips(panels: PlotData) -> list[Strip]:
    """Return a strip for each period besides the main one."""
    return [
        Strip(
            each.phases,
            phase_label(each.other.who),
            FURTHER_PERIODS[at % len(FURTHER_PERIODS)],
            0.91 - 0.05 * at,
            0.945 - 0.05 * at,
        )
        for at, each in enumerate(panels.beside)
    ]


def phase_label(who: Who | None) -> str:
    """Return the legend label of phases, with the members that have them."""
    return "phase" if who is None else f"phase, {members_text(who)}"


def latest_phases_start_s(panels: PlotData) -> float | None:
    """Return the start of the latest phases. Return None if there are so few that all are visible."""
    phases, period = panels.phases, panels.prediction.period_s
    if period is None or len(phases) <= 1.5 * _LATEST_PHASES:
        return None
    return max(float(phases.start_s[-_LATEST_PHASES]) - 0.4 * period.value, panels.signal.start_s)


def thin_spectrum(frequency: Floats, power: Floats, most: int) -> tuple[Floats, Floats]:
    """Thin a spectrum to about ``most`` points, evenly on a logarithmic axis. Keep the highest of each interval."""
    if len(frequency) <= most:
        return frequency, power
    edges = np.unique(np.rint(np.geomspace(1, len(frequency), most)).astype(np.int64) - 1)
    highest = [low + int(np.argmax(power[low:high])) for low, high in zip(edges, [*edges[1:], len(power)], strict=True)]
    return frequency[highest], power[highest]


def has_spectrum(panels: PlotData) -> bool:
    """Return whether a spectrum can be drawn."""
    return len(panels.spectrum.power) > 1 and float(panels.spectrum.power.max()) > 0


def spectrum_limits(spectrum: SpectrumColumns, level: Floats, top: float) -> tuple[float, float, float, float]:
    """Return the limits of a spectrum's chart: shortest and longest period, s, lowest and highest share of ``top``."""
    shortest, longest = 1 / float(spectrum.frequency_hz[-1]), 1 / float(spectrum.frequency_hz[0])
    return 0.95 * shortest, 1.05 * longest, min(max(float(np.quantile(level, 0.02)) / top, 1e-6), 0.1), 3.0


def highest_period(value: Floats, high: Floats) -> float:
    """Return the upper limit of a chart of periods. The interval of an early guess may be many times the period."""
    return 1.2 * float(np.nanmax(np.fmin(high, 1.5 * value)))


def highest_error(errors: Floats, low: Floats, high: Floats) -> float:
    """Return the limit of a chart of errors and the bounds of their intervals, all in percent of the period."""
    return max(3 * float(np.nanquantile(np.abs(errors), 0.9)), 1.5 * float(np.nanmedian(high - low)), 5.0)
