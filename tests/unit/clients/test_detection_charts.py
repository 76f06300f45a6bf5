"""Pictures of finished traces: content, complete files, and bounded size."""

from __future__ import annotations

import doctest
import struct
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.analyzers.offline.plot_data import panels_of
from iotide.analyzers.offline.trace import detect
from iotide.analyzers.settings import DetectSettings
from iotide.clients.detection import chart_data
from iotide.clients.detection.chart_data import (
    crest_times_s,
    dominant_wave,
    latest_phases_start_s,
    merge_bins,
    period_ticks,
    scale_wave,
    thin_spectrum,
)
from iotide.clients.detection.charts_matplotlib import draw_picture, picture_title
from iotide.clients.detection.page import render_detection
from iotide.clients.detection.replay_text import replay_sentences
from iotide.events import Kind, make_batch
from iotide.results.prediction import Frequency
from iotide.results.traces.analysis import DetectionReport
from iotide.results.traces.plot_data import PhaseColumns, PlotData, TraceSignal
from support.jobs.periodic_jobs import TYPES, checkpointing
from support.jobs.result_factories import make_prediction

SETTINGS = DetectSettings()


def panels_for(batch, job: str = "job") -> PlotData:  # type: ignore[no-untyped-def]
    batches = [(batch, TYPES)]
    return panels_of(batches, SETTINGS, detect(batches, SETTINGS, job))


def report_for(panels: PlotData) -> DetectionReport:
    return DetectionReport(
        files=["<b>trace</b>.jsonl"],
        source="jsonl",
        events=12,
        bytes_read=0,
        bytes_written=1,
        prediction=panels.prediction,
        problems=[],
        problems_total=0,
    )


def one_write():  # type: ignore[no-untyped-def]
    return make_batch(1, {"start": [10**9], "duration": 10**7, "bytes": 5000, "kind": int(Kind.WRITE)})


def nothing_counted():  # type: ignore[no-untyped-def]
    return make_batch(1, {"start": [10**9], "duration": 10**7, "kind": int(Kind.CREATE)})


def random_writes():  # type: ignore[no-untyped-def]
    at = np.sort(np.random.default_rng(3).uniform(0, 40, 300))
    start = np.rint(at * 1e9).astype(np.int64)
    return make_batch(300, {"start": start, "duration": 10**7, "bytes": 999, "kind": int(Kind.WRITE)})


class Page(HTMLParser):
    """Collect a page's references, elements and visible text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.tags: list[str] = []
        self.policy = ""
        self.headings: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name in {"src", "href", "srcset", "action", "data"}]
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given["content"] or ""

    def handle_data(self, data: str) -> None:
        if self.tags and self.tags[-1] == "h2" and data.strip():
            self.headings.append(data.strip())


def test_examples_in_docstrings_hold() -> None:
    failed, attempted = doctest.testmod(chart_data)
    assert attempted
    assert not failed


@given(st.lists(st.floats(0, 1e12), min_size=1, max_size=300), st.integers(1, 80), st.floats(-5, 40), st.floats(-5, 40))
@settings(deadline=None)
def test_coarse_steps_keep_the_volume(values: list[float], most: int, low: float, high: float) -> None:
    written = np.array(values)
    signal = TraceSignal(10.0, 0.1, written / 2, written)
    steps = merge_bins(signal, most)
    assert len(steps.written) <= most
    assert len(steps.edges) == len(steps.written) + 1
    assert steps.edges[-1] == pytest.approx(signal.end_s)
    assert float(steps.written @ np.diff(steps.edges)) == pytest.approx(float(written.sum()) * 0.1)
    assert steps.highest.max() == pytest.approx(1.5 * written.max())
    part = merge_bins(signal, most, from_s=10 + min(low, high), to_s=10 + max(low, high))
    assert len(part.edges) == len(part.written) + 1


@given(st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=3000), st.integers(10, 500))
@settings(deadline=None)
def test_thinned_spectrum_keeps_its_highest_line(power: list[float], most: int) -> None:
    frequency = np.arange(1, len(power) + 1) / 100
    shown, level = thin_spectrum(frequency, np.array(power), most)
    assert len(shown) == len(level) <= max(most, 10)
    assert np.all(np.diff(shown) > 0)
    assert level.max() == max(power)


@given(st.floats(-5, 6), st.floats(0.1, 8))
def test_period_axes_have_a_few_ticks(power: float, decades: float) -> None:
    low, high = 10**power, 10 ** min(power + decades, 6)
    ticks = period_ticks(low, high)
    assert len(ticks) <= 13
    assert all(low <= tick <= high for tick in ticks)


def test_wave_has_its_crests_in_the_phases() -> None:
    panels = panels_for(checkpointing(phases=12, burst_s=0.6).batch)
    wave = dominant_wave(panels.prediction, float(panels.signal.total.mean()))
    assert wave is not None
    crest = 1 + np.flatnonzero((wave.values[1:-1] > wave.values[:-2]) & (wave.values[1:-1] >= wave.values[2:]))
    middle = (panels.phases.start_s + panels.phases.end_s) / 2
    off = np.abs(middle[:, None] - wave.times[crest]).min(axis=1)
    assert off.max() < 0.15
    assert wave.times[-1] == pytest.approx(panels.prediction.window.end_s + 1.5 * wave.period_s)
    assert dominant_wave(make_prediction(period_s=None), 1.0) is None


@pytest.mark.parametrize("rest_s", [25.0, 63.0])
def test_wave_stops_at_rests_and_has_its_crests_in_the_phases_of_each_stretch(rest_s: float) -> None:
    starts = 100.0 + np.append(0.0, np.cumsum([*[10.0] * 5, rest_s] * 3))
    phases = PhaseColumns(starts, starts + 2, np.ones(len(starts)))
    line = Frequency(frequency_hz=0.1, period_s=10.0, amplitude=1.0, phase_rad=0.7, z_score=9.0, confidence=0.9)
    window = make_prediction().window.model_copy(update={"start_s": 95.0, "end_s": float(starts[-1]) + 4})
    prediction = make_prediction("job", period_s=10.0).model_copy(update={"dominant": [line], "window": window})
    wave = dominant_wave(prediction, 1.0, phases)
    assert wave is not None
    assert int(np.isnan(wave.values).sum()) == 3
    shown = wave.times[~np.isnan(wave.values)]
    assert np.abs(shown[:, None] - starts - 1).min(axis=1).max() < 5.01
    nearest = wave.values[np.nanargmin(np.abs(wave.times[:, None] - starts - 1), axis=0)]
    assert nearest == pytest.approx(2, abs=0.05)
    values, _ = scale_wave(wave, 1e9)
    assert np.nanmax(values) == pytest.approx(0.4e9)


def test_low_wave_of_sharp_bursts_is_magnified_with_a_note() -> None:
    panels = panels_for(checkpointing(phases=12, burst_s=0.05).batch)
    wave = dominant_wave(panels.prediction, float(panels.signal.total.mean()))
    assert wave is not None
    values, name = scale_wave(wave, float(panels.signal.total.max()))
    assert values.max() == pytest.approx(0.4 * panels.signal.total.max())
    assert "times as high" in name
    same, plain = scale_wave(wave, 2 * float(wave.values.max()))
    assert same is wave.values
    assert plain == "wave of 2 s"


@pytest.mark.slow
@pytest.mark.parametrize("phases", [12, 250])
def test_each_of_the_latest_phases_has_a_crest(phases: int) -> None:
    panels = panels_for(checkpointing(phases=phases).batch)
    crests = crest_times_s(panels.prediction)
    middle = (panels.phases.start_s + panels.phases.end_s) / 2
    assert len(crests) == min(phases, 200)
    assert np.abs(middle[-len(crests) :] - crests).max() < 0.1
    assert len(crest_times_s(make_prediction(period_s=None))) == 0


def test_phase_that_begins_at_the_end_of_the_window_has_a_crest() -> None:
    wave = Frequency(frequency_hz=0.1, period_s=10.0, amplitude=1.0, phase_rad=-0.2, z_score=9.0, confidence=0.9)
    prediction = make_prediction("job", period_s=10.0).model_copy(update={"dominant": [wave]})
    start_s, end_s = prediction.window.start_s, prediction.window.end_s
    crests = crest_times_s(prediction)
    assert end_s < crests[-1] < end_s + 1
    assert crests[0] - start_s < 1


@pytest.mark.slow
def test_latest_phases_get_a_picture_when_all_are_too_many() -> None:
    assert latest_phases_start_s(panels_for(checkpointing(phases=10).batch)) is None
    many = panels_for(checkpointing(phases=40).batch)
    since = latest_phases_start_s(many)
    assert since is not None
    assert int((many.phases.start_s >= since).sum()) == 10


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "file_format"),
    [
        (one_write, "png"),
        (nothing_counted, "svg"),
        (random_writes, "svg"),
        (lambda: checkpointing(phases=3).batch, "png"),
    ],
)
def test_any_trace_can_be_drawn(make, file_format: Literal["png", "svg"]) -> None:  # type: ignore[no-untyped-def]
    content = draw_picture(panels_for(make()), "title with $x^2", file_format)
    if file_format == "svg":
        assert ET.fromstring(content).tag == "{http://www.w3.org/2000/svg}svg"
    else:
        assert content[:8] == b"\x89PNG\r\n\x1a\n"
        width, height = struct.unpack(">II", content[16:24])
        assert width == 1210
        assert 300 < height < 2600


@pytest.mark.slow
def test_picture_of_many_phases_stays_small() -> None:
    panels = panels_for(checkpointing(phases=1500, jitter=0.03, period_s=1.0).batch)
    assert len(panels.phases) > 1400
    assert len(draw_picture(panels, "many", "svg")) < 1_500_000
    assert len(render_detection(report_for(panels), panels)) < 5_000_000


@pytest.mark.slow
def test_page_needs_no_network_and_shows_every_panel() -> None:
    panels = panels_for(checkpointing(phases=12, jitter=0.02).batch)
    text = render_detection(report_for(panels), panels)
    page = Page(text)
    assert page.links == []
    assert "link" not in page.tags
    assert "iframe" not in page.tags
    assert page.policy.startswith("default-src 'none'")
    assert len(text) < 5_000_000
    told = " | ".join(page.headings)
    for words in ("Bandwidth", "Spectrum", "Autocorrelation", "Waves over time", "windows", "as they came", "truth"):
        assert words in told


@pytest.mark.slow
@pytest.mark.parametrize("make", [one_write, nothing_counted, random_writes])
def test_page_of_a_trace_without_period_leaves_panels_out(make) -> None:  # type: ignore[no-untyped-def]
    panels = panels_for(make())
    text = render_detection(report_for(panels), panels)
    assert "no period" in text
    assert "Prediction against truth" not in Page(text).headings


@pytest.mark.slow
def test_page_and_title_tell_periods_that_have_ended_and_no_empty_interval() -> None:
    at = np.append(5.0 * np.arange(20), 300.0)
    batch = make_batch(
        21,
        {"start": (at * 1e9).astype(np.int64), "duration": 10**8, "bytes": 10**6, "kind": int(Kind.WRITE)},
    )
    panels = panels_for(batch)
    assert "a period of 5 s, 20 phases" in render_detection(report_for(panels), panels)
    title = picture_title(report_for(panels_for(batch.select(slice(0, 20)))))
    assert "period 5 s  confidence" in title


@pytest.mark.slow
def test_page_escapes_what_programs_name() -> None:
    panels = panels_for(checkpointing(phases=4).batch, job="</script><script>alert(1)</script>")
    text = render_detection(report_for(panels), panels)
    assert "alert(1)</script>" not in text
    assert "<b>trace</b>" not in text
    assert "&lt;b&gt;trace" in text


@pytest.mark.slow
def test_title_is_one_short_line_of_letters() -> None:
    panels = panels_for(checkpointing(phases=6).batch, job="two\nlines \udcff" + "x" * 500)
    title = picture_title(report_for(panels))
    assert "\n" not in title
    assert "\udcff" not in title
    assert "period 2 s" in title
    assert len(title) < 200
    assert draw_picture(panels, picture_title(report_for(panels_for(one_write(), job="名前"))), "png")


def test_replay_is_summed_up_in_words() -> None:
    panels = panels_for(checkpointing(phases=12).batch)
    assert panels.replay is not None
    words = "; ".join(replay_sentences(panels.replay))
    assert "of 12" in words
    assert "% of the period in the median" in words
    assert "100%" in words
    none = panels_for(nothing_counted()).replay
    assert none is not None
    assert "no period to compare with" in "; ".join(replay_sentences(none))
