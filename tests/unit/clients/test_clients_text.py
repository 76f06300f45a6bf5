"""Text output: numbers, lines, sparklines, the status area, the report."""

from __future__ import annotations

import contextlib
import doctest
import json
import os
import pty
import re
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.clients.drawing import charts, graphviz, svg_chart
from iotide.clients.report.report import write_report
from iotide.clients.terminal.status_area import StatusArea
from iotide.clients.text import headline, prediction_text, units
from iotide.clients.text.headline import drift_text, further_periods, members_text, pattern_text, shifts_text
from iotide.clients.text.prediction_text import prediction_line, prediction_lines, sparkline
from iotide.events import counted_text
from iotide.results.prediction import (
    Drift,
    Interruptions,
    OtherPeriod,
    Pattern,
    PatternOf,
    Prediction,
    Scores,
    Who,
    WorkShifts,
)
from support.jobs.result_factories import around, make_prediction, make_signal, make_summary
from support.system.waiting import wait_for


@pytest.mark.parametrize("module", [units, headline, prediction_text, counted_text, charts, graphviz, svg_chart])
def test_examples_in_docstrings_hold(module: object) -> None:
    failed, attempted = doctest.testmod(module)  # type: ignore[arg-type]
    assert attempted
    assert not failed


@given(st.lists(st.floats(0, 1e12), max_size=300), st.integers(1, 80))
def test_sparkline_never_exceeds_its_width(values: list[float], width: int) -> None:
    assert len(sparkline(values, width)) <= width


def test_line_names_period_confidence_and_next_phase() -> None:
    line = prediction_line(make_prediction("heat", period_s=12.5, made_at_s=1000.0, confidence=0.91))
    assert re.search(r"heat  period 12\.5 s .*confidence 91%  next phase in .* 8\.0 MB in 2 s", line)


@pytest.mark.parametrize(
    ("per_phase", "told"), [(0.00031, "0.031% longer"), (-0.00052, "0.052% shorter"), (0.0304, "3% longer")]
)
def test_slow_drift_keeps_its_digits(per_phase: float, told: str) -> None:
    """A drift of 0.05 % of the period is found."""
    text = drift_text(Drift(period_s=around(10.2, 0.1), per_phase=per_phase))
    assert text.startswith(f"{told} each time, now 10.2 s")


def shifts(*, resting: bool = False) -> WorkShifts:
    return WorkShifts(
        phases=8, rest_s=around(95.0, 8.0), seen=5, probability=0.99, resting=resting, next_start_s=around(400.0, 8.0)
    )


def test_shifts_are_part_of_the_line() -> None:
    told = "in shifts of 8 phases with rests of 95 s between them, 5 seen"
    assert shifts_text(shifts()) == told
    assert shifts_text(shifts(resting=True)) == f"{told}, resting now"
    assert f", {told})" in prediction_line(make_prediction("heat").model_copy(update={"shifts": shifts()}))


@pytest.mark.parametrize(
    ("missing", "pauses", "told"),
    [
        (2, 0, "2 of the last 20 phases missing"),
        (0, 1, "a pause of 63 s"),
        (1, 3, "1 of the last 19 phases missing and 3 pauses of up to 63 s"),
    ],
)
def test_missing_phases_and_pauses_are_part_of_the_line(missing: int, pauses: int, told: str) -> None:
    found = Interruptions(phases=18, missing=missing, pauses=pauses, longest_pause_s=63.0 if pauses else 0.0)
    line = prediction_line(make_prediction("heat").model_copy(update={"interruptions": found}))
    assert f", {told})" in line


@pytest.mark.parametrize(
    ("of", "values", "told"),
    [
        ("volumes", [4e6, 4e6, 16e6, 4e6], "each 4th phase moves 16 MB, the others 4 MB"),
        ("volumes", [4e6, 16e6], "every other phase moves 16 MB, the others 4 MB"),
        ("volumes", [9e6, 1e6, 9.3e6], "each 3rd phase moves 1 MB, the others 9.2 MB"),
        ("volumes", [8e6, 4e6, 4e6, 16e6], "volumes repeat: 4 MB, 4 MB, 16 MB, 8 MB"),
        ("durations", [2.0, 0.5, 0.5], "each 3rd phase takes 2 s, the others 500 ms"),
        ("intervals", [10.0, 25.0, 10.0, 10.0], "each 4th interval lasts 25 s, the others 10 s"),
        ("intervals", [25.0, 10.0, 15.0], "intervals repeat: 10 s, 15 s, 25 s"),
        ("pauses", [10.0, 25.0, 10.0], "each 3rd pause lasts 25 s, the others 10 s"),
    ],
)
def test_pattern_names_the_different_place_or_all_in_order_of_time(
    of: PatternOf, values: list[float], told: str
) -> None:
    for first in range(len(values)):
        text = pattern_text(Pattern(of=of, values=values[first:] + values[:first]))
        assert re.sub(r"(\d)\.0\b", r"\1", text) == told


@given(st.lists(st.floats(1e-3, 1e15), min_size=2, max_size=12))
def test_any_pattern_is_one_clause(values: list[float]) -> None:
    for of in ("intervals", "pauses", "durations", "volumes"):
        text = pattern_text(Pattern.model_validate({"of": of, "values": values}))
        assert text.isprintable()
        assert ";" not in text


def test_larger_phases_are_told_once() -> None:
    """Both the pattern of volumes and the period around have them."""
    around_s = OtherPeriod(
        relation="around", period_s=around(40.0), confidence=0.8, start_s=50.0, end_s=100.0, phases=9
    )
    volumes = Pattern(of="volumes", values=[4e6, 4e6, 4e6, 16e6])
    durations = Pattern(of="durations", values=[1.0, 1.0, 1.0, 4.0])
    made = make_prediction("heat").model_copy(update={"others": [around_s], "patterns": [durations, volumes]})
    assert further_periods(made) == []
    assert prediction_line(made).count("each 4th phase") == 1
    other = around_s.model_copy(update={"period_s": around(120.0)})
    assert further_periods(made.model_copy(update={"others": [other]})) == [other]
    assert further_periods(made.model_copy(update={"others": [other], "shifts": shifts()})) == []


def test_line_reports_a_missing_period() -> None:
    assert "no period" in prediction_line(make_prediction("heat", period_s=None))


def beside(name: str) -> Prediction:
    """A prediction of a job in which a command has its own period."""
    main = make_prediction("heat")
    who = Who(kind="commands", members=[name], share=0.5)
    other = OtherPeriod(
        relation="beside",
        period_s=around(33.0),
        confidence=0.8,
        start_s=50.0,
        end_s=100.0,
        phases=9,
        who=who,
        next_phase=main.next_phase,
    )
    return main.model_copy(update={"others": [other]})


@pytest.mark.parametrize(
    ("burst_s", "told"),
    [(1.0, "15 % of the time at 26.2 MB/s"), (0.1, "at most 15 % of the time, at least 26.2 MB/s")],
)
def test_rate_in_phases_of_one_bin_is_a_bound(burst_s: float, told: str) -> None:
    scores = Scores(
        sigma_vol=0, sigma_time=0, time_ratio=0.15, bandwidth=26.2e6, bytes_per_phase=4e6, periodicity=1,
        burst_width_s=burst_s,
    )  # fmt: skip
    prediction = make_prediction().model_copy(update={"scores": scores})  # ten bins per second
    assert prediction_text.io_share_text(prediction) == told
    assert prediction_text.io_share_text(make_prediction()) == ""


def test_each_period_has_its_line() -> None:
    main, other = prediction_lines(beside("lmp -in a"))
    assert main == prediction_line(make_prediction("heat"))
    assert re.search(
        r"heat  beside: command lmp -in a every 33 s.*confidence 80%  next phase in .* 8\.0 MB in 2 s", other
    )


@given(st.text(min_size=1))
def test_names_that_programs_give_stay_on_their_line(name: str) -> None:
    assert members_text(Who(kind="commands", members=[name], share=1.0)).isprintable()
    assert all(line.isprintable() for line in prediction_lines(beside(name)))


def test_report_escapes_what_programs_name(tmp_path: Path) -> None:
    summary = make_summary(command=["sh", "-c", "<script>alert(1)</script>"])
    page = write_report(tmp_path / "out", summary, 3 * [make_prediction("job")], make_signal())
    text = page.read_text()
    assert "<script>" not in text
    assert "&lt;script&gt;" in text
    assert text.count("<svg xmlns") == 2
    assert json.loads((tmp_path / "out/summary.json").read_text())["exit_status"] == summary.exit_status
    assert (tmp_path / "out").stat().st_mode & 0o077 == 0


def test_report_of_a_run_without_period_or_history_is_written(tmp_path: Path) -> None:
    summary = make_summary(command=["true"], prediction=None)
    page = write_report(tmp_path / "out", summary, [], make_signal(values=[]))
    assert "no period" in page.read_text()


def test_report_is_written_without_matplotlib(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in {"matplotlib", *(name for name in sys.modules if name.startswith("matplotlib."))}:
        monkeypatch.setitem(sys.modules, name, None)
    page = write_report(tmp_path / "out", make_summary(command=["true"]), 3 * [make_prediction("job")], make_signal())
    assert page.read_text().count("<svg xmlns") == 2


def test_status_area_reserves_rows_and_gives_them_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    control, terminal = pty.openpty()
    os.set_blocking(control, False)
    import fcntl
    import struct
    import termios

    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    with os.fdopen(terminal, "w") as stream:
        assert StatusArea.fits(stream, 3)
        area = StatusArea(stream, 3)
        area.open()
        area.show(["one", "two"])
        area.close()
        written = ""

        def all_is_read() -> bool:
            nonlocal written
            with contextlib.suppress(BlockingIOError):
                written += os.read(control, 65536).decode()
            return "\x1b[r" in written and written.endswith("\x1b8")

        wait_for(all_is_read, what="the last write")
    os.close(control)
    assert "\x1b[1;21r" in written
    assert written.index("\x1b[22;1H\x1b[2Kone") < written.index("\x1b[23;1H\x1b[2Ktwo")
    assert written.index("two") < written.rindex("\x1b[r")


def test_status_area_does_not_fit_a_pipe(tmp_path: Path) -> None:
    with (tmp_path / "out").open("w") as stream:
        assert not StatusArea.fits(stream, 3)
