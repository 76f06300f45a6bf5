"""The chart of a finished trace, as PNG or SVG. Needs matplotlib (the extra ``plot``)."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from typing import Final, Literal

import numpy as np

from ...events.counted_text import counted
from ...events.errors import UnavailableError
from ...results.prediction import Prediction
from ...results.traces.analysis import DetectionReport, WaveletView
from ...results.traces.plot_data import PhaseColumns, PlotData, SpectrumColumns
from ..drawing.charts import MISS, PHASE, SOFT, WAVE, WRITE, Unit, time_unit
from ..text.headline import headline_text
from ..text.units import duration_text
from .chart_data import (
    dominant_wave,
    has_spectrum,
    latest_phases_start_s,
    merge_bins,
    period_strips,
    phase_label,
    picture_end_s,
    scale_wave,
    spectrum_limits,
    thin_spectrum,
    visible_periods,
    wavelet_amplitude,
)
from .charts_matplotlib_axes import (
    place_legend,
    plot_bandwidth,
    plot_next_phase,
    share_time,
    use_time_ticks,
    write_note,
)
from .charts_matplotlib_replay import draw_settling, draw_truth, draw_windows

try:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
except ImportError as error:
    raise UnavailableError("pictures need matplotlib: pip install 'iotide[plot]'") from error

_MAX_STEPS: Final = 2000
_MAX_SPANS: Final = 400
_MAX_POINTS: Final = 3000
_MAX_NAME: Final = 60
_WIDTH: Final = 11.0
_DPI: Final = 110

Draw = Callable[[Axes], None]


def draw_picture(panels: PlotData, title: str, file_format: Literal["png", "svg"]) -> bytes:
    """Draw all panels of a trace, one below the other.

    Args:
        panels: data of the charts.
        title: title, one line.
        file_format: format of the chart.
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
        warnings.filterwarnings("ignore", "Glyph .* missing")  # missing glyphs are drawn as a box
        figure.savefig(out, format=file_format, metadata={"Date": None} if file_format == "svg" else None)
    return out.getvalue()


def picture_title(report: DetectionReport) -> str:
    """Return the title of a chart, in one line that any font can draw."""
    prediction = report.prediction
    name = "".join(letter if letter.isprintable() else "?" for letter in prediction.job[:_MAX_NAME])
    return f"{name}: {headline_text(prediction)}, {counted(report.events, 'events')}"


def _rows(panels: PlotData) -> list[tuple[float, Draw]]:
    """Return height in inches and draw function of each panel that has data."""
    if not panels.signal.total.any():
        return [(0.8, _draw_nothing)]
    rows: list[tuple[float, Draw]] = [(2.5, lambda axes: _signal(axes, panels, None))]
    if (since := latest_phases_start_s(panels)) is not None:
        rows.append((2.4, lambda axes: _signal(axes, panels, since)))
    if has_spectrum(panels):
        rows.append((2.2, lambda axes: _spectrum(axes, panels.spectrum, panels.prediction)))
    if len(panels.spectrum.lag_s) and panels.spectrum.autocorrelation.any():
        rows.append((1.7, lambda axes: _autocorrelation(axes, panels.spectrum, panels.prediction)))
    if (view := panels.wavelet) is not None:
        rows.append((2.3, lambda axes: _wavelet(axes, view, panels)))
    replay = panels.replay
    if replay is not None and replay.answered and len(panels.spectrum.lag_s):
        rows.append((2.4, lambda axes: draw_windows(axes, replay, panels)))
        rows.append((1.9, lambda axes: draw_settling(axes, replay, panels)))
        if replay.compared:
            rows.append((2.1, lambda axes: draw_truth(axes, replay, panels)))
    return rows


def _draw_nothing(axes: Axes) -> None:
    axes.set_axis_off()
    axes.text(0.5, 0.5, "no read or write in this trace counts towards a bandwidth", ha="center", va="center")


def _signal(axes: Axes, panels: PlotData, since_s: float | None) -> None:
    """Draw the bandwidth of the latest phases or of the whole trace.

    The whole trace has the wave only if phases are few.
    """
    signal, prediction = panels.signal, panels.prediction
    end = picture_end_s(panels)
    begin, zero = (signal.start_s, signal.start_s) if since_s is None else (since_s, signal.end_s)
    unit = time_unit(end - begin)
    steps = merge_bins(signal, _MAX_STEPS, from_s=begin)
    rate = plot_bandwidth(axes, steps, zero, unit)
    if panels.whole is not None:
        whole = merge_bins(panels.whole, _MAX_STEPS, from_s=begin)
        edges, moved = (whole.edges - zero) / unit.factor, (whole.read + whole.written) / rate
        axes.stairs(moved, edges, fill=True, color=SOFT, alpha=0.35, zorder=0.5, label="the whole job")
        axes.set_ylim(0, max(axes.get_ylim()[1], 1.05 * float(moved.max(initial=0.0))))
    closely = since_s is not None or latest_phases_start_s(panels) is None
    _shade(axes, panels.phases, begin, zero, unit, label=phase_label(prediction.who))
    for strip in period_strips(panels):
        edges_at = (strip.low, strip.high)
        _shade(axes, strip.phases, begin, zero, unit, label=strip.label, colour=strip.colour, alpha=0.7, at=edges_at)
    if closely:
        total = signal.total
        wave = dominant_wave(prediction, float(total.mean()) if len(total) else 0.0, panels.phases, from_s=begin)
        if wave is not None:
            values, label = scale_wave(wave, float(steps.highest.max(initial=0.0)))
            axes.plot((wave.times - zero) / unit.factor, values / rate, color=WAVE, linewidth=1.1, label=label)
    if prediction.next_phase is not None:
        plot_next_phase(axes, prediction.next_phase, zero, unit, rate)
    margin = 0.01 * max(end - begin, signal.bin_s)
    axes.set_xlim((begin - zero - margin) / unit.factor, (end - zero + margin) / unit.factor)
    axes.set_xlabel(f"{unit.name} since the trace's {'start' if since_s is None else 'end'}", fontsize="small")
    if steps.bins_a_step > 1:
        write_note(axes, f"mean over {duration_text(steps.bins_a_step * signal.bin_s)}")
    elif since_s is not None:
        write_note(axes, "the latest phases")
    if not signal.written.any() and not signal.read.any():
        axes.text(0.5, 0.5, "no read or write that counts", transform=axes.transAxes, ha="center", color=SOFT)
    place_legend(axes)


def _shade(
    axes: Axes,
    phases: PhaseColumns,
    begin_s: float,
    zero_s: float,
    unit: Unit,
    *,
    label: str,
    colour: str = PHASE,
    alpha: float = 0.18,
    at: tuple[float, float] = (0.0, 1.0),
) -> None:
    """Shade phases, between two shares of the chart's height."""
    shown = phases.end_s >= begin_s
    starts, ends = phases.start_s[shown], phases.end_s[shown]
    if len(starts) > _MAX_SPANS:
        return
    for start, end in zip((starts - zero_s) / unit.factor, (ends - zero_s) / unit.factor, strict=True):
        axes.axvspan(start, end, *at, color=colour, alpha=alpha, linewidth=0, zorder=0, label=label)
        label = "_"


def _spectrum(axes: Axes, spectrum: SpectrumColumns, prediction: Prediction) -> None:
    frequency, power = spectrum.frequency_hz, spectrum.power
    top = float(power.max()) or 1.0
    shown, level = thin_spectrum(frequency, power, _MAX_POINTS)
    axes.plot(1 / shown, level / top, color=WRITE, linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yscale("log")
    shortest, longest, lowest, highest = spectrum_limits(spectrum, level, top)
    axes.set_xlim(shortest, longest)
    axes.set_ylim(lowest, highest)
    if spectrum.threshold is not None:
        axes.axhline(spectrum.threshold / top, color=SOFT, linestyle="--", linewidth=0.8, label="outliers lie above")
    if prediction.period_s is not None:
        period = prediction.period_s
        axes.axvspan(period.low, period.high, color=PHASE, alpha=0.2, linewidth=0)
        axes.axvline(period.value, color=PHASE, linewidth=1, label=f"period found, {duration_text(period.value)}")
    for bins, colour, label in ((spectrum.harmonics, SOFT, "harmonic"), (spectrum.candidates, MISS, "candidate")):
        if len(bins):
            axes.plot(1 / frequency[bins], power[bins] / top, "o", color=colour, markersize=5, label=label)
    use_time_ticks(axes.xaxis, shortest, longest)
    axes.set_xlabel("period", fontsize="small")
    axes.set_ylabel("power / highest", fontsize="small")
    write_note(axes, "spectrum")
    place_legend(axes)


def _autocorrelation(axes: Axes, spectrum: SpectrumColumns, prediction: Prediction) -> None:
    lags, values = spectrum.lag_s, spectrum.autocorrelation
    reach = len(lags)
    if prediction.period_s is not None:  # more than a dozen periods are unreadable
        reach = min(reach, max(round(12.5 * prediction.period_s.value / float(lags[1])), 16)) if reach > 1 else reach
    unit = time_unit(float(lags[reach - 1]))
    step = max(reach // _MAX_POINTS, 1)
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
    write_note(axes, "autocorrelation")


def _wavelet(axes: Axes, view: WaveletView, panels: PlotData) -> None:
    """Draw power over time and period. Also draw the intervals in which the reported period was present."""
    zero = panels.signal.start_s
    unit = time_unit(picture_end_s(panels) - zero)
    rows = visible_periods(view, panels.prediction.period_s)
    (amplitude, bright), periods = wavelet_amplitude(view, rows), view.periods_s[rows]
    times = (np.array(view.times_s) - zero) / unit.factor
    axes.pcolormesh(times, periods, amplitude, cmap="viridis", vmin=0, vmax=bright, shading="nearest", rasterized=True)
    axes.set_yscale("log")
    axes.set_ylim(periods[0], periods[-1])
    use_time_ticks(axes.yaxis, *axes.get_ylim())
    axes.fill_between(times, view.cone_s, periods[-1] * 2, color="white", alpha=0.4, linewidth=0)
    if panels.validity is not None:
        label = f"{duration_text(panels.validity.period_s)} was there"
        for stretch in panels.validity.stretches:
            ends = [(at - zero) / unit.factor for at in (stretch.start_s, stretch.end_s)]
            axes.plot(ends, [panels.validity.period_s] * 2, color=MISS, linewidth=2, solid_capstyle="butt", label=label)
            label = "_"
    share_time(axes, panels, unit)
    axes.set_ylabel("period", fontsize="small")
    write_note(axes, "wavelet amplitude; pale: edges of the trace matter")
    place_legend(axes)
