"""Proxies: between a collector and an aggregator, to be cut, stalled and slowed down, and in front of pages."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from posixpath import normpath
from typing import Final
from urllib.parse import quote, unquote

import httpx
from iotide.daemon.server import Server

NGINX: Final = "/!$&'()*+,;=:@-._~"
"""Characters that nginx leaves as they are in a decoded path; it encodes a question mark and others again."""
JUPYTER: Final = f"{NGINX}?#[]"
"""The same of jupyter-server-proxy."""


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


def rewritten(target: str, kept: str) -> str:
    """Return a target as a proxy requests it that decodes paths, joins empty parts and resolves dots.

    Args:
        target: path and query.
        kept: characters that it does not encode again.
    """
    path, mark, query = target.partition("?")
    end = "/" if path.endswith("/") else ""
    decoded = normpath(re.sub("/+", "/", unquote(path, errors="surrogateescape"))).removesuffix("/") + end
    return quote(decoded, safe=kept, errors="surrogateescape") + mark + query


@asynccontextmanager
async def proxied(server: Server, prefix: str, kept: str | None = None) -> AsyncIterator[str]:
    """Forward requests below a prefix, without it; paths decoded and written anew, if ``kept`` is given."""
    async with httpx.AsyncClient(base_url=str(server.http_url), timeout=60) as http:

        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            request = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            path = request.split(" ", 2)[1]
            if path.startswith(f"{prefix}/"):
                path = path.removeprefix(prefix)
                got = await http.get(path if kept is None else rewritten(path, kept))
                status, content, headers = got.status_code, got.content, got.headers
                kind, policy = headers.get("content-type", ""), headers.get("content-security-policy", "")
            else:
                status, content, kind, policy = 404, b"outside of the prefix", "text/plain", ""
            lines = f"HTTP/1.1 {status} x\r\ncontent-type: {kind}\r\ncontent-length: {len(content)}\r\n"
            lines += f"content-security-policy: {policy}\r\n" if policy else ""
            writer.write(lines.encode() + b"connection: close\r\n\r\n" + content)
            await writer.drain()
            writer.close()
            await writer.wait_closed()

        listening = await asyncio.start_server(answer, "127.0.0.1", 0)
        port = listening.sockets[0].getsockname()[1]
        try:
            yield f"http://127.0.0.1:{port}{prefix}"
        finally:
            listening.close()
            await listening.wait_closed()
