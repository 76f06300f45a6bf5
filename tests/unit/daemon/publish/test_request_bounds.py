"""Bodies of requests are bounded, one by one and together, and internal paths need the token of a member."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from iotide.daemon.publish.http.http_server import HttpServer
from iotide.daemon.publish.http.http_settings import HttpSettings
from iotide.daemon.publish.http.request_bounds import explain
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send
from support.system.waiting import DEADLINE_S

MIB = 1 << 20
REFUSED = "access_refused:internal"
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def size(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())))


async def echo(request: Request) -> Response:
    seen = (
        request.scope["path"],
        request.scope["raw_path"].decode(),
        request.url.query,
        request.headers.getlist("host"),
    )
    return JSONResponse(seen)


class Early:
    """An application that begins its answer before the end of the body."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"begun", "more_body": True})
        while (await receive())["type"] != "http.disconnect":
            await send({"type": "http.response.body", "body": b"more", "more_body": True})


@asynccontextmanager
async def serving(counters: Counter[str], token: str | None = None) -> AsyncIterator[int]:
    app = Starlette(
        routes=[
            Route("/early", Early()),
            Route("/echo{rest:path}", echo),
            Route("/", echo),
            Route("/{rest:path}", size, methods=["GET", "POST", "PUT"]),
        ],
        exception_handlers={HTTPException: explain},
    )
    limits = HttpSettings(body_bytes=10 * MIB)
    server = HttpServer(app, "127.0.0.1:0", allow_remote=False, limits=limits, counters=counters, member_token=token)
    await server.start()
    try:
        yield int(server.url.rpartition(":")[2])
    finally:
        await server.stop()


async def opened(port: int, method: str, path: str, *headers: str) -> Streams:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    lines = [f"{method} {path} HTTP/1.1", "host: x", *headers, "", ""]
    writer.write("\r\n".join(lines).encode())
    return reader, writer


async def status(streams: Streams) -> int:
    async with asyncio.timeout(DEADLINE_S):
        line = await streams[0].readline()
    return int(line.split()[1])


async def put(port: int, count: int) -> int:
    """Send a body of some bytes; return the status of the answer."""
    streams = await opened(port, "PUT", "/", f"content-length: {count}")
    streams[1].write(bytes(count))
    try:
        return await status(streams)
    finally:
        streams[1].close()


@pytest.mark.slow
async def test_bodies_are_bounded_one_by_one_and_together() -> None:
    counters = Counter[str]()
    async with serving(counters) as port:
        assert await put(port, 8 * MIB) == 200
        assert await put(port, 8 * MIB + 1) == 413
        slow = await opened(port, "PUT", "/", "transfer-encoding: chunked")
        slow[1].write(b"%x\r\n%s\r\n" % (7 * MIB, bytes(7 * MIB)))
        async with asyncio.timeout(DEADLINE_S):
            while await put(port, 4 * MIB) != 503:  # until the first body has been read
                pass
        assert await put(port, 2 * MIB) == 200
        slow[1].write(b"0\r\n\r\n")
        assert await status(slow) == 200
        slow[1].close()
        assert await put(port, 4 * MIB) == 200
        cut = await opened(port, "PUT", "/", f"content-length: {8 * MIB}")
        cut[1].write(bytes(7 * MIB))
        cut[1].close()
        async with asyncio.timeout(DEADLINE_S):
            while await put(port, 4 * MIB) != 200:  # until the end of the connection is noticed
                pass
    assert counters["http_bodies_refused"] >= 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    [
        "/internal/rank",
        "/partitions/3/internal/rank",
        "/partitions/0/%69nternal/x",
        "//internal",
        "http://x/internal/rank",
    ],
)
async def test_internal_paths_need_the_token_of_a_member(path: str) -> None:
    counters = Counter[str]()
    async with serving(counters, "secret") as port:
        for headers in ((), ("x-iotide-member: other",), ("x-iotide-member: secret",) * 2):
            refused = await opened(port, "POST", path, "transfer-encoding: chunked", *headers)
            assert await status(refused) == 403  # before its body
            refused[1].close()
        assert counters[REFUSED] == 3
        asked = await opened(port, "POST", path, f"content-length: {9 * MIB}", "x-iotide-member: secret")
        asked[1].write(bytes(9 * MIB))
        assert await status(asked) == 200
        asked[1].close()


@pytest.mark.slow
@pytest.mark.parametrize("authority", ["http://other:81", "HTTPS://other:81", "http://user:key@other:81"])
@pytest.mark.parametrize("target", ["/echo", "/echo/%2Fa%20b?x=http://y/z&x=1", "/echo//a/../b", "?x=/1", ""])
async def test_a_target_in_absolute_form_is_that_of_its_path_and_host(authority: str, target: str) -> None:
    """RFC 9112, 3.2.2: a server accepts it, and ignores the field Host then."""
    path = target if target.startswith("/") else f"/{target}"
    async with serving(Counter()) as port:
        answers = []
        for line, field in ((path, "other:81"), (f"{authority}{target}", "x")):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(f"GET {line} HTTP/1.1\r\nhost: {field}\r\nconnection: close\r\n\r\n".encode())
            async with asyncio.timeout(DEADLINE_S):
                answers.append((await reader.read()).partition(b"\r\n\r\n")[2])
            writer.close()
    assert b"other:81" in answers[0]
    assert answers[1] == answers[0]


@pytest.mark.slow
async def test_empty_token_opens_no_internal_path() -> None:
    counters = Counter[str]()
    async with serving(counters, "") as port:
        asked = await opened(port, "GET", "/internal/jobs", "x-iotide-member: ")
        assert await status(asked) == 403
        asked[1].close()
    async with serving(counters) as port:  # not in a cluster
        asked = await opened(port, "GET", "/internal/jobs")
        assert await status(asked) == 200
        asked[1].close()


@pytest.mark.slow
@pytest.mark.parametrize("answers_first", [True, False])
async def test_body_that_becomes_malformed_is_no_exception(
    answers_first: bool, caplog: pytest.LogCaptureFixture
) -> None:
    counters = Counter[str]()
    async with serving(counters) as port:
        asked = await opened(port, "PUT", "/early" if answers_first else "/", "transfer-encoding: chunked")
        asked[1].write(b"5\r\nhello\r\n")
        if answers_first:
            assert await status(asked) == 200
        else:
            await asyncio.sleep(0)
        asked[1].write(b"no size\r\n")
        async with asyncio.timeout(DEADLINE_S):
            rest = await asked[0].read()
        assert answers_first or rest.startswith(b"HTTP/1.1 400 ")
        asked[1].close()
        assert await put(port, 5) == 200
    assert counters["http_malformed"] == 1
    assert not [record for record in caplog.records if record.exc_info or record.levelname == "ERROR"]
