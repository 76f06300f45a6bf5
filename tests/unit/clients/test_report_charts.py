"""The charts of a run's report: elements are at the positions of their numbers, for any numbers."""

from __future__ import annotations

import math
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from iotide.clients.detection.chart_data import crest_times_s, period_marks_s
from iotide.clients.drawing.svg_chart import Chart, round_ticks
from iotide.clients.report.charts.signal_charts import history_chart, signal_chart
from iotide.results.jobs.job import SignalSeries
from iotide.results.prediction import Frequency, WorkShifts
from iotide.results.traces.plot_data import TraceSignal
from support.jobs.result_factories import around, make_prediction, make_signal

SVG = "{http://www.w3.org/2000/svg}"
NUMBERS = st.floats(0, 1e15) | st.just(0.0)


def texts(svg: str) -> list[str]:
    return ["".join(each.itertext()) for each in ET.fromstring(svg).iter(f"{SVG}text")]


@given(st.floats(-1e12, 1e12), st.floats(1e-6, 1e12), st.integers(2, 12))
@example(5875990349.656616, 1.0000000000000002e-06, 2)
@example(1801439851.0, 1e-06, 6)
def test_ticks_are_few_even_and_within_limits(low: float, span: float, most: int) -> None:
    high = low + span
    ticks = round_ticks(low, high, most)
    assert len(ticks) <= most
    slack = 1e-6 * span + 2 * math.ulp(max(abs(low), abs(high)))
    assert all(low - slack <= tick <= high + slack for tick in ticks)


def test_ticks_of_limits_that_are_none_are_none() -> None:
    assert round_ticks(math.nan, 1.0) == []
    assert round_ticks(2.0, 2.0) == [2.0]


@pytest.mark.slow
@given(st.lists(st.tuples(NUMBERS, NUMBERS), max_size=50), st.floats(1e-3, 1e3))
@example([(0.0, 5e-324)], 1.0)
def test_any_signal_is_drawn_as_xml_with_finite_numbers(rows: list[tuple[float, float]], bin_s: float) -> None:
    signal = SignalSeries(
        job="job", start_s=1.7e9, bin_s=bin_s, read=[row[0] for row in rows], written=[row[1] for row in rows]
    )
    svg = signal_chart(signal, make_prediction("job"))
    ET.fromstring(svg)
    assert not re.search(r"[ \"(,MLVH](nan|inf)", svg)


def test_signal_names_what_it_shows() -> None:
    assert [text for text in texts(signal_chart(make_signal(), None)) if not text[0].isdigit()] == [
        "write",
        "ms since the first I/O",
        "MB/s",
    ]


def test_phase_that_is_expected_is_outlined() -> None:
    svg = signal_chart(make_signal(), make_prediction("job", made_at_s=51.0))
    boxes = [each for each in ET.fromstring(svg).iter(f"{SVG}rect") if each.get("stroke-dasharray")]
    assert len(boxes) == 1


def test_a_run_that_has_ended_shows_its_period_and_no_next_phase() -> None:
    wave = Frequency(frequency_hz=0.1, period_s=10.0, amplitude=1.0, phase_rad=0.0, z_score=9.0, confidence=0.9)
    ended = make_prediction("job", made_at_s=51.0).model_copy(update={"next_phase": None, "dominant": [wave]})
    signal = make_signal([0.0, 5e6] * 300).model_copy(update={"start_s": 0.0, "bin_s": 0.1})
    svg = signal_chart(signal, ended)
    marks = [each for each in ET.fromstring(svg).iter(f"{SVG}path") if each.get("stroke-dasharray")]
    assert len(marks) == len(crest_times_s(ended)) > 3
    paths = list(ET.fromstring(svg).iter(f"{SVG}path"))
    data = [at for at, each in enumerate(paths) if each.get("fill-opacity")]
    assert data
    assert [each.get("stroke-dasharray") for each in paths[min(data) :]].count("1.5 3") == 0  # no line covers the data
    assert "period" in texts(svg)
    assert not any("next phase" in text for text in texts(svg))


def test_periods_before_the_first_phase_are_not_marked() -> None:
    """The program reads 1 kB at 0 s, and writes every 10 s from 40 s on; the window begins before the signal."""
    written = [0.0] * 100
    written[40::10] = [5e6] * 6
    written[0] = 1e3
    wave = Frequency(frequency_hz=0.1, period_s=10.0, amplitude=1.0, phase_rad=0.0, z_score=9.0, confidence=0.9)
    prediction = make_prediction("job", made_at_s=100.0).model_copy(update={"next_phase": None, "dominant": [wave]})
    start_s, length_s = prediction.window.start_s, len(written)
    window = prediction.window.model_copy(update={"start_s": start_s - 20, "end_s": start_s + length_s})
    signal = SignalSeries(job="job", start_s=start_s, bin_s=1.0, read=[0.0] * length_s, written=written)
    svg = signal_chart(signal, prediction.model_copy(update={"window": window}))
    marks = [each for each in ET.fromstring(svg).iter(f"{SVG}path") if each.get("stroke-dasharray")]
    at = [float(each.get("d", "")[1:].split()[0]) for each in marks]
    width = 848.0  # of 100 s
    assert [round((each - 76) / width * length_s) for each in at] == pytest.approx([40, 50, 60, 70, 80, 90], abs=1)


def steps_of(kind: str) -> list[float]:
    """Return intervals of a job with a period of 10 s."""
    return {
        "even": [10.0] * 12,
        "shifts": [*[10.0] * 4, 40.0] * 3,
        "shifts of whole periods": [*[10.0] * 4, 30.0] * 3,
        "long pause": [*[10.0] * 6, 63.0, *[10.0] * 6],
        "short pause": [*[10.0] * 6, 25.0, *[10.0] * 6],
        "missing": [*[10.0] * 4, 20.0, *[10.0] * 3, 30.0, *[10.0] * 3],
        "drift": [10 * 1.02**number for number in range(-8, 8)],
        "pattern": [*[8.0] * 3, 16.0] * 3,
    }[kind]


@pytest.mark.parametrize("bin_s", [0.25, 1.0])
@pytest.mark.parametrize(
    "kind",
    ["even", "shifts", "shifts of whole periods", "long pause", "short pause", "missing", "drift", "pattern"],
)
def test_marks_of_the_period_are_at_phases_and_none_in_rests_and_pauses(kind: str, bin_s: float) -> None:
    starts = 100.0 + np.append(0.0, np.cumsum(steps_of(kind)))
    edges = np.arange(90.0, starts[-1] + 30, bin_s)
    written = np.zeros(len(edges))
    for start in starts:
        written[(edges + bin_s > start) & (edges < start + 2)] = 5e6
    written += 1e3  # a log
    signal = TraceSignal(90.0, bin_s, np.zeros(len(edges)), written)
    shifts = WorkShifts(phases=5, rest_s=around(30.0), seen=3, probability=0.9) if "shifts" in kind else None
    window = make_prediction().window.model_copy(update={"start_s": 90.0, "end_s": float(edges[-1])})
    made = make_prediction("job", period_s=10.0).model_copy(update={"window": window, "shifts": shifts})
    marks = period_marks_s(made, signal)
    nearest = np.abs(marks[:, None] - starts).min(axis=1)
    assert len(marks) == len(starts) + (3 if kind == "missing" else 0)
    assert int((nearest <= 1.01 * bin_s).sum()) == len(starts)
    assert all(each == pytest.approx(10, abs=1.01 * bin_s) for each in nearest[nearest > 1.01 * bin_s])


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_history_has_a_dot_a_prediction(rows: int) -> None:
    history = [make_prediction("job", period_s=12.5, made_at_s=100.0 + row) for row in range(rows)]
    svg = history_chart(history)
    assert len(list(ET.fromstring(svg).iter(f"{SVG}circle"))) == rows


def test_predictions_without_a_period_break_the_line() -> None:
    history = [make_prediction("job", period_s=period, made_at_s=at) for at, period in enumerate((2.0, None, 2.0, 2.0))]
    svg = history_chart(history)
    assert len(list(ET.fromstring(svg).iter(f"{SVG}circle"))) == 3


def test_steps_stand_at_their_values() -> None:
    chart = Chart(176.0, (0.0, 2.0), (0.0, 10.0))  # 848 x 100 units inside
    chart.steps([0.0, 1.0, 2.0], [0.0, 0.0], [10.0, 5.0], "red")
    (path,) = [each for each in ET.fromstring(chart.text()).iter(f"{SVG}path") if each.get("fill") == "red"]
    assert path.get("d") == "M76 130V30H500V80H924V130Z"


def path_of_steps(low: list[float], high: list[float]) -> str:
    """The path of steps of a tenth of the width each, in a chart that is 100 units high for values up to 10."""
    chart = Chart(176.0, (0.0, 10.0), (0.0, 10.0))
    chart.steps([float(edge) for edge in range(len(high) + 1)], low, high, "red")
    return "".join(
        each.get("d", "") for each in ET.fromstring(chart.text()).iter(f"{SVG}path") if each.get("fill") == "red"
    )


def test_steps_of_equal_height_are_one() -> None:
    assert path_of_steps([0.0] * 10, [5.0] * 10) == "M76 130V80H924V130Z"
    assert path_of_steps([0.0] * 10, [5.0 + 0.01 * (place % 2) for place in range(10)]) == "M76 130V80H924V130Z"


def test_steps_without_a_height_are_not_drawn() -> None:
    assert path_of_steps([5.0] * 10, [5.0] * 10) == ""
    assert path_of_steps([0.0] * 4, [0.0, 10.0, 0.0, 10.0]) == "M160.8 130V30H245.6V130ZM330.4 130V30H415.2V130Z"


def test_a_small_step_is_visible() -> None:
    assert path_of_steps([0.0] * 3, [0.0, 1e-6, 0.0]) == "M160.8 130V129.5H245.6V130Z"


def test_an_area_begins_where_the_one_below_it_ends() -> None:
    shared = [2.0, 2.01, 7.0, 3.333]
    tops = set(re.findall(r"V([\d.]+)", path_of_steps([0.0] * 4, shared))) - {"130"}
    bottoms = set(re.findall(r"V([\d.]+)", path_of_steps(shared, [10.0] * 4))) - {"30"}
    assert tops == bottoms


@given(st.lists(st.integers(0, 6), min_size=2, max_size=60))
def test_a_line_without_the_points_between_equal_ones_is_the_same(heights: list[int]) -> None:
    chart = Chart(176.0, (0.0, 60.0), (0.0, 10.0))
    chart.line([float(place) for place in range(len(heights))], [float(height) for height in heights], "red")
    (path,) = [each for each in ET.fromstring(chart.text()).iter(f"{SVG}path") if each.get("stroke") == "red"]
    points = [tuple(map(float, point.split())) for point in path.get("d", "")[1:].split("L")]
    at = [(x - 76) / 848 * 60 for x, _ in points]
    shown = np.interp(range(len(heights)), at, [(130 - y) / 10 for _, y in points])
    assert shown == pytest.approx(heights, abs=0.02)


def test_names_are_escaped() -> None:
    chart = Chart(100.0, (0.0, 1.0), (0.0, 1.0))
    chart.legend("<script>", "red")
    assert texts(chart.text()) == ["<script>"]
