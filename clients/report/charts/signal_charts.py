"""Charts of a run's report: signal, and convergence of the prediction. Needs no drawing library."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from ....results.base import Estimate
from ....results.jobs.job import SignalSeries
from ....results.prediction import Prediction
from ....results.traces.plot_data import TraceSignal
from ...detection.chart_data import merge_bins, period_marks_s
from ...drawing.charts import PHASE, READ, WRITE, Unit, rate_unit, time_unit
from ...drawing.svg_chart import Chart

_MAX_STEPS: Final = 2000
_SIGNAL_HEIGHT, _HISTORY_HEIGHT = 320.0, 260.0
_INK: Final = "#1b2733"


def signal_chart(signal: SignalSeries, prediction: Prediction | None) -> str:
    """Draw read and write bandwidth over time. A dotted line marks each period with a phase, a box the next one.

    Returns:
        An SVG element.
    """
    trace = TraceSignal(signal.start_s, signal.bin_s, np.asarray(signal.read), np.asarray(signal.written))
    zero = signal.start_s
    unit = time_unit(trace.end_s - zero)
    steps = merge_bins(trace, _MAX_STEPS)
    top = float(steps.highest.max(initial=0.0))
    rate = rate_unit(top)
    upcoming = prediction is not None and prediction.period_s is not None and prediction.next_phase is not None
    end_s = 1.01 * (max(trace.end_s, _end_of_next_phase(prediction)) - zero) if upcoming else trace.end_s - zero
    chart = Chart(_SIGNAL_HEIGHT, (0.0, end_s / unit.factor), (0.0, 1.08 * top / rate.factor if top else 1.0))
    edges = ((steps.edges - zero) / unit.factor).tolist()
    written, both = steps.written / rate.factor, (steps.written + steps.read) / rate.factor
    nothing = np.zeros(len(written))
    marks = [] if prediction is None else period_marks_s(prediction, trace).tolist()
    for at in marks:  # below the data: a phase may be as narrow as a line
        chart.mark((at - zero) / unit.factor, PHASE, dotted=True)
    if steps.bins_a_step > 1:
        chart.steps(edges, nothing.tolist(), (steps.highest / rate.factor).tolist(), WRITE, opacity=0.2)
        chart.legend("highest", WRITE, 0.2)
    if written.any():
        chart.steps(edges, nothing.tolist(), written.tolist(), WRITE)
        chart.legend("write", WRITE)
    if steps.read.any():
        chart.steps(edges, written.tolist(), both.tolist(), READ)
        chart.legend("read", READ)
    if marks:
        chart.legend("period", PHASE)
    if upcoming and prediction is not None:
        _add_prediction(chart, prediction, zero, unit, 1.0 if not top else 1.08 * top / rate.factor)
    chart.label_x(f"{unit.name} since the first I/O")
    chart.label_y(rate.name)
    return chart.text()


def history_chart(history: Sequence[Prediction]) -> str:
    """Draw period (with its interval) and confidence of successive predictions over time.

    Returns:
        An SVG element.
    """
    begin = history[0].window.start_s if history else 0.0
    unit = time_unit(history[-1].made_at_s - begin if history else 1.0)
    times = [(row.made_at_s - begin) / unit.factor for row in history]
    found = np.array([_bounds(row.period_s) for row in history]).reshape(-1, 3)
    usual = float(np.nanmedian(found[:, 1])) if np.isfinite(found).any() else 0.0
    scale = time_unit(usual)
    low, value, high = found.T / scale.factor
    # The interval of an early guess may be many times the period.
    top = 1.2 * float(np.nanmax(np.fmin(high, 1.5 * value))) if usual else 1.0
    margin = 0.01 * (times[-1] - times[0]) if times else 0.0
    x = (times[0] - margin, times[-1] + margin) if times else (0.0, 1.0)
    chart = Chart(_HISTORY_HEIGHT, x, (0.0, top))
    chart.band(times, low.tolist(), high.tolist(), WRITE)
    chart.line(times, [row.confidence / 1.05 * top for row in history], PHASE)
    chart.line(times, value.tolist(), WRITE, dots=True)
    chart.label_x(f"{unit.name} since the first I/O")
    chart.label_y(f"period, {scale.name}", WRITE)
    chart.label_y("confidence", PHASE, right=True, top=1.05)
    return chart.text()


def _add_prediction(chart: Chart, prediction: Prediction, zero_s: float, unit: Unit, top: float) -> None:
    phase = prediction.next_phase
    if phase is None:
        return
    start, low, high = (
        (at - zero_s) / unit.factor for at in (phase.start_s.value, phase.start_s.low, phase.start_s.high)
    )
    duration = max(phase.duration_s.value, 1e-9) / unit.factor
    chart.box((start, start + duration), (0.0, top), PHASE)
    chart.line([low, high], [0.97 * top] * 2, PHASE, width=3)
    chart.mark((prediction.made_at_s - zero_s) / unit.factor, _INK)
    chart.legend("next phase, expected, and 90 % of its start", PHASE)
    chart.legend("predicted at", _INK)


def _end_of_next_phase(prediction: Prediction | None) -> float:
    phase = prediction.next_phase if prediction is not None else None
    return -math.inf if phase is None else max(phase.start_s.high, phase.start_s.value + phase.duration_s.value)


def _bounds(period: Estimate | None) -> tuple[float, float, float]:
    return (math.nan,) * 3 if period is None else (period.low, period.value, period.high)
