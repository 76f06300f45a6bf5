"""The picture of a finished trace, as PNG or SVG. Needs matplotlib (the extra ``plot``)."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from typing import Final, Literal

import numpy as np

from ..events.analysis import DetectionReport, WaveletView
from ..events.errors import UnavailableError
from ..events.models import Prediction
from ..events.panels import Panels, PhaseColumns, SpectrumColumns
from ..events.replay import Replay
from .picture_data import (
    MISS,
    MOST_BARS,
    PHASE,
    SOFT,
    WAVE,
    WRITE,
    Unit,
    latest_s,
    magnified,
    outline,
    period_ticks,
    picture_end_s,
    seen_periods,
    steps_of,
    tick_text,
    time_unit,
    wave_of,
)
from .pictures import place_legend, plot_bandwidth, plot_history, plot_next_phase
from .units import duration_text

try:
    from matplotlib import colormaps
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
except ImportError as error:
    raise UnavailableError("pictures need matplotlib: pip install 'iotide[plot]'") from error

_MOST_STEPS: Final = 2000
_MOST_SPANS: Final = 400
_MOST_POINTS: Final = 3000
_LONGEST_NAME: Final = 60
_WIDTH: Final = 11.0
_DPI: Final = 110

Draw = Callable[[Axes], None]


def picture_of(panels: Panels, title: str, file_format: Literal["png", "svg"]) -> bytes:
    """Draws all panels of a trace, one below the other.

    Args:
        panels: what to draw.
        title: what stands above, in one line.
        file_format: of the picture.
    """
    rows = _rows(panels)
    figure = Figure(figsize=(_WIDTH, sum(height for height, _ in rows) + 0.5), layout="constrained", dpi=_DPI)
    figure.suptitle(title, x=0.01, ha="left", fontsize="medium", parse_math=False)
    grid = figure.subplots(len(rows), 1, squeeze=False, height_ratios=[height for height, _ in rows])
    for axes, (_, draw) in zip(grid[:, 0], rows, strict=True):
        axes.spines[["top", "right"]].set_visible(False)
        axes.tick_params(labelsize="small")
        draw(axes)
    out = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # a box stands for what the font lacks
        figure.savefig(out, format=file_format, metadata={"Date": None} if file_format == "svg" else None)
    return out.getvalue()


def title_of(report: DetectionReport) -> str:
    """Writes what a picture shows, in one line that any font can draw."""
    prediction = report.prediction
    found = "no rhythm"
    if prediction.period_s is not None:
        period = prediction.period_s
        found = (
            f"period {duration_text(period.value)} ({duration_text(period.low)} to {duration_text(period.high)}), "
            f"confidence {prediction.confidence:.0%}"
        )
    name = "".join(letter if letter.isprintable() else "?" for letter in prediction.job[:_LONGEST_NAME])
    return f"{name}: {found}, {report.events:,} events"


def _rows(panels: Panels) -> list[tuple[float, Draw]]:
    """Returns height in inches and drawing of each panel that has something to show."""
    rows: list[tuple[float, Draw]] = [(2.5, lambda axes: _signal(axes, panels, None))]
    if (since := latest_s(panels)) is not None:
        rows.append((2.4, lambda axes: _signal(axes, panels, since)))
    if len(panels.spectrum.power) > 1 and float(panels.spectrum.power.max()) > 0:
        rows.append((2.2, lambda axes: _spectrum(axes, panels.spectrum, panels.prediction)))
    if len(panels.spectrum.lag_s):
        rows.append((1.7, lambda axes: _autocorrelation(axes, panels.spectrum, panels.prediction)))
    if (view := panels.wavelet) is not None:
        rows.append((2.3, lambda axes: _wavelet(axes, view, panels)))
    replay = panels.replay
    if replay is not None and replay.steps and len(panels.spectrum.lag_s):
        rows.append((2.4, lambda axes: _windows(axes, replay, panels)))
        if replay.answered:
            rows.append((1.9, lambda axes: _history(axes, replay, panels)))
        if replay.compared:
            rows.append((2.1, lambda axes: _truth(axes, replay, panels)))
    return rows


def _title(axes: Axes, text: str) -> None:
    axes.set_title(text, loc="right", fontsize="small", color=SOFT)


def _signal(axes: Axes, panels: Panels, since_s: float | None) -> None:
    """Draws the bandwidth, of the latest phases or of the whole trace (then with the wave only if phases are few)."""
    signal, prediction = panels.signal, panels.prediction
    end = picture_end_s(panels)
    begin, zero = (signal.start_s, signal.start_s) if since_s is None else (since_s, signal.end_s)
    unit = time_unit(end - begin)
    steps = steps_of(signal, _MOST_STEPS, from_s=begin)
    rate = plot_bandwidth(axes, steps, zero, unit)
    closely = since_s is not None or latest_s(panels) is None
    _shade(axes, panels.phases, begin, zero, unit)
    if closely:
        total = signal.total
        wave = wave_of(prediction, float(total.mean()) if len(total) else 0.0, from_s=begin)
        if wave is not None:
            values, label = magnified(wave, float(steps.highest.max(initial=0.0)))
            axes.plot((wave.times - zero) / unit.factor, values / rate, color=WAVE, linewidth=1.1, label=label)
    if prediction.next_phase is not None:
        plot_next_phase(axes, prediction.next_phase, zero, unit, rate)
    margin = 0.01 * max(end - begin, signal.bin_s)
    axes.set_xlim((begin - zero - margin) / unit.factor, (end - zero + margin) / unit.factor)
    axes.set_xlabel(f"{unit.name} since the trace's {'start' if since_s is None else 'end'}", fontsize="small")
    if steps.bins_a_step > 1:
        _title(axes, f"mean over {duration_text(steps.bins_a_step * signal.bin_s)}")
    elif since_s is not None:
        _title(axes, "the latest phases")
    if not signal.written.any() and not signal.read.any():
        axes.text(0.5, 0.5, "no read or write that counts", transform=axes.transAxes, ha="center", color=SOFT)
    place_legend(axes)


def _shade(axes: Axes, phases: PhaseColumns, begin_s: float, zero_s: float, unit: Unit) -> None:
    shown = phases.end_s >= begin_s
    starts, ends = phases.start_s[shown], phases.end_s[shown]
    if len(starts) > _MOST_SPANS:
        return
    label = "phase"
    for start, end in zip((starts - zero_s) / unit.factor, (ends - zero_s) / unit.factor, strict=True):
        axes.axvspan(start, end, color=PHASE, alpha=0.18, linewidth=0, zorder=0, label=label)
        label = "_"


def _spectrum(axes: Axes, spectrum: SpectrumColumns, prediction: Prediction) -> None:
    frequency, power = spectrum.frequency_hz, spectrum.power
    top = float(power.max()) or 1.0
    shown, level = outline(frequency, power, _MOST_POINTS)
    axes.plot(1 / shown, level / top, color=WRITE, linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(0.95 / float(frequency[-1]), 1.05 / float(frequency[0]))
    axes.set_ylim(min(max(float(np.quantile(level, 0.02)) / top, 1e-6), 0.1), 3)
    if spectrum.threshold is not None:
        axes.axhline(spectrum.threshold / top, color=SOFT, linestyle="--", linewidth=0.8, label="outliers lie above")
    if prediction.period_s is not None:
        period = prediction.period_s
        axes.axvspan(period.low, period.high, color=PHASE, alpha=0.2, linewidth=0)
        axes.axvline(period.value, color=PHASE, linewidth=1, label=f"period found, {duration_text(period.value)}")
    for bins, colour, label in ((spectrum.harmonics, SOFT, "harmonic"), (spectrum.candidates, MISS, "candidate")):
        if len(bins):
            axes.plot(1 / frequency[bins], power[bins] / top, "o", color=colour, markersize=5, label=label)
    _in_time(axes.xaxis, 1 / float(frequency[-1]), 1 / float(frequency[0]))
    axes.set_xlabel("period", fontsize="small")
    axes.set_ylabel("power / highest", fontsize="small")
    _title(axes, "spectrum")
    place_legend(axes)


def _autocorrelation(axes: Axes, spectrum: SpectrumColumns, prediction: Prediction) -> None:
    lags, values = spectrum.lag_s, spectrum.autocorrelation
    reach = len(lags)
    if prediction.period_s is not None:  # more than a dozen periods are a comb
        reach = min(reach, max(round(12.5 * prediction.period_s.value / float(lags[1])), 16)) if reach > 1 else reach
    unit = time_unit(float(lags[reach - 1]))
    step = max(reach // _MOST_POINTS, 1)
    axes.axhline(0, color=SOFT, linewidth=0.6)
    axes.plot(lags[:reach:step] / unit.factor, values[:reach:step], color=WRITE, linewidth=1)
    if prediction.period_s is not None:
        for number, at in enumerate(np.arange(1, 13) * prediction.period_s.value):
            if at <= lags[reach - 1]:
                axes.axvline(
                    at / unit.factor,
                    color=PHASE,
                    linewidth=1 if number == 0 else 0.6,
                    linestyle="-" if number == 0 else ":",
                )
    axes.set_xlim(0, float(lags[reach - 1]) / unit.factor or 1.0)
    axes.set_xlabel(f"lag, {unit.name}", fontsize="small")
    axes.set_ylabel("likeness", fontsize="small")
    _title(axes, "autocorrelation")


def _wavelet(axes: Axes, view: WaveletView, panels: Panels) -> None:
    """Draws power over time and period, and when the period that was found was there."""
    zero = panels.signal.start_s
    unit = time_unit(picture_end_s(panels) - zero)
    rows = seen_periods(view, panels.prediction.period_s)
    power, periods = np.sqrt(np.maximum(view.power[rows], 0.0)), view.periods_s[rows]
    times = (np.array(view.times_s) - zero) / unit.factor
    bright = float(np.quantile(power, 0.995)) or 1.0
    axes.pcolormesh(times, periods, power, cmap="viridis", vmin=0, vmax=bright, shading="nearest", rasterized=True)
    axes.set_yscale("log")
    axes.set_ylim(periods[0], periods[-1])
    _in_time(axes.yaxis, *axes.get_ylim())
    axes.fill_between(times, view.cone_s, periods[-1] * 2, color="white", alpha=0.4, linewidth=0)
    if panels.validity is not None:
        label = f"{duration_text(panels.validity.period_s)} was there"
        for stretch in panels.validity.stretches:
            ends = [(at - zero) / unit.factor for at in (stretch.start_s, stretch.end_s)]
            axes.plot(ends, [panels.validity.period_s] * 2, color=MISS, linewidth=2, solid_capstyle="butt", label=label)
            label = "_"
    _same_time(axes, panels, unit)
    axes.set_ylabel("period", fontsize="small")
    _title(axes, "wavelet amplitude; pale: edges of the trace matter")
    place_legend(axes)


def _windows(axes: Axes, replay: Replay, panels: Panels) -> None:
    """Draws each prediction's window, coloured by confidence.

    A few are bars from start to end, below each other in the order in which they were made. Many are their lengths at
    the times at which they were made.
    """
    zero = panels.signal.start_s
    rows = [step.prediction for step in replay.steps]
    unit = time_unit(picture_end_s(panels) - zero)
    made = np.array([row.made_at_s - zero for row in rows]) / unit.factor
    begin = np.array([row.window.start_s - zero for row in rows]) / unit.factor
    end = np.array([row.window.end_s - zero for row in rows]) / unit.factor
    adapted = np.array([row.window.adapted for row in rows])
    tint = colormaps["viridis_r"]
    colours = [SOFT if row.period_s is None else tint(row.confidence) for row in rows]
    _same_time(axes, panels, unit)
    if len(rows) <= MOST_BARS:
        axes.hlines(made, begin, end, colors=colours, linewidth=min(90 / len(rows), 5.0))
        axes.plot(begin[adapted], made[adapted], "|", color=MISS, markersize=5, label="cut to the rhythm")
        axes.set_ylabel(f"predicted at, {unit.name}", fontsize="small")
        axes.invert_yaxis()
    else:
        length = np.maximum([row.window.end_s - row.window.start_s for row in rows], panels.signal.bin_s)
        axes.scatter(made, length, s=9, c=colours)
        axes.plot(
            made[adapted],
            length[adapted],
            "o",
            color=MISS,
            markersize=5,
            mfc="none",
            mew=0.6,
            label="cut to the rhythm",
        )
        axes.set_yscale("log")
        axes.set_ylim(float(length.min()) / 1.5, float(length.max()) * 1.5)
        _in_time(axes.yaxis, *axes.get_ylim())
        axes.set_ylabel("length", fontsize="small")
    if adapted.any():
        place_legend(axes)
    scale_axes = axes.inset_axes((0.62, 1.06, 0.13, 0.05))
    axes.figure.colorbar(ScalarMappable(cmap=tint), cax=scale_axes, orientation="horizontal", ticks=[])
    scale_axes.set_ylabel("confidence 0 ", rotation=0, ha="right", va="center", fontsize="x-small", color=SOFT)
    scale_axes.text(1.02, 0.5, "1", transform=scale_axes.transAxes, va="center", fontsize="x-small", color=SOFT)
    _title(axes, "windows of the replay")


def _history(axes: Axes, replay: Replay, panels: Panels) -> None:
    unit = time_unit(picture_end_s(panels) - panels.signal.start_s)
    plot_history(axes, [step.prediction for step in replay.steps], panels.signal.start_s, unit)
    _same_time(axes, panels, unit)
    _title(axes, "period and confidence as they came")


def _truth(axes: Axes, replay: Replay, panels: Panels) -> None:
    """Draws predicted less true start with its interval, as a share of the period."""
    assert replay.period_s is not None  # noqa: S101
    zero = panels.signal.start_s
    unit = time_unit(picture_end_s(panels) - zero)
    compared = [
        (step, step.prediction.next_phase.start_s, step.came_s, step.error)
        for step in replay.steps
        if step.prediction.next_phase is not None and step.came_s is not None and step.error is not None
    ]
    for covered, colour, label in ((True, WRITE, "interval holds the truth"), (False, MISS, "interval misses it")):
        rows = [row for row in compared if row[0].covered is covered]
        if not rows:
            continue
        at = [(step.prediction.made_at_s - zero) / unit.factor for step, *_ in rows]
        off = np.array([100 * error for *_, error in rows])
        low, high = (
            np.array([100 * abs(getattr(start, name) - start.value) / replay.period_s for _, start, _, _ in rows])
            for name in ("low", "high")
        )
        axes.errorbar(at, off, yerr=[low, high], fmt="o", color=colour, markersize=3, elinewidth=0.8, label=label)
    errors = np.array([abs(100 * error) for *_, error in compared])
    widths = [100 * (start.high - start.low) / replay.period_s for _, start, _, _ in compared]
    reach = max(3 * float(np.quantile(errors, 0.9)), 1.5 * float(np.median(widths)), 5.0)
    axes.set_ylim(-reach, reach)
    axes.axhline(0, color=SOFT, linewidth=0.8)
    _same_time(axes, panels, unit)
    axes.set_xlabel(f"{unit.name} since the trace's start", fontsize="small")
    axes.set_ylabel("error, % of period", fontsize="small")
    _title(axes, "predicted less true start of the next phase")
    place_legend(axes)


def _in_time(axis: Axis, shortest_s: float, longest_s: float) -> None:
    axis.set_major_locator(FixedLocator(period_ticks(shortest_s, longest_s)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: tick_text(value)))
    axis.set_minor_locator(NullLocator())


def _same_time(axes: Axes, panels: Panels, unit: Unit) -> None:
    span = max(picture_end_s(panels) - panels.signal.start_s, panels.signal.bin_s)
    axes.set_xlim(-0.01 * span / unit.factor, 1.01 * span / unit.factor)
