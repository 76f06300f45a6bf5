"""The account of a job's events."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from iotide.daemon.jobs.losses.ledger import Ledger


def test_stream_that_ends_with_less_than_was_made_is_named() -> None:
    ledger = Ledger()
    ledger.open("s")
    ledger.received("s", 5, journalled=True)
    ledger.set_taken("s", 9, ended=True)
    ledger.close("s", {"events_dropped:shipper_full": 1, "events_dropped:ring_full": 70})
    assert ledger.missing == {"s": 3}
    assert ledger.unaccounted == 3
    assert (ledger.ended.made, ledger.ended.received, ledger.ended.dropped) == (9, 5, 1)


def test_stream_that_is_cut_off_may_come_back_and_go_on() -> None:
    ledger = Ledger()
    ledger.open("s")
    ledger.received("s", 5, journalled=False)
    ledger.set_taken("s", 9, ended=False)
    ledger.close("s", {"streams_cut_off": 1})
    assert (ledger.cut_off, ledger.ended_streams, ledger.unaccounted) == (4, 1, 0)
    ledger.open("s")
    assert (ledger.cut_off, ledger.ended_streams, ledger.ended.made) == (0, 0, 0)
    ledger.received("s", 4, journalled=True)
    ledger.set_taken("s", 9, ended=True)
    ledger.close("s", {})
    assert (ledger.cut_off, ledger.unaccounted, ledger.ended.journalled) == (0, 0, 4)


def test_stream_of_a_collector_that_does_not_tell_is_taken_as_it_comes() -> None:
    ledger = Ledger()
    ledger.open("s")
    ledger.received("s", 5, journalled=False)
    ledger.close("s", {"events_dropped:rejected": 2})
    assert (ledger.ended.made, ledger.unaccounted, ledger.cut_off) == (7, 0, 0)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50), st.booleans(), st.booleans()), max_size=20))
def test_sums_are_those_of_the_streams(streams: list[tuple[int, int, bool, bool]]) -> None:
    ledger = Ledger()
    made = came = dropped = missing = cut = 0
    for number, (received, rest, drops, ends) in enumerate(streams):
        name = f"s{number}"
        ledger.open(name)
        ledger.received(name, received, journalled=True)
        ledger.set_taken(name, received + rest, ended=ends)
        ledger.close(name, {"events_dropped:shipper_full": rest} if drops else {})
        made, came, dropped = made + received + rest, came + received, dropped + (rest if drops else 0)
        missing += rest if ends and not drops else 0
        cut += rest if not ends and not drops else 0
    assert (ledger.ended.made, ledger.ended.received, ledger.ended.dropped) == (made, came, dropped)
    assert (ledger.unaccounted, ledger.cut_off) == (missing, cut)
    assert ledger.ended.in_transit == missing + cut
