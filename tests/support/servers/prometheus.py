"""Servers of the Prometheus family, on ports assigned by the system."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator

from prometheus_client import CollectorRegistry
from prometheus_client.registry import Collector
from support.system.waiting import DEADLINE_S


def registry_of(collector: Collector) -> CollectorRegistry:
    """Return a registry with a single collector, to query values."""
    registry = CollectorRegistry()
    registry.register(collector)
    return registry


@contextlib.asynccontextmanager
async def listening(*command: str) -> AsyncIterator[str]:
    """Run a server of the Prometheus family; yield its address, with a port assigned by the system."""
    running = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
    )
    assert running.stderr is not None
    reading, output = None, b""
    try:
        async with asyncio.timeout(DEADLINE_S):
            while not (found := re.search(rb'msg="?Listening on"? address=(127\.0\.0\.1:\d+)', output)):
                line = await running.stderr.readline()
                assert line, output.decode()
                output += line
        reading = asyncio.create_task(running.stderr.read())  # otherwise it blocks on a full pipe
        yield found[1].decode()
    finally:
        running.terminate()
        await running.wait()
        if reading is not None:
            await reading
