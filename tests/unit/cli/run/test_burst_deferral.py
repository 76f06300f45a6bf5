"""The backlog of a burst is postponed while the burst uses all cores, for a bounded time and space."""

from __future__ import annotations

import asyncio
import selectors
import socket
import sys
import threading
from collections import Counter
from typing import Any, cast

import pytest
from iotide.cli.common.lean_imports import lean_imports
from iotide.cli.run import run_start
from iotide.cli.run.burst_deferral import MIN_BURST_CALLS, BurstDeferral, thread_times
from iotide.cli.run.low_priority import LowPriority
from iotide.cli.run.run_feed import Feed
from iotide.collectors.settings import SpoolSettings
from iotide.collectors.source import SourceItem
from iotide.collectors.sources.preload.relay import RelayedSource
from iotide.daemon.ingest.ingest_settings import IngestStats
from iotide.daemon.ingest.sink import Sink
from support.system.waiting import wait_for

BOUNDS = SpoolSettings(memory_bytes=8 << 20, disk_bytes=0)
MOST = BOUNDS.memory_bytes // 64 // 2
BUSY, CALM = (1, 9), (9, 1)


class Machine:
    """CPU time and waiting time of a thread, and a clock."""

    def __init__(self, *turns: tuple[int, int]) -> None:
        self.had = self.waited = 0
        self.now_s = 5.0
        self.turns = list(turns)

    def times(self) -> tuple[int, int]:
        had, waited = self.turns.pop(0) if len(self.turns) > 1 else self.turns[0]
        self.had, self.waited = self.had + had, self.waited + waited
        return self.had, self.waited

    def clock(self) -> float:
        return self.now_s

    def holding_back(self, patience_s: float = 10.0) -> BurstDeferral:
        return BurstDeferral(BOUNDS, patience_s, self.times, self.clock)


@pytest.mark.parametrize(
    ("waiting", "turns", "told"),
    [
        pytest.param(MIN_BURST_CALLS + 1, [CALM, CALM, BUSY, BUSY], [False, True, True], id="a burst has all cores"),
        pytest.param(
            MIN_BURST_CALLS + 1,
            [BUSY, BUSY, CALM, CALM, CALM, CALM],
            [True, True, True, False, False],
            id="there is a core again",
        ),
        pytest.param(MIN_BURST_CALLS + 1, [BUSY, BUSY, CALM, CALM, BUSY, CALM], [True] * 5, id="for a moment only"),
        pytest.param(MIN_BURST_CALLS, [BUSY, BUSY, BUSY], [False, False], id="little waits"),
        pytest.param(MOST, [BUSY, BUSY, BUSY], [False, False], id="half of the room is taken"),
        pytest.param(MIN_BURST_CALLS + 1, [(0, 0)], [False, False], id="a system that does not tell"),
    ],
)
def test_work_is_held_back_while_there_is_no_core_for_it(
    waiting: int, turns: list[tuple[int, int]], told: list[bool]
) -> None:
    holding_back = Machine(*turns).holding_back()
    assert [holding_back.update(waiting) for _ in told] == told


def test_work_is_held_back_for_some_time_at_most_until_it_has_caught_up() -> None:
    machine = Machine(BUSY)
    holding_back = machine.holding_back(patience_s=10.0)
    told = []
    looks = ((1.0, 99), (2.0, MIN_BURST_CALLS), (3.0, 50_000), (12.9, 50_000), (13.1, 50_000), (99.0, 50_000))
    for machine.now_s, waiting in looks:
        told.append(holding_back.update(waiting))
    assert told == [False, False, True, True, False, False]
    assert (holding_back.update(MIN_BURST_CALLS), holding_back.update(50_000)) == (False, True)


def test_system_tells_how_long_this_thread_had_a_core() -> None:
    before, _ = thread_times()
    wait_for(lambda: thread_times()[0] > before, what="time on a core")


class Waiting:
    """A source with waiting calls; one poll returns all of them."""

    def __init__(self, waiting: int) -> None:
        self.waiting_calls = waiting
        self.finished = self.has_pending_metadata = False
        self.counters: Counter[str] = Counter()
        self.listened = self.polled = 0
        self._news, self._told = socket.socketpair()
        self._told.send(b"news")

    def fileno(self) -> int:
        return self._news.fileno()

    def listen(self) -> None:
        self.listened += 1

    def poll(self) -> list[SourceItem]:
        self.polled += 1
        self.waiting_calls, self.finished = 0, True
        return []

    def close(self) -> None:
        self._news.close()
        self._told.close()


class Nobody:
    """A sink that receives only heartbeats."""

    def heartbeat(self, *_: object) -> None:
        """Store the heartbeat."""


def feed_of(source: Waiting, holding_back: BurstDeferral) -> Feed:
    return Feed(cast(Any, source), cast(Sink, Nobody()), IngestStats(), "host", holding_back)


def test_feed_leaves_a_burst_where_it_is_until_it_is_hurried() -> None:
    source = Waiting(MIN_BURST_CALLS + 1)

    async def observe() -> None:
        feed = feed_of(source, Machine(BUSY).holding_back())
        async with asyncio.timeout(60):
            running = asyncio.create_task(feed.run())
            while source.listened < 3:
                await asyncio.sleep(0)
            assert source.polled == 0
            feed.stop_buffering()
            await running

    asyncio.run(observe())
    source.close()
    assert source.polled == 1


class CountingSelector(selectors.DefaultSelector):
    """Count the calls."""

    asked = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.asked += 1
        return super().select(timeout)


def test_feed_sleeps_while_it_leaves_news_where_they_are() -> None:
    source, selector = Waiting(MIN_BURST_CALLS + 1), CountingSelector()

    async def observe() -> None:
        feed = feed_of(source, Machine(BUSY).holding_back())
        listen = source.listen

        def hurry_in_the_end() -> None:
            listen()
            if source.listened == 5:
                feed.stop_buffering()

        source.listen = hurry_in_the_end  # type: ignore[method-assign]
        await feed.run()

    with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(selector)) as runner:
        runner.run(observe())
    source.close()
    assert source.polled == 1
    assert selector.asked < 100


def test_feed_takes_what_waits_where_there_is_a_core() -> None:
    source = Waiting(MIN_BURST_CALLS + 1)
    asyncio.run(feed_of(source, Machine(CALM).holding_back()).run())
    source.close()
    assert source.polled == 1


def test_imports_pause_before_each_module_and_no_longer_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    paused = []
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)
    before = list(sys.meta_path)
    with lean_imports(lambda: paused.append(None)):
        import colorsys  # noqa: F401
    assert len(paused) == 1
    assert sys.meta_path == before


def test_import_that_pauses_for_a_burst_goes_on_when_the_command_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[BurstDeferral] = []

    def holding_back(bounds: SpoolSettings, patience_s: float) -> BurstDeferral:
        made.append(Machine(BUSY).holding_back(patience_s))
        return made[0]

    monkeypatch.setattr(run_start, "BurstDeferral", holding_back)
    monkeypatch.setattr(run_start, "_POLL_S", 0.0)
    source, low_priority = Waiting(MIN_BURST_CALLS + 1), LowPriority()
    pause = run_start._burst_wait(BOUNDS, cast(RelayedSource, source), low_priority)
    thread = threading.Thread(target=pause)
    thread.start()
    wait_for(lambda: made[0].is_deferred and source.listened > 1, what="a pause")
    assert thread.is_alive()
    low_priority.command_ended()
    thread.join(60)
    assert not thread.is_alive()
    source.close()
