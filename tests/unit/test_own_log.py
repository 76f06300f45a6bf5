"""Foundations of tests with real programs: even runs, and programs that end with a failing test."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.jobs.own_log import assert_period, even_run
from support.system.commands import Program
from support.tracing.mpi import dropped

EVEN = [0.0, 1.0, 2.01, 3.0]
UNEVEN = [0.0, 1.0, 4.0, 5.0]


def test_a_run_whose_log_is_uneven_is_made_again(tmp_path: Path) -> None:
    logs = [UNEVEN, EVEN]
    folder, starts = even_run(lambda inside: inside, lambda _: logs.pop(0), tmp_path, 0.02)
    assert starts == EVEN
    assert folder.is_dir()


@pytest.mark.parametrize(("last", "even"), [(4.9, True), (5.1, False)])
def test_a_log_is_even_within_five_times_the_tolerance(tmp_path: Path, last: float, even: bool) -> None:
    starts = [0.0, 4.0, 4.0 + last]  # a tolerance of 5 %: up to a quarter longer
    if even:
        assert even_run(lambda inside: inside, lambda _: starts, tmp_path, 0.05)[1] == starts
    else:
        with pytest.raises(pytest.skip.Exception):
            even_run(lambda inside: inside, lambda _: starts, tmp_path, 0.05)


def test_a_machine_that_stands_still_in_each_run_fails_no_test(tmp_path: Path) -> None:
    with pytest.raises(pytest.skip.Exception, match="stalled in each of 2 runs"):
        even_run(lambda inside: inside, lambda _: UNEVEN, tmp_path, 0.02)


def test_a_run_that_fails_is_not_made_again(tmp_path: Path) -> None:
    def run(inside: Path) -> Path:
        raise AssertionError(f"in {inside.name}")

    with pytest.raises(AssertionError, match="in run0"):
        even_run(run, lambda _: EVEN, tmp_path, 0.02)


@pytest.mark.parametrize("period_s", [None, 0.5, 2.0, 3.0, 0.9, 1.1])
def test_a_wrong_period_fails(period_s: float | None) -> None:
    assert_period(1.0, EVEN, 0.02)
    with pytest.raises(AssertionError):
        assert_period(period_s, EVEN, 0.02)


@pytest.mark.parametrize("period_s", [3.61, 4.0, 5.0, 5.49])
def test_a_period_among_the_distances_passes(period_s: float) -> None:
    assert_period(period_s, [0.0, 4.0, 9.0], 0.1)


@pytest.mark.parametrize("period_s", [3.59, 5.51])
def test_a_period_beside_the_distances_fails(period_s: float) -> None:
    with pytest.raises(AssertionError):
        assert_period(period_s, [0.0, 4.0, 9.0], 0.1)


def test_a_program_ends_with_the_test_that_fails() -> None:
    with (
        pytest.raises(ZeroDivisionError),
        Program([sys.executable, "-c", "import time; time.sleep(3600)"], stdout=subprocess.DEVNULL) as running,
    ):
        raise ZeroDivisionError
    assert running.returncode == -9


@pytest.mark.parametrize(
    ("counters", "left"),
    [
        ({"events_dropped:reentrant": 1, "bytes_dropped:reentrant": 1, "events": 7}, {}),
        ({"events_dropped:reentrant": 0}, {}),
        ({"events_dropped:reentrant": 1, "bytes_dropped:reentrant": 400}, "all"),
        ({"events_dropped:reentrant": 100, "bytes_dropped:reentrant": 100}, "all"),
        ({"events_dropped:ring_full": 1}, "all"),
    ],
)
def test_only_what_a_launcher_writes_to_wake_itself_may_be_dropped(
    counters: dict[str, int], left: dict[str, int] | str
) -> None:
    assert dropped(counters) == (counters if left == "all" else left)
