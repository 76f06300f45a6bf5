"""Requests with odd methods, headers, queries and bodies: no status 500, no exception in the log, no hang."""

from __future__ import annotations

import asyncio
import random
import re

import pytest
from support.servers.running_aggregator import Fed, feeding, serving, until
from support.system.waiting import DEADLINE_S

REQUESTS = 400
SEED = 1
PATHS = (
    *("/", "/metrics", "/healthz", "/rules.yml", "/jobs/j", "/internal/jobs"),
    *(f"/api/v1/{name}" for name in ("jobs", "fleet", "pacing", "rank", "live-io", "status", "contention")),
    *(f"/api/v1/jobs/j{below}" for below in ("", "/signal", "/dfg", "/layers", "/advice", "/culprits")),
)
METHODS = ("GET", "GET", "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get", "\0")
JOBS = ("%2e%2e%2f", "%00", "%ff%fe", "a" * 4000, "j%2Fdfg", "..", "%0d%0aX:y", "%E2%80%AE")
NAMES = ("from_s", "to_s", "jobs", "begin", "count", "sort", "latest", "top", "versus", "q", "file_system")
VALUES = ("nan", "inf", "-1", "1e400", "9" * 400, "%00", "%ff", "", "a" * 3000, "[]", "true", "0x10")
HEADERS = (
    *(b"content-length: " + value for value in (b"-1", b"0", b"5", b"9" * 31, b"x")),
    *(b"transfer-encoding: " + value for value in (b"chunked", b"chunked", b"gzip, chunked", b"chunked, chunked")),
    *(b"authorization: Basic " + value for value in (b"", b"////", b"Og==", b"\xff")),
    *(b"content-type: " + value for value in (b"application/json", b"multipart/form-data", b"text/x; charset=utf-99")),
    *(b"host: " + value for value in (b"", b"a b", b"\xff", b"x" * 300)),
    *(b"expect: 100-continue", b"connection: upgrade", b"upgrade: h2c", b"range: bytes=0-0,-1", b"x: " + b"a" * 70_000),
)
BODIES = (
    *(b"5\r\nhello\r\n0\r\n\r\n", b"f" * 18 + b"\r\n", b"-1\r\n", b"5;x=" + b"a" * 20_000 + b"\r\nhello\r\n0\r\n\r\n"),
    *(b"{}", b"[" * 50_000, b"\0" * 1000, b'{"file_system":"x","policy":"y","capacity_bytes_per_s":1e999,"jobs":[]}'),
)


def request(choose: random.Random) -> bytes:
    """Return a request that is wrong in several ways."""
    path = choose.choice(PATHS)
    if choose.random() < 0.2:
        path = path.replace("/j", f"/{choose.choice(JOBS)}", 1)
    pairs = [f"{choose.choice(NAMES)}={choose.choice(VALUES)}" for _ in range(choose.choice((0, 0, 1, 5, 2000)))]
    version = choose.choice(("1.1", "1.1", "1.1", "1.0", "2.0", "9"))
    lines = [f"{choose.choice(METHODS)} {path}{'?' if pairs else ''}{'&'.join(pairs)} HTTP/{version}".encode()]
    lines += [b"host: x"] * (choose.random() < 0.8)
    lines += [choose.choice(HEADERS) for _ in range(choose.choice((0, 1, 2, 5, 100)))]
    return b"\r\n".join((*lines, b"", choose.choice(BODIES) if choose.random() < 0.5 else b""))


async def answer(port: int, sent: bytes) -> bytes:
    """Return the begin of the answer; b"" if the connection was closed without one."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(sent)
        writer.write_eof()
        async with asyncio.timeout(DEADLINE_S):
            return await reader.read(200)
    except ConnectionError:
        return b""
    finally:
        writer.close()


@pytest.mark.slow
async def test_wrong_requests_are_answered_refused_or_cut_off(caplog: pytest.LogCaptureFixture) -> None:
    choose, source = random.Random(SEED), Fed()
    source.open("s", "j")
    source.periodic("s")
    async with serving() as server, feeding(server, source):
        await until(lambda: "j" in server.aggregator.jobs)
        port = int((server.http_url or "").rpartition(":")[2])
        for _ in range(REQUESTS):
            sent = request(choose)
            found = await answer(port, sent)
            status = re.match(rb"HTTP/1.1 (\d+) ", found)
            assert not found or (status and int(status[1]) not in (500, 501, 502)), (sent[:500], found)
        assert (await answer(port, b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
    assert not [record for record in caplog.records if record.exc_info or record.levelname == "ERROR"]
