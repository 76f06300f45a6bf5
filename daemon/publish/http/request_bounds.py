"""What holds for requests of all paths: one form of targets, bounds of bodies, the token of members of a cluster."""

from __future__ import annotations

import contextlib
import hmac
import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from ...access.access import REFUSED
from ...jobs.encoding.job_rows import MAX_BYTES

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MEMBER_HEADER: Final = "x-iotide-member"
"""Header with the token of the addressed member or process."""
_INTERNAL_PATH: Final = re.compile(r"/+(partitions/[0-9]+/+)?internal(/|$)")
_ABSOLUTE: Final = re.compile(rb"https?://(?:[^/@]*@)?([^/@]+)(/.*)?", re.IGNORECASE)
_MAX_BODY_BYTES: Final = 8 << 20
"""Maximum bytes of a body from a client. A pacing plan of 10,000 jobs has about 5 MB."""


class RequestBounds:
    """Refuses internal requests without the token of a member, and bodies beyond the bounds.

    Args:
        app: the application. It must answer a ``starlette.exceptions.HTTPException`` as ``explain`` does.
        body_bytes: maximum bytes of all bodies together; that is ``http_limits.body_bytes``.
        counters: counters ``http_bodies_refused`` and ``access_refused:internal``.
        token: token for internal requests; None outside of a cluster, which has no internal paths.
    """

    def __init__(self, app: ASGIApp, body_bytes: int, counters: Counter[str], token: str | None = None) -> None:
        self._app, self._body_bytes, self._counters = app, body_bytes, counters
        self._token = token
        self.reserved_bytes = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope = _in_origin_form(scope)
        is_internal = self._token is not None and _INTERNAL_PATH.match(scope["path"]) is not None
        if is_internal and not self._is_of_member(scope):
            self._counters[f"{REFUSED}internal"] += 1
            await _refuse(send, 403, "only members of the cluster may use this path", "a path of /api/v1/openapi.json")
            return
        body = _Body(self, receive, MAX_BYTES if is_internal else _MAX_BODY_BYTES)
        try:
            with contextlib.suppress(ClientDisconnect):  # otherwise each would be a traceback in the log
                await self._app(scope, body.receive, send)
        finally:
            self.reserved_bytes -= body.size

    def reserve(self, count: int) -> None:
        """Add bytes of a body. Raises HTTPException: the bodies of all requests are too long."""
        if self.reserved_bytes + count > self._body_bytes:
            self._counters["http_bodies_refused"] += 1
            error = f"http_limits.body_bytes = {self._body_bytes} is reached by the bodies of all requests"
            raise HTTPException(503, {"error": error, "expected": "another try, or a larger bound"})  # type: ignore[arg-type]
        self.reserved_bytes += count

    def _is_of_member(self, scope: Scope) -> bool:
        name, token = MEMBER_HEADER.encode(), (self._token or "").encode()
        found = [value for key, value in scope["headers"] if key == name]
        return bool(token) and len(found) == 1 and hmac.compare_digest(found[0], token)


def _in_origin_form(scope: Scope) -> Scope:
    """Return a request with the path alone as target: ``GET http://host/path`` is valid, too (RFC 9112, 3.2.2)."""
    found = _ABSOLUTE.fullmatch(scope.get("raw_path") or b"")
    if found is None:
        return scope
    host, path = found[1], found[2] or b"/"
    headers = [(b"host", host), *(pair for pair in scope["headers"] if pair[0] != b"host")]  # a Host is ignored then
    return {**scope, "path": unquote(path.decode("latin-1")), "raw_path": path, "headers": headers}


class _Body:
    """The body of one request."""

    def __init__(self, bounds: RequestBounds, receive: Receive, most: int) -> None:
        self._bounds, self._receive, self._most = bounds, receive, most
        self.size = 0

    async def receive(self) -> Message:
        message = await self._receive()
        if count := len(message.get("body", b"")):
            if self.size + count > self._most:
                expected = f"{self._most} bytes at most"
                raise HTTPException(413, {"error": "the body is too long", "expected": expected})  # type: ignore[arg-type]
            self._bounds.reserve(count)
            self.size += count
        return message


async def explain(_: Request, error: Exception) -> Response:
    """Answer a request that was refused by a ``starlette.exceptions.HTTPException``."""
    if not isinstance(error, HTTPException):
        raise error
    detail: object = error.detail
    if not isinstance(detail, dict):
        detail = {"error": str(detail), "expected": "a path of /api/v1/openapi.json"}
    return JSONResponse(detail, error.status_code, error.headers)


async def _refuse(send: Send, status: int, error: str, expected: str) -> None:
    body = json.dumps({"error": error, "expected": expected}).encode()
    headers: list[Any] = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
