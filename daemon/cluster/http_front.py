"""One HTTP address for all jobs of a cluster. Lists are merged, and requests on one job are forwarded to its owner."""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from ...results.base import MODELS_VERSION
from ..publish.http.job_paths import JobPaths
from ..publish.http.request_bounds import explain
from .cross_partition import MISSING_HEADER, CrossPartitionQueries
from .members import Member, public_data
from .partition_requests import Pairs, PartitionRequests, partitions_of_path, path_of, unserved

_MAX_NUMBER: Final = 10**9
"""Value of longer numbers in a path or query; ``int`` refuses those of thousands of digits."""
_JOB_PREFIXES: Final = ("/api/v1/jobs/", "/jobs/")
_MAX_PAGE: Final = 500
_MAX_NAME: Final = 200
_NOT_FOUND: Final = 404
_COLUMNS: Final = {
    "period": "period_s",
    "next": "next_start_s",
    "read": "bytes_read",
    "written": "bytes_written",
    "last": "last_event_at_s",
}
"""Column of a page's rows by sort order, where the names differ."""


Handler = Callable[[Request], Awaitable[Response]]


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
        self._partitions, self._members, self._own = partitions, members, own
        self._metrics, self._not_ready = metrics, not_ready
        self._requests = PartitionRequests(members, own, name, within_s, trust, token)
        fetch = self._requests.fetch
        self.app = Starlette(
            routes=[
                Route("/healthz", self._healthz),
                Route("/readyz", self._readyz),
                # Prometheus asks members and partitions with the same parameters.
                Route("/metrics", _refusing_parameters(self._own_metrics, "jobs")),
                Route("/api/v1/cluster", _refusing_parameters(self._cluster)),
                Route("/api/v1/prometheus", _refusing_parameters(self._discovery)),
                Route("/partitions/{number}/internal/{rest:path}", self._to_partition, methods=["GET", "POST"]),
                Route("/partitions/{number}/{rest:path}", self._to_partition),
                *CrossPartitionQueries(partitions, fetch, self._any_partition, self._forward_to_owner).routes,
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
        return min(self._requests.reachable(), key=lambda number: (number not in self._own(), number), default=None)

    def note_owners(self) -> None:
        """Note which partitions have an owner now; call it when owners may have changed."""
        self._requests.note_owners()

    async def close(self) -> None:
        """Close all connections."""
        await self._requests.close()

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
        query = request.query_params
        begin, count = _number(query.get("begin", "0"), -1), _number(query.get("count", "50"), -1)
        if begin < 0 or not 1 <= count <= _MAX_PAGE or len(query.multi_items()) > len(query):
            return await self._forward_to_owner(request)  # which says what is wrong
        others = [(name, value) for name, value in query.multi_items() if name not in ("begin", "count")]
        pages = []
        for at in range(0, begin + count, _MAX_PAGE):
            some = min(_MAX_PAGE, begin + count - at)
            pages.append(await self._fetch_all(request, [*others, ("begin", str(at)), ("count", str(some))]))
            if not any(len(answer.body["jobs"]) == some for answer in pages[-1] if not answer.problem):
                break  # no partition has further jobs
        if (refused := _refusal(pages[0])) is not None:
            return refused
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
        requests = self._requests
        results = await asyncio.gather(*(requests.fetch(request, number, body) for number in requests.reachable()))
        if not results:
            return unserved(range(self._partitions))
        return max(results, key=lambda each: each.status_code)

    async def _to_partition(self, request: Request) -> Response:
        text = request.path_params["number"]
        number = _number(text, self._partitions)
        if number >= self._partitions:
            return JSONResponse({"error": f"there is no partition {text}", "expected": "one of /api/v1/cluster"}, 404)
        return await self._requests.stream(request, number, "/" + path_of(request).split("/", 3)[3])

    async def _forward_to_owner(self, request: Request) -> Response:
        """Forward a request on a job to its owner, and others to any partition."""
        path = path_of(request)
        prefix = next((prefix for prefix in _JOB_PREFIXES if path.startswith(prefix)), None)
        if prefix is None:
            if (anyone := self._any_partition()) is None:
                return unserved(range(self._partitions))
            return await self._requests.stream(request, anyone, path)
        answer: Response | None = None
        for number in partitions_of_path(path.removeprefix(prefix), self._partitions):
            if answer is not None and isinstance(answer, StreamingResponse) and answer.background is not None:
                await answer.background()
            answer = await self._requests.stream(request, number, path)
            if answer.status_code != _NOT_FOUND:
                return answer
        return answer or JSONResponse({"error": "no job is named", "expected": "the id of a job"}, _NOT_FOUND)

    async def _fetch_all(self, request: Request, query: Pairs | None = None) -> list[PartitionAnswer]:
        """Send the same request to each partition."""

        async def one(number: int) -> PartitionAnswer:
            answer = await self._requests.fetch(request, number, b"", query)
            try:
                body = json.loads(bytes(answer.body))
            except ValueError:
                return PartitionAnswer(number, {}, 502, "no JSON")
            problem = "" if answer.status_code == 200 else str(body.get("error", answer.status_code))
            return PartitionAnswer(number, body, answer.status_code, problem)

        return list(await asyncio.gather(*(one(number) for number in range(self._partitions))))


def _refusing_parameters(route: Handler, *known: str) -> Handler:
    """Return a route that refuses other query parameters, and repeated ones, as those of partitions do."""

    async def answer(request: Request) -> Response:
        names = [name for name, _ in request.query_params.multi_items()]
        for name in names:
            if name in known and names.count(name) == 1:
                continue
            reason = "given twice" if name in known else f"unknown; known are: {', '.join(known) or 'none'}"
            text = {"error": f"query {name[:_MAX_NAME]}: {reason}", "expected": "a request as in docs/api.md"}
            return JSONResponse(text, 422)
        return await route(request)

    return answer


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


def _number(text: str, default: int) -> int:
    """Return a number of a path or query; ``default`` if it is none."""
    if not (text.isascii() and text.isdecimal()):
        return default
    return int(text) if len(text) < len(str(_MAX_NUMBER)) else _MAX_NUMBER
