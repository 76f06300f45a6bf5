"""Time windows on the command line."""

from __future__ import annotations

from datetime import UTC, datetime

import click
import pytest
from iotide.cli.common.arguments.parameter_types import Moment, moment_of

OPTION = click.Option(["--from"])
CONTEXT = click.Context(click.Command("detect"))


def parsed(text: str) -> Moment:
    moment = moment_of(CONTEXT, OPTION, text)
    assert moment is not None
    return moment


@pytest.mark.parametrize(
    ("text", "seconds", "absolute"),
    [
        ("0", 0.0, False),
        (" 12.5", 12.5, False),
        ("1e3", 1000.0, False),
        ("1731000000.25", 1731000000.25, True),
        ("2024-11-07T12:00:00Z", datetime(2024, 11, 7, 12, tzinfo=UTC).timestamp(), True),
        ("2024-11-07T13:00:00+01:00", datetime(2024, 11, 7, 12, tzinfo=UTC).timestamp(), True),
        ("2024-11-07 12:00", datetime(2024, 11, 7, 12).astimezone().timestamp(), True),
    ],
)
def test_moments_are_seconds_stamps_or_dates(text: str, seconds: float, absolute: bool) -> None:
    moment = parsed(text)
    assert moment.seconds == pytest.approx(seconds)
    assert moment.is_unix is absolute


@pytest.mark.parametrize("text", ["", "soon", "-5", "nan", "inf", "1e40", "2024-13-01", "0001-01-01"])
def test_other_text_is_refused_with_what_was_expected(text: str) -> None:
    with pytest.raises(click.BadParameter, match="expected seconds from the trace's start"):
        parsed(text)


def test_moment_is_placed_on_the_clock_of_the_trace() -> None:
    assert parsed("2.5").to_ns(10**18, True, "--from") == 10**18 + 2_500_000_000
    assert parsed("2.5").to_ns(7, False, "--from") == 2_500_000_007
    assert parsed("1731000000").to_ns(5, True, "--from") == 1731000000 * 10**9


def test_date_needs_a_trace_that_knows_its_own() -> None:
    with pytest.raises(click.UsageError, match="--to 2024-11-07: this trace does not say"):
        parsed("2024-11-07").to_ns(0, False, "--to")


def test_nothing_given_is_nothing() -> None:
    assert moment_of(CONTEXT, OPTION, None) is None
