"""Shared parts of trace and replay charts: bandwidth, predictions and their axes. Needs matplotlib."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from ...events.errors import UnavailableError
from ...results.base import Estimate
from ...results.prediction import NextPhase, Prediction
from ...results.traces.plot_data import PlotData
from ..drawing.charts import PHASE, READ, SOFT, WRITE, Unit, rate_unit, time_unit
from .chart_data import Steps, highest_period, period_ticks, picture_end_s, tick_text

try:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.patches import Rectangle
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
except ImportError as error:
    raise UnavailableError("pictures need matplotlib: pip install 'iotide[plot]'") from error

_LEGEND_WIDTH: Final = 10.0  # inches; a wider legend would narrow the chart
_LETTER_WIDTH: Final = 0.07
_HANDLE_WIDTH: Final = 0.6


def plot_bandwidth(axes: Axes, steps: Steps, zero_s: float, unit: Unit) -> float:
    """Draw writes as steps and reads stacked on top. Return the factor of the bandwidth axis."""
    edges = (steps.edges - zero_s) / unit.factor
    top = float(steps.highest.max(initial=0.0))
    rate = rate_unit(top)
    if steps.bins_a_step > 1:
        axes.stairs(steps.highest / rate.factor, edges, color=WRITE, alpha=0.3, linewidth=0.6, label="highest")
    written, both = steps.written / rate.factor, (steps.written + steps.read) / rate.factor
    if written.any():
        axes.stairs(written, edges, fill=True, color=WRITE, alpha=0.8, label="write")
    if steps.read.any():
        axes.stairs(both, edges, baseline=written, fill=True, color=READ, alpha=0.8, label="read")
    axes.set_ylabel(rate.name)
    axes.set_ylim(0, 1.08 * top / rate.factor if top else 1.0)
    return rate.factor


def plot_next_phase(axes: Axes, phase: NextPhase, zero_s: float, unit: Unit, rate: float | None = None) -> None:
    """Outline the expected next phase, with the interval of its start.

    Args:
        axes: bandwidth over time, its limits set.
        phase: the phase.
        zero_s: time at the zero of the axis.
        unit: unit of the time axis.
        rate: factor of the bandwidth axis; None for a box as high as the chart.
    """
    top = axes.get_ylim()[1]
    duration = max(phase.duration_s.value, 1e-9)
    height = top if rate is None else min(phase.volume_bytes.value / duration / rate, 0.94 * top)
    start, low, high = ((at - zero_s) / unit.factor for at in _with_interval(phase))
    box = Rectangle(
        (start, 0), duration / unit.factor, height, facecolor=(*_rgb(PHASE), 0.15), edgecolor=PHASE, linestyle="--"
    )
    box.set_label("next phase, expected")
    axes.add_patch(box)
    axes.plot([low, high], [0.97 * top] * 2, color=PHASE, linewidth=2, solid_capstyle="butt", label="90 % of its start")
    axes.plot([start], [0.97 * top], "|", color=PHASE, markersize=9)


def plot_history(axes: Axes, history: Sequence[Prediction], zero_s: float, unit: Unit) -> None:
    """Draw the period with its interval, and the confidence, over the time of the prediction."""
    times = (np.array([row.made_at_s for row in history]) - zero_s) / unit.factor
    found = np.array([_bounds(row.period_s) for row in history]).reshape(-1, 3)  # NaN breaks the line
    usual = float(np.nanmedian(found[:, 1])) if np.isfinite(found).any() else 0.0
    scale = time_unit(usual)
    low, value, high = found.T / scale.factor
    axes.fill_between(times, low, high, color=WRITE, alpha=0.2)
    axes.plot(times, value, "o-", color=WRITE, markersize=3, label="period")
    axes.set_ylabel(f"period, {scale.name}", color=WRITE)
    axes.set_ylim(0, highest_period(value, high) if usual else 1.0)
    trust = axes.twinx()
    trust.plot(times, [row.confidence for row in history], color=PHASE, alpha=0.6)
    trust.set_ylabel("confidence", color=PHASE)
    trust.set_ylim(0, 1.05)
    trust.spines[["top"]].set_visible(False)


def place_legend(axes: Axes) -> None:
    """Place the legend above the data."""
    labels = [str(label) for label in axes.get_legend_handles_labels()[1] if not str(label).startswith("_")]
    if not labels:
        return
    columns = next((count for count in range(7, 1, -1) if _legend_width(labels, count) <= _LEGEND_WIDTH), 1)
    axes.legend(
        loc="lower left", bbox_to_anchor=(0, 1.0), ncols=columns, frameon=False, fontsize="small", borderaxespad=0.1
    )


def _legend_width(labels: Sequence[str], columns: int) -> float:
    """Estimate the width of a legend, inches; it is filled column by column."""
    widest = [max(map(len, rows)) for rows in np.array_split(np.array(labels, object), columns) if len(rows)]
    return sum(_LETTER_WIDTH * letters + _HANDLE_WIDTH for letters in widest)


def write_note(axes: Axes, text: str) -> None:
    """Write a caption above the axes, at the right."""
    axes.set_title(text, loc="right", fontsize="small", color=SOFT)


def use_time_ticks(axis: Axis, shortest_s: float, longest_s: float) -> None:
    """Put round times on a logarithmic axis of seconds."""
    axis.set_major_locator(FixedLocator(period_ticks(shortest_s, longest_s)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: tick_text(value)))
    axis.set_minor_locator(NullLocator())


def share_time(axes: Axes, panels: PlotData, unit: Unit) -> None:
    """Extend a time axis over the whole trace."""
    span = max(picture_end_s(panels) - panels.signal.start_s, panels.signal.bin_s)
    axes.set_xlim(-0.01 * span / unit.factor, 1.01 * span / unit.factor)


def _bounds(period: Estimate | None) -> tuple[float, float, float]:
    return (math.nan,) * 3 if period is None else (period.low, period.value, period.high)


def _with_interval(phase: NextPhase) -> tuple[float, float, float]:
    return phase.start_s.value, phase.start_s.low, phase.start_s.high


def _rgb(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return red, green, blue
