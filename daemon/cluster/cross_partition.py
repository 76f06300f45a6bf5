"""Answers requests about the jobs of several partitions. A member collects their data, and one process computes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, Final, Protocol

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ...events import ProtocolError
from ...events.network.job_addresses import job_path
from ..jobs.encoding.job_rows import JobRow, decode_rows, decode_span, encode_rows
from ..jobs.job_ids import clean_job
from .partition_requests import Pairs
from .partitions import partitions_with

MISSING_HEADER: Final = "x-iotide-missing-partitions"
"""Header that lists the partitions that did not answer in time."""
_OK: Final = 200
_MAX_JOBS: Final = 1000
"""Default of ``jobs``, the same as in a single aggregator."""


class SendRequest(Protocol):
    """Sends a request to a partition and returns the whole answer."""

    def __call__(
        self,
        request: Request,
        number: int,
        body: bytes = b"",
        query: Pairs | None = None,
        *,
        path: str = "",
        method: str = "",
    ) -> Awaitable[Response]:
        """Send the request; ``path`` and ``method``, if given, replace those of the request."""
        ...


class CrossPartitionQueries:
    """Routes of requests about the jobs of several partitions.

    Args:
        partitions: number of partitions.
        ask: sends a request to a partition.
        anyone: returns a partition that can compute, preferably one of this machine; None if there is none.
        forward: forwards a request to the partition of the job in its path.
    """

    def __init__(
        self,
        partitions: int,
        ask: SendRequest,
        anyone: Callable[[], int | None],
        forward: Callable[[Request], Awaitable[Response]],
    ) -> None:
        self._partitions, self._ask, self._anyone, self._forward = partitions, ask, anyone, forward

    @property
    def routes(self) -> list[Route]:
        """The routes; they must precede the routes that forward."""
        return [
            Route("/api/v1/rank", self._rank),
            Route("/api/v1/live-io", self._live_io),
            Route("/api/v1/jobs/{job:job}/culprits", self._culprits),
            Route("/api/v1/jobs/{job:job}/dfg", self._dfg),
            Route("/jobs/{job:job}/dfg", self._dfg_page),
        ]

    async def _rank(self, request: Request) -> Response:
        most = _number(request, "jobs", _MAX_JOBS)
        query = request.query_params.multi_items()
        rows, missing, refused = await self._rows(request, range(self._partitions), query, most)
        number = self._anyone()
        if refused is not None or number is None:
            return refused or _unserved()
        answer = await self._ask(request, number, encode_rows(rows), (), path="/internal/rank", method="POST")
        return _with_missing(answer, missing)

    async def _culprits(self, request: Request) -> Response:
        if _has_others(request, "from_s", "to_s", "top", "jobs"):
            return await self._forward(request)
        job, query = request.path_params["job"], request.query_params.multi_items()
        owner = await self._owner(request, job)
        limits = [(name, value) for name, value in query if name == "jobs"]
        parameters = [("job", job), *(pair for pair in query if pair not in limits)]
        answer = await self._ask(request, owner, b"", parameters, path="/internal/span")
        if answer.status_code != _OK:
            return answer
        try:
            span = decode_span(bytes(answer.body))
        except ProtocolError as error:
            return JSONResponse({"error": f"partition {owner}: {error}", "expected": "members of one version"}, 502)
        most = _number(request, "jobs", _MAX_JOBS)
        times = [*limits, ("start_ns", str(span.start_ns)), ("end_ns", str(span.end_ns))]
        rows, missing, refused = await self._rows(request, range(self._partitions), times, most, path="/internal/loads")
        if refused is not None:
            return refused
        found = await self._ask(request, owner, encode_rows(rows), parameters, path="/internal/culprits", method="POST")
        return _with_missing(found, missing)

    async def _live_io(self, request: Request) -> Response:
        answers = await asyncio.gather(*(self._ask(request, number) for number in range(self._partitions)))
        bodies = [json.loads(bytes(answer.body)) for answer in answers if answer.status_code == _OK]
        if not bodies:
            return min(answers, key=lambda answer: answer.status_code)
        jobs = sorted((job for body in bodies for job in body["jobs"]), key=lambda job: -job["phase"]["end_s"])
        known = [body["capacity"] for body in bodies if body["capacity"]["known"] != "unknown"]
        merged = {
            **bodies[0],
            "made_at_s": max(body["made_at_s"] for body in bodies),
            "gap_s": max(body["gap_s"] for body in bodies),
            "capacity": (known or [bodies[0]["capacity"]])[0],
            "jobs": jobs[: _number(request, "jobs", _MAX_JOBS)],
        }
        missing = [number for number, answer in enumerate(answers) if answer.status_code != _OK]
        return _with_missing(JSONResponse(merged), missing)

    async def _dfg(self, request: Request) -> Response:
        job, versus = request.path_params["job"], request.query_params.get("versus")
        if versus is None or _has_others(request, "versus"):
            return await self._forward(request)
        owner, other = await self._owner(request, job), await self._owner(request, versus)
        if owner == other:
            return await self._forward(request)
        path = f"/api/v1/jobs/{job_path(versus)}/dfg"
        red = await self._ask(request, other, b"", (), path=path)
        if red.status_code != _OK:
            return red
        names = [("job", job), ("versus", versus)]
        body = bytes(red.body)
        return await self._ask(request, owner, body, names, path="/internal/dfg", method="POST")

    async def _dfg_page(self, request: Request) -> Response:
        job, versus = request.path_params["job"], request.query_params.get("versus")
        if versus is None or await self._owner(request, versus) == await self._owner(request, job):
            return await self._forward(request)
        error = f"jobs {job!r} and {versus!r} are in different partitions, and the page draws jobs of one"
        expected = f"/api/v1/jobs/{job_path(job)}/dfg?versus={job_path(versus)}, or iotide dfg with their archives"
        return JSONResponse({"error": error, "expected": expected}, 501)

    async def _owner(self, request: Request, job: str) -> int:
        first, *others = partitions_with(clean_job(job), self._partitions)
        for number in others:
            if (await self._ask(request, number, b"", (), path=f"/api/v1/jobs/{job_path(job)}")).status_code == _OK:
                return number
        return first

    async def _rows(
        self, request: Request, numbers: range, query: Pairs, most: int, path: str = "/internal/jobs"
    ) -> tuple[list[JobRow], list[int], Response | None]:
        """Return rows of the most recently active jobs.

        It also returns partitions without an answer, and an error if none answered.
        """
        answers = await asyncio.gather(*(self._ask(request, number, b"", query, path=path) for number in numbers))
        rows: list[JobRow] = []
        missing = []
        for number, answer in zip(numbers, answers, strict=True):
            try:
                rows += decode_rows(bytes(answer.body)) if answer.status_code == _OK else []
            except ProtocolError:
                missing.append(number)
            else:
                missing += [number] * (answer.status_code != _OK)
        rows.sort(key=lambda row: -row.last_s)
        refused = min(answers, key=lambda answer: answer.status_code) if len(missing) == len(numbers) else None
        return rows[:most], missing, refused


def _number(request: Request, name: str, default: int) -> int:
    text: Any = request.query_params.get(name, "")
    return max(int(text), 1) if text.isdecimal() and len(text) < 6 else default


def _has_others(request: Request, *known: str) -> bool:
    """Return whether a query has other parameters, or one twice. The partition of the job refuses it."""
    names = [name for name, _ in request.query_params.multi_items()]
    return len(set(names)) < len(names) or not set(names) <= set(known)


def _with_missing(answer: Response, missing: list[int]) -> Response:
    if missing:
        answer.headers[MISSING_HEADER] = ",".join(map(str, missing))
    return answer


def _unserved() -> Response:
    error = {"error": "no member serves a partition", "expected": "another try in some seconds"}
    return JSONResponse(error, 503, {"retry-after": "5"})
