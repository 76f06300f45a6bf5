"""Log lines are bounded for frequent events, and suppressed lines are counted."""

from __future__ import annotations

import io
import logging

import pytest
from iotide.cli.common.console.logs import LimitedHandler


class Bench:
    def __init__(self) -> None:
        self.now = 5.0
        self.out = io.StringIO()
        self.handler = LimitedHandler(self.out, lambda: self.now)
        self.log = logging.Logger("test")
        self.log.addHandler(self.handler)

    @property
    def lines(self) -> list[str]:
        return self.out.getvalue().splitlines()


@pytest.mark.slow
def test_place_that_logs_without_end_has_a_bounded_number_of_lines_a_minute() -> None:
    bench = Bench()
    for minute in range(3):
        for number in range(10_000):
            bench.log.warning("peer %d said nonsense", number)
        bench.now += 61
        assert len(bench.lines) <= 21 * (minute + 1)
    bench.handler.close()
    assert bench.lines[-1] == "9980 further lines like an earlier one were left out"
    assert sum("further lines" in line for line in bench.lines) == 3


def test_rare_lines_of_another_place_are_there() -> None:
    bench = Bench()
    for _ in range(1000):
        bench.log.warning("often")
    bench.log.error("once")
    assert "once" in bench.lines


def test_lines_that_inform_have_more_room() -> None:
    bench = Bench()
    bench.log.setLevel(logging.INFO)
    for number in range(5000):
        bench.log.info("job %d: running", number)
    assert len(bench.lines) == 1000


def test_places_and_lengths_are_bounded() -> None:
    bench = Bench()
    for number in range(5000):
        record = logging.LogRecord("x", logging.ERROR, f"made up {number}.py", number, "x" * 10**5, None, None)
        bench.handler.handle(record)
    assert len(bench.lines) <= 200 + 20
    assert max(map(len, bench.lines)) < 4100
