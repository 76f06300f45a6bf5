"""Unsent events of a lost collector, from the report of the next collector."""

from __future__ import annotations

import pytest
from iotide.daemon.jobs.losses.job_losses import Handovers
from iotide.events import StreamInfo

OLD, NEW = "c1.1:preload:7:00aa", "c2.1:preload:7:00bb"
FIRST = StreamInfo(job="j", source="preload")
NEXT = StreamInfo(job="j", source="preload", follows="00aa", taken_before=100)
CUT = {"streams_cut_off": 1}


def begun(arrived: int = 90) -> Handovers:
    made = Handovers()
    assert made.open_stream(OLD, FIRST) == 0
    made.add_received(OLD, arrived)
    return made


def test_missing_events_are_known_when_the_earlier_stream_is_cut_off() -> None:
    made = begun()
    assert made.open_stream(NEW, NEXT) == 0
    assert made.close_stream(OLD, CUT) == 10
    assert made.close_stream(NEW, {}) == 0


def test_missing_events_are_known_when_the_next_stream_comes_later() -> None:
    made = begun()
    assert made.close_stream(OLD, CUT) == 0
    assert made.open_stream(NEW, NEXT) == 10


def test_collector_that_was_only_paused_sends_the_rest() -> None:
    made = begun()
    assert made.open_stream(NEW, NEXT) == 0
    made.add_received(OLD, 10)
    assert made.close_stream(OLD, {}) == 0


def test_stream_that_comes_back_goes_on_from_what_arrived() -> None:
    made = begun()
    assert made.close_stream(OLD, CUT) == 0
    assert made.open_stream(OLD, FIRST) == 0
    made.add_received(OLD, 10)
    assert made.open_stream(NEW, NEXT) == 0
    assert made.close_stream(OLD, {}) == 0


@pytest.mark.parametrize("reason", ["shipper_full", "rejected", "malformed", "closed"])
def test_reported_losses_are_not_reported_again(reason: str) -> None:
    made = begun()
    made.open_stream(NEW, NEXT)
    assert made.close_stream(OLD, CUT | {f"events_dropped:{reason}": 4}) == 6


def test_job_that_ends_awaits_no_more() -> None:
    made = begun()
    made.open_stream(NEW, NEXT)
    assert (made.lost_at_end(), made.lost_at_end(), made.close_stream(OLD, CUT)) == (10, 0, 0)


def test_stream_that_follows_one_of_another_job_loses_nothing() -> None:
    made = Handovers()
    assert made.open_stream(NEW, NEXT) == 0
    assert made.close_stream(NEW, {}) == 0
    assert made.lost_at_end() == 0
