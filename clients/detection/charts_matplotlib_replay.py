"""Replay charts: windows, period and confidence, predicted against true starts. Needs matplotlib."""

from __future__ import annotations

import numpy as np

from ...events.errors import UnavailableError
from ...results.traces.plot_data import PlotData
from ...results.traces.replay import Replay
from ..drawing.charts import MISS, SOFT, WRITE, time_unit
from .chart_data import MAX_BARS, highest_error, picture_end_s
from .charts_matplotlib_axes import place_legend, plot_history, share_time, use_time_ticks, write_note

try:
    from matplotlib import colormaps
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
except ImportError as error:
    raise UnavailableError("pictures need matplotlib: pip install 'iotide[plot]'") from error


def draw_windows(axes: Axes, replay: Replay, panels: PlotData) -> None:
    """Draw each prediction's window, coloured by confidence.

    A few windows are bars from start to end, below one another in prediction order. Many are drawn as their lengths
    over the time of the prediction.
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
    share_time(axes, panels, unit)
    if len(rows) <= MAX_BARS:
        axes.hlines(made, begin, end, colors=colours, linewidth=min(90 / len(rows), 5.0))
        axes.plot(begin[adapted], made[adapted], "|", color=MISS, markersize=5, label="cut to the period")
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
            label="cut to the period",
        )
        axes.set_yscale("log")
        axes.set_ylim(float(length.min()) / 1.5, float(length.max()) * 1.5)
        use_time_ticks(axes.yaxis, *axes.get_ylim())
        axes.set_ylabel("length", fontsize="small")
    if adapted.any():
        place_legend(axes)
    scale_axes = axes.inset_axes((0.62, 1.06, 0.13, 0.05))
    axes.figure.colorbar(ScalarMappable(cmap=tint), cax=scale_axes, orientation="horizontal", ticks=[])
    scale_axes.set_ylabel("confidence 0 ", rotation=0, ha="right", va="center", fontsize="x-small", color=SOFT)
    scale_axes.text(1.02, 0.5, "1", transform=scale_axes.transAxes, va="center", fontsize="x-small", color=SOFT)
    write_note(axes, "windows of the replay")


def draw_settling(axes: Axes, replay: Replay, panels: PlotData) -> None:
    """Draw period and confidence of each prediction."""
    unit = time_unit(picture_end_s(panels) - panels.signal.start_s)
    plot_history(axes, [step.prediction for step in replay.steps], panels.signal.start_s, unit)
    share_time(axes, panels, unit)
    write_note(axes, "period and confidence as they came")


def draw_truth(axes: Axes, replay: Replay, panels: PlotData) -> None:
    """Draw predicted minus true start with its interval, as a share of the period."""
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
    errors = np.array([100 * error for *_, error in compared])
    low, high = (
        100 / replay.period_s * np.array([getattr(row[1], name) for row in compared]) for name in ("low", "high")
    )
    reach = highest_error(errors, low, high)
    axes.set_ylim(-reach, reach)
    axes.axhline(0, color=SOFT, linewidth=0.8)
    share_time(axes, panels, unit)
    axes.set_xlabel(f"{unit.name} since the trace's start", fontsize="small")
    axes.set_ylabel("error, % of period", fontsize="small")
    write_note(axes, "predicted less true start of the next phase")
    place_legend(axes)
