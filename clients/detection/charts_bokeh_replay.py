"""Replay charts for a page: windows, period and confidence, predicted against true starts. Needs bokeh."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ...events.errors import UnavailableError
from ...results.traces.replay import Replay
from ..drawing.charts import MISS, PHASE, SOFT, WRITE, Unit
from .chart_data import MAX_BARS, highest_error, highest_period
from .charts_bokeh_axes import make_axes, make_range, place_legend, use_time_ticks

try:
    from bokeh.models import ColumnDataSource, HoverTool, LinearAxis, LinearColorMapper, Range1d
    from bokeh.models.annotations import Span, Whisker
    from bokeh.palettes import Viridis256
except ImportError as error:
    raise UnavailableError("the page needs bokeh: pip install 'iotide[plot]'") from error

_NO_HEADS: Final[dict[str, Any]] = {"upper_head": None, "lower_head": None}


def _steps_source(replay: Replay, zero: float, unit: Unit) -> ColumnDataSource:
    """Return the replay as columns. Times are in units, periods and windows in s, errors in percent of the period."""
    rows = [step.prediction for step in replay.steps]
    periods = [row.period_s for row in rows]
    nan = float("nan")
    scale = 100 / replay.period_s if replay.period_s else nan
    starts = [None if row.next_phase is None else row.next_phase.start_s for row in rows]
    came = [nan if step.came_s is None else step.came_s for step in replay.steps]
    columns: dict[str, Any] = {
        "made": [(row.made_at_s - zero) / unit.factor for row in rows],
        "begin": [(row.window.start_s - zero) / unit.factor for row in rows],
        "end": [(row.window.end_s - zero) / unit.factor for row in rows],
        "length": [max(row.window.end_s - row.window.start_s, 1e-9) for row in rows],
        "adapted": ["cut to the period" if row.window.adapted else "all that was seen" for row in rows],
        "period": [nan if row is None else row.value for row in periods],
        "low": [nan if row is None else row.low for row in periods],
        "high": [nan if row is None else row.high for row in periods],
        "confidence": [row.confidence if row.period_s is not None else nan for row in rows],
        "phases": [step.phases_seen for step in replay.steps],
        "error": [nan if step.error is None else 100 * step.error for step in replay.steps],
        "off_low": [nan if row is None else (row.low - at) * scale for row, at in zip(starts, came, strict=True)],
        "off_high": [nan if row is None else (row.high - at) * scale for row, at in zip(starts, came, strict=True)],
        "colour": [MISS if step.covered is False else WRITE for step in replay.steps],
        "verdict": ["misses the truth" if step.covered is False else "holds the truth" for step in replay.steps],
    }
    return ColumnDataSource(columns)


def draw_windows(replay: Replay, zero: float, unit: Unit, together: Range1d) -> Any:
    """Draw windows, coloured by confidence. A few are bars in prediction order, many are lengths over time."""
    source = _steps_source(replay, zero, unit)
    tint = {
        "field": "confidence",
        "transform": LinearColorMapper(palette=Viridis256[::-1], low=0, high=1, nan_color=SOFT),
    }
    x_label = f"{unit.name} since the trace's start"
    if len(replay.steps) <= MAX_BARS:
        plot = make_axes(240, x_label, f"predicted at, {unit.name}", x_range=together)
        plot.y_range.flipped = True
        bars = plot.segment("begin", "made", "end", "made", source=source, color=tint, line_width=5)
    else:
        plot = make_axes(240, x_label, "length", x_range=together, y_axis_type="log")
        length = source.data["length"]
        use_time_ticks(plot.yaxis, min(length) / 2, 2 * max(length))
        bars = plot.scatter("made", "length", source=source, color=tint, size=5)
    tips = [("predicted at", f"@made{{0.000}} {unit.name}"), ("window", "@length{0.000} s, @adapted")]
    answer = [("period", "@period{0.000} s"), ("confidence", "@confidence{0 %}"), ("phases seen", "@phases")]
    plot.add_tools(HoverTool(renderers=[bars], tooltips=[*tips, *answer]))
    return plot


def draw_settling(replay: Replay, zero: float, unit: Unit, together: Range1d) -> Any:
    """Draw the period with its interval, and the confidence, over the time of the prediction."""
    source = _steps_source(replay, zero, unit)
    high = highest_period(*(np.array(source.data[name]) for name in ("period", "high")))
    plot = make_axes(
        210, f"{unit.name} since the trace's start", "period, s", x_range=together, y_range=make_range(0, high)
    )
    plot.add_layout(
        Whisker(base="made", lower="low", upper="high", source=source, line_color=WRITE, line_alpha=0.5, **_NO_HEADS)
    )
    plot.line("made", "period", source=source, color=WRITE, legend_label="period")
    dots = plot.scatter("made", "period", source=source, color=WRITE, size=5, legend_label="period")
    plot.extra_y_ranges = {"confidence": make_range(0, 1.05)}
    plot.add_layout(LinearAxis(y_range_name="confidence", axis_label="confidence"), "right")
    plot.line(
        "made", "confidence", source=source, y_range_name="confidence", color=PHASE, line_width=1.5,
        legend_label="confidence",
    )  # fmt: skip
    tips = [
        ("predicted at", f"@made{{0.000}} {unit.name}"),
        ("period", "@period{0.000} s, @low{0.000} to @high{0.000}"),
    ]
    plot.add_tools(HoverTool(renderers=[dots], tooltips=[*tips, ("confidence", "@confidence{0 %}")]))
    place_legend(plot)
    return plot


def draw_truth(replay: Replay, zero: float, unit: Unit, together: Range1d) -> Any:
    """Draw predicted minus true start with its interval, as a share of the period."""
    source = _steps_source(replay, zero, unit)
    reach = highest_error(*(np.array(source.data[name]) for name in ("error", "off_low", "off_high")))
    x_label = f"{unit.name} since the trace's start"
    plot = make_axes(240, x_label, "error, % of period", x_range=together, y_range=make_range(-reach, reach))
    plot.add_layout(Span(location=0, dimension="width", line_color=SOFT))
    plot.add_layout(
        Whisker(
            base="made",
            lower="off_low",
            upper="off_high",
            source=source,
            line_color="colour",
            line_alpha=0.7,
            **_NO_HEADS,
        )
    )
    dots = plot.scatter("made", "error", source=source, color="colour", size=6)
    tips = [("predicted at", f"@made{{0.000}} {unit.name}"), ("error", "@error{0.0} % of the period")]
    plot.add_tools(HoverTool(renderers=[dots], tooltips=[*tips, ("interval", "@verdict"), ("phases seen", "@phases")]))
    return plot
