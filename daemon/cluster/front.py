"""One HTTP address for all jobs of a cluster. Lists are merged, and requests on one job are forwarded to its owner."""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import httpx
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from ...results.base import MODELS_VERSION
from ..publish.http.job_paths import JobPaths
from ..publish.http.request_bounds import MEMBER_HEADER, explain
from .cross_partition import MISSING_HEADER, CrossPartitionQueries
from .forwarded_paths import original_path, partitions_of_path, path_of
from .members import Member, public_data

_FORWARDED: Final = "x-iotide-partition"
"""Header for another member. The request is for its own partition and must not be forwarded."""
_HOP_HEADERS: Final = frozenset(
    {"connection", "content-length", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}
)
_MAX_LIST_BYTES: Final = 256 << 20
_INTERNAL: Final = "/internal/"
"""Prefix of a partition's paths for members."""
_MAX_NUMBER: Final = 10**9
"""Value of longer numbers in a path or query; ``int`` refuses those of thousands of digits."""
_JOB_PREFIXES: Final = ("/api/v1/jobs/", "/jobs/")
_MAX_PAGE: Final = 500
_NOT_FOUND: Final = 404
_COLUMNS: Final = {
    "period": "period_s",
    "next": "next_start_s",
    "read": "bytes_read",
    "written": "bytes_written",
    "last": "last_event_at_s",
}
"""Column of a page's rows by sort order, where the names differ."""


class PartitionAnswer(NamedTuple):
    """Answer of a partition: JSON, or the reason of a failure."""

    partition: int
    body: Any
    status: int
    problem: str


class Front:
    """The HTTP application of a member.

    Args:
        partitions: number of partitions.
        members: returns the members.
        own: returns the URLs of the processes on this machine, by partition.
        name: name of this member.
        metrics: returns this member's /metrics.
        not_ready: returns why it cannot serve now, or "".
        within_s: timeout of an answer, after which it is left out, s.
        trust: certificates that other members may have; by default those of the system.
        token: token for the internal paths of the processes on this machine.
    """

    def __init__(
        self,
        partitions: int,
        members: Callable[[], Mapping[str, Member]],
        own: Callable[[], Mapping[int, str]],
        name: str,
        metrics: Callable[[], bytes],
        not_ready: Callable[[], str],
        within_s: float,
        trust: ssl.SSLContext | None = None,
        token: str = "",
    ) -> None:
        self._partitions, self._members, self._own, self._name = partitions, members, own, name
        self._metrics, self._not_ready, self._within_s = metrics, not_ready, within_s
        self._token = token
        limits = httpx.Limits(max_connections=256, max_keepalive_connections=64)
        timeout = httpx.Timeout(within_s, read=None)
        verify = trust or ssl.create_default_context()
        self._client = httpx.AsyncClient(timeout=timeout, limits=limits, trust_env=False, verify=verify)
        self.app = Starlette(
            routes=[
                Route("/healthz", self._healthz),
                Route("/readyz", self._readyz),
                Route("/metrics", self._own_metrics),
                Route("/api/v1/cluster", self._cluster),
                Route("/api/v1/prometheus", self._discovery),
                Route("/partitions/{number}/internal/{rest:path}", self._to_partition, methods=["GET", "POST"]),
                Route("/partitions/{number}/{rest:path}", self._to_partition),
                *CrossPartitionQueries(partitions, self._fetch, self._any_partition, self._forward_to_owner).routes,
                Route("/api/v1/jobs", self._jobs),
                Route("/api/v1/fleet", self._fleet),
                Route("/api/v1/status", self._status),
                Route("/api/v1/pacing", self._forward_to_all, methods=["PUT", "DELETE"]),
                Route("/{rest:path}", self._forward_to_owner),
            ],
            middleware=[Middleware(JobPaths)],
            exception_handlers={HTTPException: explain},
        )

    def _any_partition(self) -> int | None:
        """Return a partition that has an owner, preferably one of this machine. Return None if there is none."""
        return min(self._reachable(), key=lambda number: (number not in self._own(), number), default=None)

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()

    async def _healthz(self, _request: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def _readyz(self, _: Request) -> Response:
        reason = self._not_ready()
        return PlainTextResponse(f"{reason or 'ready'}\n", 503 if reason else 200)

    async def _own_metrics(self, _: Request) -> Response:
        return Response(self._metrics(), media_type="text/plain; version=0.0.4; charset=utf-8")

    async def _cluster(self, _: Request) -> Response:
        members = {name: public_data(member) for name, member in sorted(self._members().items())}
        served = {number for member in members.values() for number in member["serves"]}
        free = sorted(set(range(self._partitions)) - served)
        return JSONResponse({"partitions": self._partitions, "unserved": free, "members": members})

    async def _discovery(self, _request: Request) -> Response:
        """Answer Prometheus (HTTP SD): each member, and each partition under the member that serves it."""
        groups = []
        for name, member in sorted(self._members().items()):
            if member.http is None or "://" not in member.http:
                continue
            scheme, _, address = member.http.partition("://")
            common = {"__scheme__": scheme, "member": name}
            groups.append({"targets": [address], "labels": {**common, "__metrics_path__": "/metrics"}})
            groups += [
                {
                    "targets": [address],
                    "labels": {
                        **common,
                        "__metrics_path__": f"/partitions/{number}/metrics",
                        "partition": str(number),
                        "instance": f"partition-{number}",
                    },
                }
                for number in sorted(member.serves)
            ]
        return JSONResponse(groups)

    async def _jobs(self, request: Request) -> Response:
        """Merge the lists of all partitions, latest active first; list the missing partitions."""
        answers = await self._fetch_all(request)
        if (refused := _refusal(answers)) is not None:
            return refused
        rows = [row for answer in answers if not answer.problem for row in answer.body["jobs"]]
        rows.sort(key=lambda row: (-(row.get("last_event_at_s") or 0.0), row["job"]))
        latest = request.query_params.get("latest", "")
        return _merge_answers(answers, jobs=rows[: _number(latest, len(rows))])

    async def _fleet(self, request: Request) -> Response:
        """Merge the pages of all partitions to one page."""
        query = dict(request.query_params)
        begin, count = _number(query.get("begin", ""), 0), _number(query.get("count", ""), 50)
        pages = []
        for at in range(0, begin + count, _MAX_PAGE):
            some = min(_MAX_PAGE, begin + count - at)
            pages.append(await self._fetch_all(request, {**query, "begin": str(at), "count": str(some)}))
            if not any(len(answer.body["jobs"]) == some for answer in pages[-1] if not answer.problem):
                break  # no partition has further jobs
        if not pages or (refused := _refusal(pages[0])) is not None:
            return refused if pages and refused is not None else await self._forward_to_owner(request)
        first = [answer.body for answer in pages[0] if not answer.problem]
        rows = [row for answers in pages for answer in answers if not answer.problem for row in answer.body["jobs"]]
        order = query.get("sort", "bandwidth")
        is_descending = query.get("descending", "true").lower() in ("true", "1", "yes", "on")
        states: dict[str, int] = {}
        for body in first:
            for state, jobs in body["states"].items():
                states[state] = states.get(state, 0) + jobs
        alerts = [body["alerts"] for body in first if body["alerts"] is not None]
        return _merge_answers(
            pages[0],
            made_at_s=time.time(),
            total=sum(body["total"] for body in first),
            matching=sum(body["matching"] for body in first),
            begin=begin,
            states=states,
            bandwidth=sum(body["bandwidth"] for body in first),
            alerts=max(alerts) if alerts else None,  # each partition reports the alerts of the whole cluster
            jobs=_merge_sorted(rows, order, is_descending)[begin : begin + count],
        )

    async def _status(self, request: Request) -> Response:
        """Return the states of all partitions, and the partitions that are missing."""
        answers = await self._fetch_all(request)
        if (refused := _refusal(answers)) is not None:
            return refused
        partitions = {answer.partition: answer.body for answer in answers if not answer.problem}
        missing = {answer.partition: answer.problem for answer in answers if answer.problem}
        # A ClusterStatus. It is not validated here, as partitions may be of another version during an update.
        return JSONResponse({"version": MODELS_VERSION, "partitions": partitions, "missing": missing})

    async def _forward_to_all(self, request: Request) -> Response:
        """Forward a request to each partition; answer with the worst status."""
        body = await request.body()
        results = await asyncio.gather(*(self._fetch(request, number, body) for number in self._reachable()))
        if not results:
            return _unavailable(range(self._partitions))
        return max(results, key=lambda each: each.status_code)

    async def _to_partition(self, request: Request) -> Response:
        text = request.path_params["number"]
        number = _number(text, self._partitions)
        if number >= self._partitions:
            return JSONResponse({"error": f"there is no partition {text}", "expected": "one of /api/v1/cluster"}, 404)
        return await self._stream_answer(request, number, "/" + path_of(request).split("/", 3)[3])

    async def _forward_to_owner(self, request: Request) -> Response:
        """Forward a request on a job to its owner, and others to any partition."""
        path = path_of(request)
        prefix = next((prefix for prefix in _JOB_PREFIXES if path.startswith(prefix)), None)
        if prefix is None:
            numbers: Sequence[int] = sorted(self._reachable(), key=lambda number: number not in self._own())[:1]
            if not numbers:
                return _unavailable(range(self._partitions))
            return await self._stream_answer(request, numbers[0], path)
        answer: Response | None = None
        for number in partitions_of_path(path.removeprefix(prefix), self._partitions):
            if answer is not None and isinstance(answer, StreamingResponse) and answer.background is not None:
                await answer.background()
            answer = await self._stream_answer(request, number, path)
            if answer.status_code != _NOT_FOUND:
                return answer
        return answer or JSONResponse({"error": "no job is named", "expected": "the id of a job"}, _NOT_FOUND)

    def _reachable(self) -> list[int]:
        others = {number for member in self._members().values() if member.http for number in member.serves}
        return sorted({*self._own(), *others})

    def _target(self, number: int, *, only_own: bool) -> tuple[str, str] | None:
        """Return URL and token of a partition at its process or at another member; None if there is none."""
        if (own := self._own().get(number)) is not None:
            return own, self._token
        for name, member in sorted(self._members().items()):
            if number in member.serves and member.http is not None and name != self._name and not only_own:
                return f"{member.http}/partitions/{number}", member.token
        return None

    async def _stream_answer(self, request: Request, number: int, path: str) -> Response:
        """Forward a request, and stream the answer back, including server-sent events."""
        if (found := self._target(number, only_own=_FORWARDED in request.headers)) is None:
            return _unavailable([number])
        url, token = found
        body = await request.body() if request.method == "POST" else b""
        target = httpx.URL(url + original_path(request, path), query=request.scope["query_string"] or None)
        headers = _headers(request, number, token if path.startswith(_INTERNAL) else "")
        sent = self._client.build_request(request.method, target, headers=headers, content=body)
        try:
            async with asyncio.timeout(self._within_s):
                answer = await self._client.send(sent, stream=True)
        except (httpx.HTTPError, TimeoutError) as error:
            return _unavailable([number], type(error).__name__)
        headers = {name: value for name, value in answer.headers.items() if name not in _HOP_HEADERS}
        return StreamingResponse(
            _pass_through(answer), answer.status_code, headers, background=BackgroundTask(answer.aclose)
        )

    async def _fetch(
        self,
        request: Request,
        number: int,
        body: bytes = b"",
        query: Mapping[str, str] | None = None,
        *,
        path: str = "",
        method: str = "",
    ) -> Response:
        if (found := self._target(number, only_own=False)) is None:
            return _unavailable([number])
        url, token = found
        try:
            async with asyncio.timeout(self._within_s):
                parameters = request.query_params if query is None else query
                async with self._client.stream(
                    method or request.method,
                    url + (path or original_path(request, path_of(request))),
                    params=dict(parameters),
                    headers=_headers(request, number, token if path.startswith(_INTERNAL) else ""),
                    content=body,
                ) as answer:
                    read = bytearray()
                    async for piece in answer.aiter_bytes():
                        read += piece
                        if len(read) > _MAX_LIST_BYTES:
                            return _unavailable([number], "a longer answer than there may be")
        except (httpx.HTTPError, TimeoutError) as error:
            return _unavailable([number], type(error).__name__)
        headers = {
            name: value for name, value in answer.headers.items() if name in ("content-type", "www-authenticate")
        }
        return Response(bytes(read), answer.status_code, headers)

    async def _fetch_all(self, request: Request, query: Mapping[str, str] | None = None) -> list[PartitionAnswer]:
        """Send the same request to each partition."""

        async def one(number: int) -> PartitionAnswer:
            answer = await self._fetch(request, number, b"", query)
            try:
                body = json.loads(bytes(answer.body))
            except ValueError:
                return PartitionAnswer(number, {}, 502, "no JSON")
            problem = "" if answer.status_code == 200 else str(body.get("error", answer.status_code))
            return PartitionAnswer(number, body, answer.status_code, problem)

        return list(await asyncio.gather(*(one(number) for number in range(self._partitions))))


def _merge_sorted(rows: list[dict[str, Any]], order: str, is_descending: bool) -> list[dict[str, Any]]:
    """Merge rows of several pages into their common order."""
    column = _COLUMNS.get(order, order)
    with_value = [row for row in rows if row.get(column) is not None]
    with_value.sort(key=lambda row: str(row["job"]))
    with contextlib.suppress(TypeError):
        with_value.sort(key=lambda row: row[column], reverse=is_descending)
    return [*with_value, *(row for row in rows if row.get(column) is None)]


def _merge_answers(answers: Sequence[PartitionAnswer], **fields: Any) -> Response:
    """Return the first answer with other fields; a header lists the missing partitions."""
    first = next(answer.body for answer in answers if not answer.problem)
    missing = ",".join(str(answer.partition) for answer in answers if answer.problem)
    return JSONResponse({**first, **fields}, headers={MISSING_HEADER: missing} if missing else None)


def _refusal(answers: Sequence[PartitionAnswer]) -> Response | None:
    """Return the error if no partition gave a list: a denied request, or unavailable partitions."""
    if any(not answer.problem for answer in answers):
        return None
    worst = min(answers, key=lambda answer: answer.status)
    headers = {"www-authenticate": 'Basic realm="iotide", charset="UTF-8"'} if worst.status == 401 else None
    return JSONResponse(worst.body or {"error": worst.problem, "expected": "another try"}, worst.status, headers)


def _unavailable(numbers: Sequence[int] | range, reason: str = "no member serves it") -> Response:
    named = ", ".join(map(str, numbers))
    text = {"error": f"partition {named} does not answer: {reason}", "expected": "another try in some seconds"}
    return JSONResponse(text, 503, {"retry-after": "5"})


def _headers(request: Request, number: int, token: str) -> dict[str, str]:
    left_out = {*_HOP_HEADERS, _FORWARDED, MEMBER_HEADER}
    kept = {name: value for name, value in request.headers.items() if name not in left_out}
    return {**kept, _FORWARDED: str(number), **({MEMBER_HEADER: token} if token else {})}


def _number(text: str, default: int) -> int:
    """Return a number of a path or query; ``default`` if it is none."""
    if not (text.isascii() and text.isdecimal()):
        return default
    return int(text) if len(text) < len(str(_MAX_NUMBER)) else _MAX_NUMBER


async def _pass_through(answer: httpx.Response) -> AsyncIterator[bytes]:
    with contextlib.suppress(httpx.HTTPError):  # the owner ended, and so does this connection
        async for piece in answer.aiter_raw():
            yield piece
