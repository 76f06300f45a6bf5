"""The lines of ``iotide top``: within the terminal's width, in columns, without control characters."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.clients.terminal import top_text
from iotide.clients.terminal.top_text import ORDERS, detail_lines, header_line, job_line, total_line
from iotide.clients.text.printable import width_of
from iotide.results.jobs.fleet import Fleet, FleetJob
from support.jobs.result_factories import make_detail, make_prediction

NOW_S = 1_700_000_000.0


def job(name: str = "sim", **values: object) -> FleetJob:
    given = {"state": "running", "nodes": 1, "ranks": 1, "bandwidth": 1.5e9, "bytes_read": 0, "bytes_written": 10**12}
    return FleetJob.model_validate({"job": name, "last_event_at_s": None} | given | values)


def test_examples_in_docstrings_hold() -> None:
    failed, attempted = doctest.testmod(top_text)
    assert attempted
    assert not failed


@given(st.text(max_size=60), st.text(max_size=20), st.integers(80, 300))
def test_lines_fit_and_are_printable_whatever_jobs_are_called(name: str, user: str, width: int) -> None:
    one = job(name, user=user, period_s=12.34, next_start_s=NOW_S + 7261, recent=[1.0, 2.0])
    for line in (job_line(one, NOW_S, width), header_line(width, "next")):
        assert line.isprintable()
        assert width_of(line) <= width
    detail = make_detail().model_copy(update={"job": name, "command": user, "losses": {name: 1}})
    assert all(line.isprintable() for line in detail_lines(detail, make_prediction("x"), width))


@given(st.text(max_size=60), st.text(max_size=20), st.sampled_from([80, 99, 120]))
def test_cells_stand_in_the_same_columns_whatever_jobs_are_called(name: str, user: str, width: int) -> None:
    plain, line = job_line(job(), NOW_S, width), job_line(job(name, user=user), NOW_S, width)
    cells = plain[plain.index("running") :]
    assert line.endswith(cells)
    assert width_of(line) == width_of(plain) == width


@pytest.mark.parametrize("width", [50, 80])
def test_path_is_cut_at_its_beginning_to_the_width(width: int) -> None:
    for path in ("/scratch/" + "日本語/" * 40 + "out", "/scratch/" + "a" * 90, "/e" + "e\u0301" * 60):
        detail = make_detail()
        files = [detail.files[0].model_copy(update={"path": path})]
        line = list(detail_lines(detail.model_copy(update={"files": files}), None, width))[-1]
        assert width_of(line) <= width
        assert line.endswith(path[-2:])


@pytest.mark.parametrize("width", [80, 100, 200])
def test_cells_stand_below_their_heads(width: int) -> None:
    one = job("lammps-4711", user="ann", period_s=5.0, next_start_s=NOW_S + 3)
    head, line = header_line(width, "bandwidth"), job_line(one, NOW_S, width)
    for name, cell in (("user", "ann"), ("state", "running")):
        assert head.index(name) == line.index(cell)
    for name, cell in (("BANDWIDTH", "1.5 GB/s"), ("period", "5 s"), ("next", " 3 s"), ("written", "1.0 TB")):
        assert head.index(name) + len(name) == line.index(cell) + len(cell)


def test_problems_of_a_job_are_marked() -> None:
    assert "running!" in job_line(job(complete=False), NOW_S, 80)
    assert "running!" in job_line(job(alerts=1), NOW_S, 80)
    assert "!" not in job_line(job(), NOW_S, 80)


@pytest.mark.parametrize(("next_s", "told"), [(NOW_S + 0.5, "now"), (NOW_S + 90, "90 s"), (NOW_S - 30, "late")])
def test_next_phase_is_counted_down(next_s: float, told: str) -> None:
    assert told in job_line(job(next_start_s=next_s), NOW_S, 80)


def test_sum_and_detail_tell_what_there_is() -> None:
    fleet = Fleet(
        made_at_s=NOW_S, total=2, matching=2, begin=0, states={"running": 2}, bandwidth=3e9, alerts=1,
        recent_bin_s=4.0, jobs=[],
    )  # fmt: skip
    assert total_line(fleet) == "2 jobs: 2 running; 3.0 GB/s; 1 alert"
    text = "\n".join(detail_lines(make_detail(), make_prediction("job"), 80))
    for told in ("1,234 calls", "written 80.0 MB", "period 10 s", "next phase at", "/scratch/out"):
        assert told in text


def test_every_order_is_one_of_the_aggregators() -> None:
    for order in ORDERS:
        assert isinstance(header_line(80, order), str)
