"""Pictures of a job's signal and of its predictions, as SVG. Needs matplotlib (the extra ``plot``)."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np

from ..events.errors import UnavailableError
from ..events.models import Prediction, SignalSeries

try:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
except ImportError as error:
    raise UnavailableError("pictures need matplotlib: pip install 'iotide[plot]'") from error

_READ, _WRITE, _PHASE = "#d9822b", "#0b6e99", "#7a3e9d"
_MOST_BINS = 2000


def draw_signal(signal: SignalSeries, prediction: Prediction | None) -> str:
    """Draws read and write bandwidth over time, the period as a ruler, and the phase that is expected next.

    Returns:
        An SVG element.
    """
    figure, axes = _figure(3.2)
    read, written, bin_s = _coarsen(signal)
    edges = np.arange(len(written) + 1) * bin_s
    axes.stairs(written / 1e6, edges, fill=True, color=_WRITE, alpha=0.75, label="write")
    axes.stairs(read / 1e6, edges, fill=True, color=_READ, alpha=0.75, label="read")
    if prediction is not None and prediction.period_s is not None and prediction.next_phase is not None:
        phase = prediction.next_phase
        start = phase.start_s.value - signal.start_s
        period = prediction.period_s.value
        past = np.arange(start, 0, -period)[1:]
        past = past[past >= prediction.window.start_s - signal.start_s]
        for at in past[:200]:
            axes.axvline(at, color=_PHASE, linewidth=0.8, linestyle=":")
        axes.axvspan(start, start + phase.duration_s.value, color=_PHASE, alpha=0.3, label="next phase, expected")
        axes.axvline(prediction.made_at_s - signal.start_s, color="black", linewidth=0.8, label="predicted at")
    axes.set_xlabel("seconds since the first I/O")
    axes.set_ylabel("MB/s")
    axes.set_ylim(bottom=0)
    axes.legend(loc="upper left", bbox_to_anchor=(0, 1.18), ncols=4, frameon=False, fontsize="small")
    return _svg(figure)


def draw_history(history: Sequence[Prediction]) -> str:
    """Draws period (with its interval) and confidence of successive predictions over time.

    Returns:
        An SVG element.
    """
    figure, axes = _figure(2.6)
    found = [(row, row.period_s) for row in history if row.period_s is not None]
    begin = history[0].window.start_s if history else 0.0
    times = np.array([row.made_at_s - begin for row, _ in found])
    axes.fill_between(
        times, [period.low for _, period in found], [period.high for _, period in found], color=_WRITE, alpha=0.2
    )
    axes.plot(times, [period.value for _, period in found], "o-", color=_WRITE, markersize=3, label="period")
    axes.set_xlabel("seconds since the first I/O")
    axes.set_ylabel("period, s")
    axes.set_ylim(0, 1.2 * max((period.high for _, period in found), default=1.0))
    trust = axes.twinx()
    trust.plot([row.made_at_s - begin for row in history], [row.confidence for row in history], color=_PHASE, alpha=0.6)
    trust.set_ylabel("confidence", color=_PHASE)
    trust.set_ylim(0, 1.05)
    return _svg(figure)


def _figure(height: float) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(10, height), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _coarsen(signal: SignalSeries) -> tuple[np.ndarray, np.ndarray, float]:
    read, written = np.asarray(signal.read), np.asarray(signal.written)
    factor = -(-len(written) // _MOST_BINS) or 1
    if factor > 1:
        pad = -len(written) % factor
        read, written = (np.pad(row, (0, pad)).reshape(-1, factor).mean(axis=1) for row in (read, written))
    return read, written, signal.bin_s * factor


def _svg(figure: Figure) -> str:
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    text = out.getvalue()
    return text[text.index("<svg") :]
