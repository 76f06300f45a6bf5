"""Target: HTTP requests made from the OpenAPI document with invalid values; none breaks a response."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from functools import cache
from typing import Any
from urllib.parse import quote, unquote_to_bytes

from iotide.clients.pages.live_pages import LivePages
from iotide.daemon.aggregator import Aggregator
from iotide.daemon.contention import ContentionWatch
from iotide.daemon.ingest.ingest_core import IngestCore
from iotide.daemon.ingest.ingest_settings import IngestSettings, IngestStats
from iotide.daemon.publish.http.application import make_application
from iotide.daemon.publish.metrics import AggregatorCollector
from iotide.daemon.settings import AggregatorSettings
from support.servers.restarted_job import UNTIL_S

from .mutation import INTEGERS, Choose, change_bytes
from .target import Target, Unsound
from .targets_wire import said

_TEXTS = ["", "job", "write", "/scratch/out", "a/../b", "%", "\x00", "../..", "x" * 3000, "ü", "nan", "inf", "*", "("]
_NUMBERS = [*map(str, INTEGERS), "0.5", "1e308", "1e-320", "-1e400", "true"]
_HEADERS = [(b"accept", b"application/openmetrics-text"), (b"accept", b"*/*;q=x"), (b"if-none-match", b'"x"')]
_METHODS = ["GET", "GET", "GET", "GET", "HEAD", "POST", "OPTIONS"]


class Asked:
    """An application with a job, and the event loop of its responses."""

    def __init__(self) -> None:
        def now() -> float:
            return UNTIL_S

        aggregator = Aggregator(AggregatorSettings(linger_s=0.0), now, now)
        core = IngestCore(aggregator, IngestSettings())
        for frames in said():
            core.receive(b"peer", frames, 0.0)
        aggregator.tick()
        contention = ContentionWatch(aggregator, AggregatorSettings().contention)
        stats = IngestStats()
        metrics = AggregatorCollector(aggregator, lambda: stats, 100, now, contention)
        self.loop = asyncio.new_event_loop()
        self.app = make_application(aggregator, metrics, lambda: "", now, LivePages(), contention, in_cluster=True)
        self.paths: dict[str, Any] = self.app.openapi()["paths"]

    def close(self) -> None:
        """Stop the loop, and the threads of its executor."""
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()

    def answer(
        self, method: str, target: bytes, headers: Sequence[tuple[bytes, bytes]] = (), body: bytes = b""
    ) -> tuple[int, bytes]:
        """Return status and body of a response."""
        return self.loop.run_until_complete(self._answer(method, target, headers, body))

    async def _answer(
        self, method: str, target: bytes, headers: Sequence[tuple[bytes, bytes]], body: bytes
    ) -> tuple[int, bytes]:
        path, _, query = target.partition(b"?")
        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
            "path": unquote_to_bytes(path).decode(errors="replace"), "raw_path": path, "query_string": query,
            "headers": [(b"host", b"localhost"), *headers], "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80),
        }  # fmt: skip
        statuses: list[int] = []
        content = bytearray()
        ended = asyncio.Event()

        async def receive() -> dict[str, Any]:
            if ended.is_set():
                return {"type": "http.disconnect"}
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])
                return
            content.extend(message.get("body", b""))
            if not message.get("more_body"):
                ended.set()

        await self.app(scope, receive, send)
        if len(statuses) != 1 or not ended.is_set():
            raise Unsound(f"{len(statuses)} answers to {target!r}")
        return statuses[0], bytes(content)


@cache
def asked() -> Asked:
    return Asked()


def samples() -> list[bytes]:
    """Each path of the document, with an existing job."""
    return [f"GET {path.replace('{job}', 'job').replace('{other}', 'job')}".encode() for path in asked().paths]


def made(choose: Choose, data: bytes) -> bytes:
    """Make a request from the document: existing paths and parameters, with other values."""
    path = choose.choice(list(asked().paths))
    operation = next(iter(asked().paths[path].values()))
    pairs = []
    for parameter in operation.get("parameters", []):
        value = choose.choice(("job", choose.choice(_TEXTS), choose.choice(_NUMBERS)))
        if choose.random() < 0.1:
            value = change_bytes(choose, value.encode(), (), ()).decode("latin-1")
        if parameter["in"] == "path":
            path = path.replace("{" + parameter["name"] + "}", quote(value, safe=choose.choice(("", "/"))))
        elif choose.random() < 0.6:
            schema = parameter["schema"]
            value = choose.choice([*map(str, schema.get("enum", [])), value])
            pairs.extend([f"{parameter['name']}={quote(value)}"] * choose.choice((1, 1, 1, 2)))
    for name in ("job", "other"):
        path = path.replace("{" + name + "}", "job")
    query = "?" + "&".join(pairs) if pairs else ""
    line = f"{choose.choice(_METHODS)} {path}{query}".encode()
    return line if choose.random() < 0.8 else change_bytes(choose, line, [line], ())


def run(data: bytes) -> None:
    """A request is answered, without an internal error."""
    method, _, target = data.partition(b" ")
    headers = list(itertools.islice(_HEADERS, len(data) % 4)) if len(data) % 3 == 0 else []
    name = method.decode("latin-1") or "GET"
    status, _ = asked().answer(name, target or b"/", headers)
    if status >= 500:
        raise Unsound(f"{status} to {data!r}")


def targets() -> list[Target]:
    return [Target("http", samples, run, made, quick=2000)]
