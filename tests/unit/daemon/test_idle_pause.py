"""Ticks of an embedded aggregator are rarer while no input arrives, and soon after input."""

from __future__ import annotations

import asyncio
import math
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, cast

import pytest
from iotide.daemon.jobs.lifecycle.prediction_step import JobSchedule
from iotide.daemon.loop_timing import IdlePause

TICK_S = 0.25
IDLE_S = 1.0


class SkippingSelector(selectors.SelectSelector):
    """A selector that advances the loop's clock instead of waiting."""

    now_s = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self.now_s += max(timeout or 0.0, 0.0)
        return super().select(0)


def run(work: Callable[[IdlePause, Callable[[], float]], Coroutine[None, None, None]]) -> None:
    """Run work with a pause and a clock that nothing has to wait for."""
    selector = SkippingSelector()
    loop = asyncio.SelectorEventLoop(selector)
    loop.time = lambda: selector.now_s  # type: ignore[method-assign]
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        runner.run(work(IdlePause(), loop.time))


async def length(pause: IdlePause, clock: Callable[[], float], due_in_s: float = math.inf) -> float:
    before = clock()
    await pause.wait(TICK_S, due_in_s)
    return clock() - before


async def become_idle(pause: IdlePause, clock: Callable[[], float]) -> list[float]:
    """Pause without input until pauses are long; return their lengths."""
    pauses = [await length(pause, clock)]
    while pauses[-1] < IDLE_S - TICK_S and len(pauses) < 100:
        pauses.append(await length(pause, clock))
    return pauses


def test_pauses_are_longer_after_three_seconds_without_input() -> None:
    async def work(pause: IdlePause, clock: Callable[[], float]) -> None:
        *short, long = await become_idle(pause, clock)
        assert short == pytest.approx([TICK_S] * 12)
        assert long == pytest.approx(IDLE_S)

    run(work)


def test_pauses_are_short_again_after_input() -> None:
    async def work(pause: IdlePause, clock: Callable[[], float]) -> None:
        await become_idle(pause, clock)
        pause.wake()
        assert await length(pause, clock) == pytest.approx(TICK_S)
        assert await length(pause, clock) == pytest.approx(TICK_S)

    run(work)


def test_input_ends_a_long_pause() -> None:
    async def work(pause: IdlePause, clock: Callable[[], float]) -> None:
        await become_idle(pause, clock)
        asyncio.get_running_loop().call_later(IDLE_S / 2, pause.wake)
        assert await length(pause, clock) == pytest.approx(IDLE_S / 2 + TICK_S / 2)
        assert await length(pause, clock) == pytest.approx(TICK_S)

    run(work)


def test_only_blocking_counts_as_late() -> None:
    async def work(pause: IdlePause, clock: Callable[[], float]) -> None:
        def block() -> None:
            cast(Any, asyncio.get_running_loop())._selector.now_s += 2 * IDLE_S

        async def late_s() -> float:
            return await pause.wait(TICK_S, math.inf)

        assert await late_s() == pytest.approx(0.0)
        await become_idle(pause, clock)
        assert await late_s() == pytest.approx(0.0)
        asyncio.get_running_loop().call_later(IDLE_S / 2, block)
        assert await late_s() == pytest.approx(1.5 * IDLE_S)
        asyncio.get_running_loop().call_later(IDLE_S / 2, pause.wake)
        assert await late_s() == pytest.approx(0.0)

    run(work)


@pytest.mark.parametrize(("due_in_s", "expected_s"), [(0.6, 0.6), (-1.0, TICK_S), (0.1, TICK_S), (9.0, IDLE_S)])
def test_long_pause_ends_when_work_is_due(due_in_s: float, expected_s: float) -> None:
    async def work(pause: IdlePause, clock: Callable[[], float]) -> None:
        await become_idle(pause, clock)
        assert await length(pause, clock, due_in_s) == pytest.approx(expected_s)

    run(work)


def test_schedule_has_the_time_of_its_first_entry() -> None:
    schedule = JobSchedule()
    assert schedule.first_s == math.inf
    for name, at_s in (("late", 7.0), ("early", 5.0)):
        schedule.schedule(name, at_s)
    assert schedule.first_s == 5.0
    schedule.drop("early")
    assert schedule.first_s == 7.0
