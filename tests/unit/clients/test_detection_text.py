"""Text output for a finished trace."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np
import pytest
from iotide.analyzers.offline.wavelet import wavelet_view
from iotide.clients.detection.text import power_map, print_detection, validity_text
from iotide.results.base import Estimate
from iotide.results.prediction import Prediction, Scores
from iotide.results.traces.analysis import (
    Analysis,
    AutocorrelationAnswer,
    DetectionReport,
    Group,
    Grouping,
    Reconstruction,
    Stretch,
    Validity,
    Wave,
)
from support.jobs.result_factories import make_prediction


def shown(
    analysis: Analysis, prediction: Prediction | None = None, files: Sequence[str] = ("[odd] name.jsonl",)
) -> str:
    report = DetectionReport(
        files=list(files),
        source="jsonl",
        events=12,
        bytes_read=0,
        bytes_written=3_000_000,
        start_s=50.0,
        end_s=100.0,
        prediction=prediction or make_prediction(),
        analysis=analysis,
        problems=[],
        problems_total=0,
    )
    out = io.StringIO()
    print_detection(report, out)
    return out.getvalue()


def validity(*spans: tuple[float, float]) -> Validity:
    return Validity(period_s=1.0, stretches=[Stretch(start_s=a, end_s=b) for a, b in spans], share=0.5)


def group(name: str, prediction: Prediction | None) -> Group:
    note = "" if prediction else "too small: 2 of at least 4 requests"
    return Group(name=name, requests=2, bytes_read=10, bytes_written=2_000_000, prediction=prediction, note=note)


def test_names_can_neither_steer_the_terminal_nor_break_its_encoding() -> None:
    groups = [group("\x1b]0;title\x07", None)]
    text = shown(Analysis(grouping=Grouping(by="file", groups=groups)), files=["a\x1b[31m\udcff.jsonl"])
    assert "a?[31m?.jsonl" in text
    assert "?]0;title?" in text


def test_times_count_from_the_start_of_the_trace() -> None:
    text = shown(Analysis(validity=validity((62.0, 98.3))))
    assert "0.0-50.0 s, 500 samples" in text
    assert "12.0-48.3 s  (50% of the window)" in text
    assert "[odd] name.jsonl" in text


def test_stretches_have_the_digits_that_they_need_and_a_bound() -> None:
    assert validity_text(validity((0.0, 0.5)), 0.0) == "0.000-0.500 s  (50% of the window)"
    many = validity(*((10.0 * k, 10.0 * k + 5) for k in range(7)))
    assert validity_text(many, 0.0) == "0.0-5.0, 10.0-15.0, 20.0-25.0, 30.0-35.0 s and 3 more  (50% of the window)"
    assert validity_text(validity(), 0.0) == "nowhere clearly"


def test_bursts_are_told_with_the_scores() -> None:
    scores = Scores(
        sigma_vol=0.1,
        sigma_time=0.05,
        time_ratio=0.2,
        bandwidth=1e6,
        bytes_per_phase=2e6,
        periodicity=0.85,
        burst_width_s=1.5,
        duty_cycle=0.15,
    )
    text = shown(Analysis(), make_prediction().model_copy(update={"scores": scores, "abstraction_error": 0.0123}))
    assert "1.5 s wide, duty cycle 15%" in text
    assert "misses 1.23% of the volume" in text


@pytest.mark.parametrize(
    ("period_s", "merged", "expected"),
    [
        (2.0, False, "2 s, confidence 90.0%, from 3 peaks, 1 outlying\n"),
        (2.0, True, "1 outlying; merged above"),
        (None, False, "no period from 3 peaks"),
    ],
)
def test_autocorrelation_is_told_in_a_line(period_s: float | None, merged: bool, expected: str) -> None:
    answer = AutocorrelationAnswer(
        period_s=period_s, confidence=0.9, peaks_s=[2, 4, 6], intervals_s=[2, 2], outliers_s=[9], merged=merged
    )
    lines = [f"{line.rstrip()}\n" for line in shown(Analysis(autocorrelation=answer)).splitlines()]
    assert expected in "".join(lines)


def test_modes_stand_side_by_side() -> None:
    modes = [
        make_prediction(period_s=period).model_copy(update={"mode": mode})
        for period, mode in ((None, "read"), (7.5, "write"), (10.0, "both"))
    ]
    text = shown(Analysis(modes=modes))
    assert ["read", "no", "period"] in [line.split() for line in text.splitlines()]
    assert any(line.split()[:3] == ["write", "7.5", "s"] for line in text.splitlines())


def test_groups_name_the_end_of_long_paths_and_those_that_are_too_small() -> None:
    groups = [group("/scratch/" + "deep/" * 30 + "out.h5", make_prediction()), group("[/tmp]", None)]
    text = shown(Analysis(grouping=Grouping(by="file", groups=groups, left_out=4, bytes_left_out=5_000)))
    first = next(line for line in text.splitlines() if "out.h5" in line)
    assert "..." in first
    assert len(first.rstrip()) <= 110
    assert any(line.endswith("[/tmp]") and "too few" in line for line in map(str.rstrip, text.splitlines()))
    assert "4 more with 5.0 kB" in text


def test_waves_come_with_what_they_leave() -> None:
    wave = Wave(frequency_hz=0.5, period_s=2.0, amplitude=3e6, phase_rad=-0.25, share=0.9)
    text = shown(Analysis(reconstruction=Reconstruction(start_s=50, mean=7e6, waves=[wave], relative_residual=0.316)))
    assert "7.0 MB/s" in text
    assert "31.6%" in text
    assert "-0.250 rad" in text


def test_map_is_darkest_where_the_period_is_and_marks_it() -> None:
    at = np.arange(2000)
    view = wavelet_view(1 + np.cos(2 * np.pi * at / 20), 0.1, 50.0)
    assert view is not None
    lines = list(power_map(view, 50.0, 2.0))
    (marked,) = [line for line in lines if "<- period" in line]
    assert marked.count("@") > 40
    assert sum(line.count("@") for line in lines) == marked.count("@")
    assert lines[-1].split() == ["0.2", "s", "199.8", "s"]
    assert "no period" in shown(Analysis(wavelet=view), make_prediction(period_s=None))


def test_period_outside_of_the_map_is_not_marked() -> None:
    view = wavelet_view(1 + np.cos(np.arange(200)), 0.1, 50.0)
    assert view is not None
    assert not any("<- period" in line for line in power_map(view, 50.0, 1000.0))


def test_trace_without_bytes_in_the_mode_is_reported() -> None:
    none = make_prediction(period_s=None).model_copy(update={"mode": "read", "dominant": []})
    text = shown(Analysis(), none)
    assert "no period" in text
    assert "nothing that counts was read, so there is no signal to look at" in text
    assert "so there is no signal" not in shown(Analysis(), none.model_copy(update={"mode": "write"}))


def test_interval_has_digits_enough_to_differ_from_the_period() -> None:
    narrow = make_prediction().model_copy(update={"period_s": Estimate(value=20.0, low=19.9971, high=20.0029)})
    assert "20 s  (19.997 to 20.003)" in shown(Analysis(), narrow)
    wide = make_prediction().model_copy(update={"period_s": Estimate(value=20.0, low=0.0, high=40.0)})
    assert "20 s  (0 to 40)" in shown(Analysis(), wide)


def test_bins_that_begin_before_the_trace_give_no_negative_time() -> None:
    assert validity_text(validity((39.8, 98.0)), 50.0).startswith("0.0-48.0 s")


def test_long_lines_stay_whole_in_files() -> None:
    answer = AutocorrelationAnswer(
        period_s=3.7, confidence=1.0, peaks_s=[1.0, 2.0, 3.0], intervals_s=[1.0], outliers_s=[2.0], merged=True
    )
    assert "autocorrelation  3.7 s, confidence 100.0%, from 3 peaks, 1 outlying; merged above" in shown(
        Analysis(autocorrelation=answer)
    )
