"""Work beside a command gives way when it is far behind, and takes its priority back when it is not."""

from __future__ import annotations

import asyncio
import os
import threading

from iotide.cli.aside import Pressure, running_aside
from support.waiting import wait_for


def test_loop_is_run_with_low_priority_while_it_is_behind_and_goes_on_afterwards() -> None:
    loop, pressure = asyncio.new_event_loop(), Pressure(much=10, little=2)
    at: list[tuple[str, int]] = []

    async def work() -> None:
        while True:
            name = threading.current_thread().name
            if not at or at[-1][0] != name:
                at.append((name, os.getpriority(os.PRIO_PROCESS, threading.get_native_id())))
            await asyncio.sleep(0.001)

    task = loop.create_task(work())
    own = os.getpriority(os.PRIO_PROCESS, 0)
    with running_aside(loop, pressure):
        for count, waiting in enumerate((0, 10, 5, 2, 30), 1):
            loop.call_soon_threadsafe(pressure.tell, waiting)
            wait_for(lambda many=(1, 2, 2, 3, 4)[count - 1]: len(at) >= many, what="the other thread")
    loop.run_until_complete(asyncio.sleep(0.01))
    assert at == [("beside", own), ("aside", 19), ("beside", own), ("aside", 19), ("MainThread", own)]
    task.cancel()
    loop.run_until_complete(asyncio.gather(task, return_exceptions=True))
    loop.close()
