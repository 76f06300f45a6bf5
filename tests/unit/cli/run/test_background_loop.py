"""Work beside a command yields, for a bounded time if it is behind, and resumes after the command has ended."""

from __future__ import annotations

import asyncio
import os
import threading

import pytest
from iotide.cli.run.background_loop import BacklogPressure, loop_in_thread
from iotide.cli.run.low_priority import NICE_INCREMENT, LowPriority
from support.system.waiting import wait_for


@pytest.mark.parametrize(
    ("told", "late"),
    [
        pytest.param([(0, 0), (100, 30)], True, id="behind for long"),
        pytest.param([(0, 0), (100, 9)], False, id="behind for a moment"),
        pytest.param([(0, 0), (2, 9), (100, 18)], False, id="abreast between"),
        pytest.param([(100, 50)], False, id="much waits at the first look"),
        pytest.param([(0, 0), (100, 30), (3, 40)], True, id="not abreast yet"),
        pytest.param([(0, 0), (100, 30), (2, 40)], False, id="abreast again"),
    ],
)
def test_work_is_late_when_it_was_behind_for_too_long(told: list[tuple[int, int]], late: bool) -> None:
    now = 0.0
    pressure = BacklogPressure(little=2, patience_s=10.0, clock=lambda: now)
    for waiting, now in told:  # noqa: B007  (the clock reads it)
        pressure.update(waiting)
    assert (pressure.is_behind.is_set(), pressure.has_caught_up.is_set()) == (late, not late)


def test_loop_gives_way_unless_it_is_late_and_goes_on_afterwards() -> None:
    loop, now = asyncio.new_event_loop(), 0.0
    pressure, low_priority = BacklogPressure(little=2, patience_s=10.0, clock=lambda: now), LowPriority()
    at: list[tuple[str, int]] = []

    async def work() -> None:
        while True:
            name = threading.current_thread().name
            if not at or at[-1][0] != name:
                at.append((name, os.getpriority(os.PRIO_PROCESS, threading.get_native_id())))
            await asyncio.sleep(0.001)

    def tell(waiting: int, at_s: float) -> None:
        nonlocal now
        now = at_s
        pressure.update(waiting)

    task = loop.create_task(work())
    own = os.getpriority(os.PRIO_PROCESS, 0)
    with loop_in_thread(loop, pressure, low_priority):
        for waiting, at_s, many in (
            (0, 0.0, 1),
            (10, 9.0, 1),
            (10, 11.0, 2),
            (5, 12.0, 2),
            (2, 13.0, 3),
            (30, 24.0, 4),
        ):
            loop.call_soon_threadsafe(tell, waiting, at_s)
            wait_for(lambda many=many: len(at) >= many, what="the other thread")
    loop.run_until_complete(asyncio.sleep(0.01))
    nicer = min(own + NICE_INCREMENT, 19)
    assert at == [("aside", nicer), ("beside", own), ("aside", nicer), ("beside", own), ("MainThread", own)]
    task.cancel()
    loop.run_until_complete(asyncio.gather(task, return_exceptions=True))
    loop.close()
