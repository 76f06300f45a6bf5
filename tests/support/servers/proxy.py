"""A proxy between a collector and an aggregator that can be cut, stalled and slowed down."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path


class Proxy:
    """Forward bytes between two Unix sockets; an asynchronous context manager.

    Args:
        listens: where it accepts connections.
        forwards: where it forwards them to.

    Attributes:
        piece: most bytes forwarded at a time; other tasks run in between.
        cuts: number of connections that were cut.
    """

    def __init__(self, listens: Path, forwards: Path) -> None:
        self.piece = 1 << 16
        self.cuts = 0
        self._listens, self._forwards = listens, forwards
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Proxy:
        self._server = await asyncio.start_unix_server(self._accepted, self._listens)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        self.cut()
        for task in list(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        await self._server.wait_closed()

    def stall(self) -> None:
        """Stop forwarding, without closing connections."""
        self._flowing.clear()

    def flow(self) -> None:
        """Resume forwarding."""
        self._flowing.set()

    def cut(self) -> None:
        """Close all connections, in the middle of their data."""
        for writer in list(self._writers):
            self.cuts += 1
            writer.transport.abort()
        self._writers.clear()

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            onwards, further = await asyncio.open_unix_connection(self._forwards)
        except OSError:  # no process listens there now
            writer.transport.abort()
            return
        self._writers.add(further)
        for each in (self._carry(reader, further), self._carry(onwards, writer)):
            task = asyncio.ensure_future(each)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(self.piece):
                await self._flowing.wait()
                writer.write(data)
                await writer.drain()
                await asyncio.sleep(0)
        writer.transport.abort()
