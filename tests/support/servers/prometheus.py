"""Servers of Prometheus' family, on ports that the system chooses."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator

from prometheus_client import CollectorRegistry
from prometheus_client.registry import Collector
from support.system.waiting import DEADLINE_S


def registry_of(collector: Collector) -> CollectorRegistry:
    """Returns a registry with nothing but one collector in it, to ask for values."""
    registry = CollectorRegistry()
    registry.register(collector)
    return registry


@contextlib.asynccontextmanager
async def listening(*command: str) -> AsyncIterator[str]:
    """Runs a server of Prometheus' family; gives its address, which the system has chosen."""
    running = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
    )
    assert running.stderr is not None
    reading, said = None, b""
    try:
        async with asyncio.timeout(DEADLINE_S):
            while not (found := re.search(rb'msg="?Listening on"? address=(127\.0\.0\.1:\d+)', said)):
                line = await running.stderr.readline()
                assert line, said.decode()
                said += line
        reading = asyncio.create_task(running.stderr.read())  # or it would wait for room
        yield found[1].decode()
    finally:
        running.terminate()
        await running.wait()
        if reading is not None:
            await reading
