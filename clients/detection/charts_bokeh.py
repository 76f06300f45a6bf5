"""Interactive charts of a finished trace for a page, with zoom and tooltips. Needs bokeh (the extra ``plot``)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ...events.errors import UnavailableError
from ...results.traces.analysis import WaveletView
from ...results.traces.plot_data import Floats, PlotData, Positions, SpectrumColumns
from ..drawing.charts import MISS, PHASE, READ, SOFT, WAVE, WRITE, Unit, rate_unit, time_unit
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
from .charts_bokeh_axes import make_axes, make_range, place_legend, use_time_ticks
from .charts_bokeh_replay import draw_settling, draw_truth, draw_windows

try:
    from bokeh.embed import components
    from bokeh.models import ColumnDataSource, HoverTool, LinearColorMapper, Range1d
    from bokeh.models.annotations import Span
    from bokeh.palettes import Viridis256
    from bokeh.resources import Resources
except ImportError as error:
    raise UnavailableError("the page needs bokeh: pip install 'iotide[plot]'") from error

_MAX_STEPS: Final = 30_000
_CORNERS: Final = 2_000
_MAX_POINTS: Final = 6_000
_MAX_SPANS: Final = 20_000


def library() -> str:
    """Return the scripts that the charts need, as inline HTML."""
    return str(Resources(mode="inline", components=["bokeh"], log_level="error").render())


def embed(panels: PlotData) -> tuple[str, dict[str, str]]:
    """Draw the panels that have data.

    Panels over time zoom together.

    Returns:
        The script, and an HTML element for each panel by its name: signal, latest, spectrum, autocorrelation, windows,
        history, truth.
    """
    end = picture_end_s(panels)
    zero = panels.signal.start_s
    span = max(end - zero, panels.signal.bin_s)
    unit = time_unit(span)
    together = make_range(-0.01 * span / unit.factor, 1.01 * span / unit.factor)
    found: dict[str, Any] = {}
    if panels.signal.total.any():
        found["signal"] = _signal(panels, zero, unit, together, None)
    since = latest_phases_start_s(panels)
    if since is not None and merge_bins(panels.signal, _MAX_STEPS).bins_a_step > 1:
        near = time_unit(end - since)
        limits = make_range(
            (since - panels.signal.end_s) / near.factor, (end - panels.signal.end_s) / near.factor * 1.02
        )
        found["latest"] = _signal(panels, panels.signal.end_s, near, limits, since)
    if has_spectrum(panels):
        found["spectrum"] = _spectrum(panels)
    if len(panels.spectrum.lag_s) > 1 and panels.spectrum.autocorrelation.any():
        found["autocorrelation"] = _autocorrelation(panels)
        if panels.wavelet is not None:
            found["wavelet"] = _wavelet(panels, panels.wavelet, unit, together)
        replay = panels.replay
        if replay is not None and replay.answered:
            found["windows"] = draw_windows(replay, zero, unit, together)
            found["history"] = draw_settling(replay, zero, unit, together)
            if replay.compared:
                found["truth"] = draw_truth(replay, zero, unit, together)
    if not found:
        return "", {}
    script, divisions = components(found)
    return str(script), dict(divisions)


def _signal(panels: PlotData, zero: float, unit: Unit, limits: Range1d, since_s: float | None) -> Any:
    signal, prediction, phases = panels.signal, panels.prediction, panels.phases
    begin_s = signal.start_s if since_s is None else since_s
    steps = merge_bins(signal, _MAX_STEPS, from_s=begin_s)
    whole = None if panels.whole is None else merge_bins(panels.whole, _MAX_STEPS, from_s=begin_s)
    top = float((steps if whole is None else whole).highest.max(initial=0.0))
    rate = rate_unit(top)
    high = 1.08 * top / rate.factor if top else 1.0
    place = "start" if since_s is None else "end"
    plot = make_axes(
        280, f"{unit.name} since the trace's {place}", rate.name, x_range=limits, y_range=make_range(0, high)
    )
    rows = phases.end_s >= steps.edges[0]
    if 0 < int(rows.sum()) <= _MAX_SPANS:
        start, stop = (phases.start_s[rows] - zero) / unit.factor, (phases.end_s[rows] - zero) / unit.factor
        volume = phases.volume_bytes[rows]
        number = np.flatnonzero(rows) + 1
        lasting = phases.end_s[rows] - phases.start_s[rows]
        source = ColumnDataSource(
            {"start": start, "stop": stop, "number": number, "lasting": lasting, "volume": volume.astype(np.float32)}
        )
        shade = plot.quad(
            left="start", right="stop", bottom=0, top=high, source=source, color=PHASE, alpha=0.18, line_alpha=0,
            legend_label=phase_label(prediction.who),
        )  # fmt: skip
        tips = [("phase", "@number"), ("start", f"@start{{0.000}} {unit.name}"), ("lasts", "@lasting{0.000} s")]
        plot.add_tools(HoverTool(renderers=[shade], tooltips=[*tips, ("moves", "@volume{0.0 b}")]))
    for strip in period_strips(panels):
        shown = strip.phases.end_s >= steps.edges[0]
        if 0 < int(shown.sum()) <= _MAX_SPANS:
            plot.quad(
                left=(strip.phases.start_s[shown] - zero) / unit.factor,
                right=(strip.phases.end_s[shown] - zero) / unit.factor,
                bottom=strip.low * high, top=strip.high * high, color=strip.colour, alpha=0.7, line_alpha=0,
                legend_label=strip.label,
            )  # fmt: skip
    if whole is not None:
        moved = (whole.read + whole.written) / rate.factor
        _area(plot, (whole.edges - zero) / unit.factor, np.zeros(len(moved)), moved, SOFT, 0.35, "the whole job")
    edges = (steps.edges - zero) / unit.factor
    zeros, written, read = np.zeros(len(steps.read)), steps.written / rate.factor, steps.read / rate.factor
    if steps.bins_a_step > 1:
        _area(plot, edges, zeros, steps.highest / rate.factor, WRITE, 0.2, "highest")
    _area(plot, edges, zeros, written, WRITE, 0.8, "write")
    _area(plot, edges, written, written + read, READ, 0.8, "read")
    total = signal.total
    wave = dominant_wave(prediction, float(total.mean()) if len(total) else 0.0, phases)
    if wave is not None:
        values, label = scale_wave(wave, top)
        times = (wave.times - zero) / unit.factor
        plot.line(times, values / rate.factor, color=WAVE, line_width=1.3, legend_label=label)
    if (upcoming := prediction.next_phase) is not None:
        start_s, lasts_s = upcoming.start_s, max(upcoming.duration_s.value, 1e-9)
        level = min(upcoming.volume_bytes.value / lasts_s / rate.factor, 0.94 * high)
        left, right = (start_s.value - zero) / unit.factor, (start_s.value + lasts_s - zero) / unit.factor
        plot.quad(
            left=[left], right=[right], bottom=[0], top=[level], fill_color=PHASE, fill_alpha=0.12, line_color=PHASE,
            line_dash="dashed", legend_label="next phase, expected",
        )  # fmt: skip
        bounds = [(at - zero) / unit.factor for at in (start_s.low, start_s.high)]
        plot.line(bounds, [0.97 * high] * 2, color=PHASE, line_width=3, legend_label="90 % of its start")
        plot.scatter([left], [0.97 * high], marker="dash", angle=np.pi / 2, size=9, color=PHASE)
    place_legend(plot)
    return plot


def _area(plot: Any, edges: Floats, below: Floats, above: Floats, colour: str, alpha: float, label: str) -> None:
    """Fill between steps, in pieces. A browser's time for one shape grows faster than its number of corners."""
    for low in range(0, len(above), _CORNERS):
        rows = slice(low, low + _CORNERS)
        y1, y2 = below[rows].astype(np.float32), above[rows].astype(np.float32)
        if np.any(y2 > y1):
            columns = {"x": edges[low : low + len(y2) + 1], "y1": np.append(y1, y1[-1]), "y2": np.append(y2, y2[-1])}
            style = {"color": colour, "alpha": alpha, "legend_label": label}
            plot.varea_step("x", "y1", "y2", source=ColumnDataSource(columns), step_mode="after", **style)


def _spectrum(panels: PlotData) -> Any:
    spectrum, prediction = panels.spectrum, panels.prediction
    frequency, power = spectrum.frequency_hz, spectrum.power
    top = float(power.max()) or 1.0
    shown, level = thin_spectrum(frequency, power, _MAX_POINTS)
    shortest, longest, lowest, highest = spectrum_limits(spectrum, level, top)
    plot = make_axes(
        240, "period", "power / highest", x_axis_type="log", y_axis_type="log",
        x_range=make_range(shortest, longest), y_range=make_range(lowest, highest),
    )  # fmt: skip
    use_time_ticks(plot.xaxis, shortest, longest)
    plot.yaxis.ticker = [10.0**power for power in range(-6, 1)]
    plot.line(1 / shown, np.maximum(level / top, 1e-12), color=WRITE, line_width=1)
    if spectrum.threshold is not None:
        dashed = Span(location=spectrum.threshold / top, dimension="width", line_color=SOFT, line_dash="dashed")
        plot.add_layout(dashed)
    if prediction.period_s is not None:
        period = prediction.period_s
        label = f"period found, {duration_text(period.value)}"
        plot.line([period.value] * 2, [1e-12, highest], color=PHASE, line_width=1.5, legend_label=label)
    for bins, colour, label in ((spectrum.harmonics, SOFT, "harmonic"), (spectrum.candidates, MISS, "candidate")):
        if len(bins):
            dots = _scatter(plot, spectrum, bins, colour, label)
            tips = [("period", "@x{0.0000} s"), ("frequency", "@hz{0.00000} Hz"), ("power / highest", "@y{0.000}")]
            plot.add_tools(HoverTool(renderers=[dots], tooltips=[(label, ""), *tips]))
    place_legend(plot)
    return plot


def _scatter(plot: Any, spectrum: SpectrumColumns, bins: Positions, colour: str, label: str) -> Any:
    hz = spectrum.frequency_hz[bins]
    source = ColumnDataSource({"x": 1 / hz, "hz": hz, "y": spectrum.power[bins] / (float(spectrum.power.max()) or 1.0)})
    return plot.scatter("x", "y", source=source, color=colour, size=8, legend_label=label)


def _autocorrelation(panels: PlotData) -> Any:
    lags, values, period = panels.spectrum.lag_s, panels.spectrum.autocorrelation, panels.prediction.period_s
    seen = float(lags[-1])
    if period is not None:
        seen = min(seen, 12.5 * period.value)
    unit = time_unit(seen)
    reach = int(np.searchsorted(lags, 4 * seen))
    step = max(reach // _MAX_POINTS, 1)
    plot = make_axes(190, f"lag, {unit.name}", "likeness", x_range=make_range(0, seen / unit.factor))
    plot.line(lags[:reach:step] / unit.factor, values[:reach:step], color=WRITE, line_width=1.3)
    for number in range(1, 13 if period is not None else 1):
        at = number * (period.value if period is not None else 0.0)
        dash = "solid" if number == 1 else "dotted"
        plot.add_layout(Span(location=at / unit.factor, dimension="height", line_color=PHASE, line_dash=dash))
    return plot


def _wavelet(panels: PlotData, view: WaveletView, unit: Unit, together: Range1d) -> Any:
    """Draw amplitude over time and period. Rows are evenly spaced on the logarithmic axis, as in an image."""
    zero, validity = panels.signal.start_s, panels.validity
    rows = visible_periods(view, panels.prediction.period_s)
    amplitude, brightest = wavelet_amplitude(view, rows)
    times, periods = (np.array(view.times_s) - zero) / unit.factor, np.array(view.periods_s[rows])
    half, ratio = (times[-1] - times[0]) / max(len(times) - 1, 1) / 2, (periods[-1] / periods[0]) ** 0.5
    ratio = ratio ** (1 / max(len(periods) - 1, 1))
    low, high = float(periods[0] / ratio), float(periods[-1] * ratio)
    plot = make_axes(
        240, f"{unit.name} since the trace's start", "period", together, make_range(low, high), y_axis_type="log"
    )
    use_time_ticks(plot.yaxis, low, high)
    tint, wide = LinearColorMapper(palette=Viridis256, low=0, high=brightest), times[-1] - times[0] + 2 * half
    pixels = [amplitude.astype(np.float32)]
    image = plot.image(pixels, x=times[0] - half, y=low, dw=wide, dh=high - low, color_mapper=tint)
    plot.varea(times, np.minimum(view.cone_s, high), high, color="white", alpha=0.4)
    if validity is not None:
        for stretch in validity.stretches:
            ends = [(at - zero) / unit.factor for at in (stretch.start_s, stretch.end_s)]
            label = f"{duration_text(validity.period_s)} was there"
            plot.line(ends, [validity.period_s] * 2, color=MISS, line_width=2.5, legend_label=label)
    plot.add_tools(HoverTool(renderers=[image], tooltips=[("period", "$y{0.000} s"), ("amplitude", "@image{0.000}")]))
    place_legend(plot)
    return plot
