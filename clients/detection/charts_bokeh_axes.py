"""Axes of the charts on a page. Needs bokeh (the extra ``plot``)."""

from __future__ import annotations

from typing import Any, Final

from ...events.errors import UnavailableError
from .chart_data import period_ticks, tick_text

try:
    from bokeh.models import Range1d
    from bokeh.plotting import figure
except ImportError as error:
    raise UnavailableError("the page needs bokeh: pip install 'iotide[plot]'") from error

_TOOLS: Final = "box_zoom,xpan,xwheel_zoom,reset,save"


def make_axes(
    height: int, x_label: str, y_label: str, x_range: Range1d, y_range: Range1d | None = None, **options: Any
) -> Any:
    """Make a chart as wide as the page."""
    if y_range is not None:
        options["y_range"] = y_range
    plot = figure(
        height=height,
        sizing_mode="stretch_width",
        tools=_TOOLS,
        active_drag="box_zoom",
        min_border_left=75,
        min_border_right=90,
        toolbar_location="right",
        x_range=x_range,
        **options,
    )
    plot.toolbar.logo = None
    plot.xaxis.axis_label, plot.yaxis.axis_label = x_label, y_label
    plot.xaxis.axis_label_text_font_style = plot.yaxis.axis_label_text_font_style = "normal"
    plot.grid.grid_line_color = "#eef1f4"
    plot.outline_line_color = None
    return plot


def make_range(low: float, high: float) -> Range1d:
    """Return the range of an axis."""
    return Range1d(start=low, end=high)


def place_legend(plot: Any) -> None:
    """Place the legend above the data; a click on an entry hides its curve."""
    if not plot.legend:
        return
    legend = plot.legend[0]
    plot.add_layout(legend, "above")
    legend.orientation = "horizontal"
    legend.click_policy = "hide"
    legend.label_text_font_size = "9pt"
    legend.border_line_color = None
    legend.padding = legend.margin = 0


def use_time_ticks(axis: Any, shortest_s: float, longest_s: float) -> None:
    """Put round times on a logarithmic axis of seconds."""
    ticks = period_ticks(shortest_s, longest_s)
    axis.ticker = ticks
    # bokeh looks labels up by JavaScript's form of the number: 1, not 1.0
    axis.major_label_overrides = {int(tick) if tick == int(tick) else tick: tick_text(tick) for tick in ticks}
