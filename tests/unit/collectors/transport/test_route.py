"""Choice of the aggregator: a collector finds one that responds in a bounded time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from iotide.collectors.transport.aggregator_selection import Route

A, B, C = "tcp://a:1", "tcp://b:1", "tcp://c:1"


def test_only_one_is_stayed_with() -> None:
    route = Route([A], 5.0, 0.0)
    assert not route.moves_on(None, 1e6)
    assert route.endpoint == A


def test_where_no_connection_is_made_the_next_one_is_tried_and_at_last_the_first_again() -> None:
    route = Route([A, B, C], 5.0, 0.0)
    assert not route.moves_on(None, 0.4)
    seen = []
    for now in (0.5, 1.0, 1.5):
        assert route.moves_on(None, now)
        seen.append(route.endpoint)
    assert seen == [B, C, A]


def test_more_patience_is_had_in_each_round_until_one_answers() -> None:
    """If all collectors of a cluster connect at once, connections take longer."""
    route, tries, now = Route([A, B], 5.0, 0.0), [], 0.0
    while now < 60.0:
        before = now
        while not route.moves_on(None, now):
            now += 0.125
        tries.append(now - before)
    assert tries[:8] == [0.5, 0.5, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0]
    assert tries[-1] == 5.0
    route.connection(is_made=True, now_s=now)
    assert not route.moves_on(now + 1.0, now + 1.0)
    route.connection(is_made=False, now_s=now + 2.0)
    assert route.moves_on(now + 1.0, now + 2.5)


def test_endpoints_that_refuse_are_tried_at_short_intervals_until_the_outage_is_long() -> None:
    """An aggregator that takes over refuses connections until it listens."""
    route, tries, now = Route([A, B], 5.0, 0.0), [], 0.0
    while now < 60.0:
        before = now
        route.refused()
        while not route.moves_on(None, now):
            now += 0.125
        tries.append(now - before)
    assert tries[:60] == [0.5] * 60  # 30 s
    assert tries[-1] > 2.0


def test_an_endpoint_that_does_not_answer_gets_more_time_also_if_another_one_refuses() -> None:
    route, tries, now = Route([A, B], 5.0, 0.0), [], 0.0
    while len(tries) < 4:
        before, at = now, route.endpoint
        if at == A:
            route.refused()
        while not route.moves_on(None, now):
            now += 0.125
        tries.append((at, now - before))
    assert tries == [(A, 0.5), (B, 0.5), (A, 0.5), (B, 1.0)]


def test_connection_that_breaks_is_left_soon_and_one_that_is_silent_later() -> None:
    route = Route([A, B], 5.0, 0.0)
    route.connection(is_made=True, now_s=0.1)
    assert not route.moves_on(2.0, 6.9)
    assert route.moves_on(2.0, 7.0)  # a stopped process keeps its connection
    route.connection(is_made=True, now_s=7.1)
    assert not route.moves_on(7.5, 7.9)
    route.connection(is_made=False, now_s=8.0)
    assert not route.moves_on(7.9, 8.4)
    assert route.moves_on(7.9, 8.5)
    assert route.endpoint == A


def test_late_news_of_an_earlier_connection_does_not_end_one_that_answers() -> None:
    route = Route([A, B], 5.0, 0.0)
    assert route.moves_on(None, 1.0)
    route.connection(is_made=True, now_s=1.1)
    route.connection(is_made=False, now_s=1.2)  # of the first
    assert not route.moves_on(1.5, 6.0)


def test_the_next_aggregator_is_found_soon_though_the_stopped_one_accepts_connections() -> None:
    """One aggregator was killed and refuses, the next one was stopped, and the third takes over after 10 s."""
    route, now = Route([A, B, C], 5.0, 0.0), 0.0
    while route.endpoint != B:
        route.refused()
        now += 0.125
        route.moves_on(None, now)
    route.connection(is_made=True, now_s=now)
    stopped = now
    while now < stopped + 10.0 or route.endpoint != C:
        if route.endpoint != B:
            route.refused()
        now += 0.125
        route.moves_on(stopped, now)
    assert now < stopped + 13.5


@given(st.integers(2, 5), st.data())
def test_one_that_answers_is_found_within_a_round_and_kept(count: int, data: st.DataObject) -> None:
    """The others refuse connections, or accept them and send nothing."""
    endpoints = [f"tcp://{number}:1" for number in range(count)]
    well = data.draw(st.sampled_from(endpoints))
    silent = data.draw(st.sets(st.sampled_from(endpoints))) - {well}
    route, now, heard = Route(endpoints, 5.0, 0.0), 0.0, None
    found_at = None
    while now < 100.0:
        now += 0.25
        is_made = route.endpoint == well or route.endpoint in silent
        route.connection(is_made=is_made, now_s=now)
        if route.endpoint == well:
            found_at = now if found_at is None else found_at
            heard = now
        route.moves_on(heard, now)
    assert route.endpoint == well
    assert found_at is not None
    assert found_at <= 5.5 * count
