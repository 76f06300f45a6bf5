"""Requests of a member to the partitions, at its own processes and at other members: their paths and connections."""

from __future__ import annotations

import asyncio
import contextlib
import re
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from typing import Final
from urllib.parse import quote

import httpx
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from ..jobs.job_ids import clean_job
from ..publish.http.job_paths import without_marks
from ..publish.http.request_bounds import MEMBER_HEADER
from .members import Member
from .partitions import partitions_with

Pairs = Iterable[tuple[str, str]]
"""Names and values of a query, in which a name may come twice."""
_PARTITION: Final = re.compile(r"/partitions/[0-9]+(?=/)")
_DOTS: Final = re.compile(r"(?<=/)\.{1,2}(?=/|$)")


def partitions_of_path(path: str, count: int) -> list[int]:
    """Return the partitions of all jobs that a path may begin with. Ids may contain slashes, and more may follow."""
    parts = path.split("/")
    jobs = ["/".join(parts[:end]) for end in range(len(parts), 0, -1)]
    return list(dict.fromkeys(number for job in jobs if job for number in partitions_with(clean_job(job), count)))


def path_of(request: Request) -> str:
    """Return the decoded path that ``RequestBounds`` has checked; ``request.url.path`` lacks its tabs and line ends."""
    return without_marks(str(request.scope["path"]))


def original_path(request: Request, path: str) -> str:
    """Return the original path, as slashes of an id may be percent-encoded."""
    raw: bytes = request.scope.get("raw_path") or b""
    text = raw.partition(b"?")[0].decode("latin-1")
    if path != path_of(request):  # without the partition
        text = _PARTITION.sub("", text, count=1) if _PARTITION.match(text) else ""
    text = text if text.startswith("/") else quote(path)  # otherwise it would extend the host's name
    return _DOTS.sub(lambda found: "%2E" * len(found[0]), text)  # HTTPX would resolve them


_FORWARDED: Final = "x-iotide-partition"
"""Header for another member. The request is for its own partition and must not be forwarded."""
_UNSERVED: Final = "x-iotide-unserved-partition"
"""Header of an answer for a partition without an owner. Another one may follow within seconds."""
_HOP_HEADERS: Final = frozenset(
    {"connection", "content-length", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}
)
_MAX_LIST_BYTES: Final = 256 << 20
_INTERNAL: Final = "/internal/"
"""Prefix of a partition's paths for members."""
_HAND_OVER_S: Final = 2.0
"""Time to wait for the new owner of a partition, s. A standby process takes over in less after an orderly end."""
_RETRY_S: Final = 0.1
_NOT_SENT: Final = (httpx.ConnectError,)
"""Errors after which any request may be sent again."""
_BROKEN: Final = (httpx.NetworkError, httpx.RemoteProtocolError)
"""Errors of a process that ends, after which a request that changes nothing may be sent again."""
_SAFE_METHODS: Final = frozenset({"GET", "HEAD"})
_KEPT_HEADERS: Final = frozenset({"content-type", "www-authenticate", _UNSERVED})


class PartitionRequests:
    """Sends requests to the owners of the partitions.

    During a hand-over it waits for the new owner, once per partition until that is served: while a partition stays
    without an owner, only the first requests wait.

    Args:
        members, own, name, within_s, trust, token: as for ``Front``.
    """

    def __init__(
        self,
        members: Callable[[], Mapping[str, Member]],
        own: Callable[[], Mapping[int, str]],
        name: str,
        within_s: float,
        trust: ssl.SSLContext | None,
        token: str,
    ) -> None:
        self._members, self._own, self._name = members, own, name
        self._within_s, self._token = within_s, token
        self._given_up: set[int] = set()
        """Partitions without an owner for longer than a hand-over takes."""
        limits = httpx.Limits(max_connections=256, max_keepalive_connections=64)
        timeout = httpx.Timeout(within_s, read=None)
        verify = trust or ssl.create_default_context()
        self._client = httpx.AsyncClient(timeout=timeout, limits=limits, trust_env=False, verify=verify)

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    def reachable(self) -> list[int]:
        """Return the partitions that have an owner."""
        others = {number for member in self._members().values() if member.http for number in member.serves}
        return sorted({*self._own(), *others})

    def note_owners(self) -> None:
        """Let requests wait again for partitions that have an owner now, when these lose it."""
        self._given_up.difference_update(self.reachable())

    def _target(self, number: int, *, only_own: bool) -> tuple[str, str] | None:
        """Return URL and token of a partition at its process or at another member; None if there is none."""
        if (own := self._own().get(number)) is not None:
            return own, self._token
        for name, member in sorted(self._members().items()):
            if number in member.serves and member.http is not None and name != self._name and not only_own:
                return f"{member.http}/partitions/{number}", member.token
        return None

    async def stream(self, request: Request, number: int, path: str) -> Response:
        """Forward a request, and stream the answer back, including server-sent events."""
        if _FORWARDED in request.headers:  # the member that forwards it waits
            return await self._stream_once(request, number, path)
        return await self._until_served(number, lambda: self._stream_once(request, number, path))

    async def fetch(
        self,
        request: Request,
        number: int,
        body: bytes = b"",
        query: Pairs | None = None,
        *,
        path: str = "",
        method: str = "",
    ) -> Response:
        """Send a request, and return the whole answer. ``path`` and ``method``, if given, replace those of it."""
        target = path or original_path(request, path_of(request))
        return await self._until_served(
            number, lambda: self._fetch_once(request, number, body, query, target, method or request.method)
        )

    async def _until_served(self, number: int, send: Callable[[], Awaitable[Response]]) -> Response:
        """Send a request again while its partition has no owner, for the time of a hand-over."""
        wait_s = 0.0 if number in self._given_up else min(_HAND_OVER_S, self._within_s)
        until_s = time.monotonic() + wait_s
        while _UNSERVED in (answer := await send()).headers:
            if time.monotonic() >= until_s:
                self._given_up.add(number)
                return answer
            if answer.background is not None:
                await answer.background()
            await asyncio.sleep(_RETRY_S)
        self._given_up.discard(number)
        return answer

    async def _stream_once(self, request: Request, number: int, path: str) -> Response:
        if (found := self._target(number, only_own=_FORWARDED in request.headers)) is None:
            return unserved([number])
        url, token = found
        body = await request.body() if request.method == "POST" else b""
        target = httpx.URL(url + original_path(request, path), query=request.scope["query_string"] or None)
        headers = _headers(request, number, token if path.startswith(_INTERNAL) else "")
        sent = self._client.build_request(request.method, target, headers=headers, content=body)
        try:
            async with asyncio.timeout(self._within_s):
                answer = await self._client.send(sent, stream=True)
        except (httpx.HTTPError, TimeoutError) as error:
            return _failed(number, error, request.method)
        headers = {name: value for name, value in answer.headers.items() if name not in _HOP_HEADERS}
        return StreamingResponse(
            _pass_through(answer), answer.status_code, headers, background=BackgroundTask(answer.aclose)
        )

    async def _fetch_once(
        self, request: Request, number: int, body: bytes, query: Pairs | None, path: str, method: str
    ) -> Response:
        if (found := self._target(number, only_own=False)) is None:
            return unserved([number])
        url, token = found
        try:
            async with asyncio.timeout(self._within_s):
                parameters = request.query_params.multi_items() if query is None else query
                async with self._client.stream(
                    method,
                    url + path,
                    params=list(parameters),
                    headers=_headers(request, number, token if path.startswith(_INTERNAL) else ""),
                    content=body,
                ) as answer:
                    read = bytearray()
                    async for piece in answer.aiter_bytes():
                        read += piece
                        if len(read) > _MAX_LIST_BYTES:
                            return _unavailable([number], "a longer answer than there may be")
        except (httpx.HTTPError, TimeoutError) as error:
            return _failed(number, error, method)
        headers = {name: value for name, value in answer.headers.items() if name in _KEPT_HEADERS}
        return Response(bytes(read), answer.status_code, headers)


def unserved(numbers: Iterable[int]) -> Response:
    """Return the answer for partitions without an owner."""
    answer = _unavailable(numbers, "no member serves it")
    answer.headers[_UNSERVED] = "1"
    return answer


def _failed(number: int, error: Exception, method: str) -> Response:
    """Return the answer for a failed request. Its partition may have lost its owner during the request."""
    answer = _unavailable([number], type(error).__name__)
    if isinstance(error, _NOT_SENT) or (method in _SAFE_METHODS and isinstance(error, _BROKEN)):
        answer.headers[_UNSERVED] = "1"
    return answer


def _unavailable(numbers: Iterable[int], reason: str) -> Response:
    named = ", ".join(map(str, numbers))
    text = {"error": f"partition {named} does not answer: {reason}", "expected": "another try in some seconds"}
    return JSONResponse(text, 503, {"retry-after": "5"})


def _headers(request: Request, number: int, token: str) -> dict[str, str]:
    left_out = {*_HOP_HEADERS, _FORWARDED, MEMBER_HEADER}
    kept = {name: value for name, value in request.headers.items() if name not in left_out}
    return {**kept, _FORWARDED: str(number), **({MEMBER_HEADER: token} if token else {})}


async def _pass_through(answer: httpx.Response) -> AsyncIterator[bytes]:
    with contextlib.suppress(httpx.HTTPError):  # the owner ended, and so does this connection
        async for piece in answer.aiter_raw():
            yield piece
