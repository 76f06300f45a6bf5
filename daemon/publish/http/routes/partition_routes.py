"""Routes by which members of a cluster get data of partitions. Requests about the jobs of several of them need it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Annotated, Final

import msgspec
from fastapi import APIRouter, HTTPException, Query, Request, Response
from pydantic import ValidationError

from .....analyzers.dfg.compare import compare
from .....analyzers.interaction.interference import Load
from .....analyzers.interaction.settings import InteractionSettings
from .....analyzers.pipeline.job_interactions import rank_jobs
from .....events import ConfigError, ProtocolError
from .....results.dfg import Graph
from ....jobs.encoding.job_rows import MAX_BYTES, JobRow, TimeSpan, decode_rows, encode_rows, load_row, other_jobs
from ....jobs.encoding.shared_files import SharedFiles, encode_shared
from ....jobs.interference import examined_span, frozen_interference, load_of, shared_files
from ....jobs.losses.failures import AnalysisFailedError
from ....jobs.session import JobSession
from ..job_access import JobAccess, not_found
from ..query_parameters import JobCount, Moment, TopCount

_Time = Annotated[int, Query(ge=0)]
_MSGPACK: Final = "application/msgpack"


def partition_routes(access: JobAccess, settings: InteractionSettings) -> APIRouter:
    """Return the routes below ``/internal``. Only members can use them, with the rights of the requesting user.

    Args:
        access: finds the jobs that the user may see.
        settings: settings of the ranking.
    """
    router = APIRouter(include_in_schema=False)

    @router.get("/internal/jobs")
    async def rows(jobs: JobCount = 1000) -> Response:
        """Return the use of files by the most recently active jobs."""
        return await _encoded_rows(access, jobs, None)

    @router.get("/internal/loads")
    async def loads(start_ns: _Time, end_ns: _Time, jobs: JobCount = 1000) -> Response:
        """Return the use of files by the most recently active jobs, and their traffic between two times."""
        return await _encoded_rows(access, jobs, (start_ns, end_ns))

    @router.get("/internal/span")
    async def span(job: str, from_s: Moment = None, to_s: Moment = None, top: TopCount = 10) -> Response:
        """Return the time in which other jobs may have disturbed a job."""
        session = access.session(job)
        found = examined_span(session, from_s, to_s)
        if found is None:
            raise not_found(f"job {job!r} has done no I/O yet", "a job with events")
        return Response(msgspec.msgpack.encode(TimeSpan(*found, session.own_clock)), media_type=_MSGPACK)

    @router.post("/internal/rank")
    async def rank(request: Request) -> Response:
        """Rank the jobs of the body."""
        files, _ = _read(await _body(request))
        return await access.as_json(_of_body(lambda: rank_jobs(files, settings).model_dump_json()))

    @router.post("/internal/culprits")
    async def culprits(
        request: Request,
        job: str,
        from_s: Moment = None,
        to_s: Moment = None,
        top: TopCount = 10,
    ) -> Response:
        """Return the traffic of the jobs of the body while a job did I/O."""
        files, loads = _read(await _body(request))
        found = frozen_interference(access.session(job), (), from_s, to_s, top, files, loads)
        if found is None:
            raise not_found(f"job {job!r} has done no I/O yet", "a job with events")
        return await access.as_json(_of_body(lambda: found().model_dump_json()))

    @router.post("/internal/dfg")
    async def dfg(request: Request, job: str, versus: str) -> Response:
        """Compare a job's graph with the graph of the body."""
        red = _graph_of(await _body(request))
        own = access.graph(job)
        green = await access.in_thread(lambda: own().model_dump_json(), (access.session(job), "graph"))

        def compared() -> str:
            return compare(Graph.model_validate_json(green), red, job, versus).model_dump_json()

        return await access.as_json(_of_body(compared))  # a bad body is no failure of the job's analysis

    return router


async def _encoded_rows(access: JobAccess, jobs: int, between: tuple[int, int] | None) -> Response:
    found = [_job_row(session, between) async for session in access.sessions(jobs)]
    return Response(encode_rows([row for row in found if row is not None]), media_type=_MSGPACK)


def _job_row(session: JobSession, span: tuple[int, int] | None) -> JobRow | None:
    """Return the use of files by a job, with its traffic in a time span; None if its clock has no time of day."""
    row = JobRow(session.job, session.heard_at_s)
    for files in shared_files([session]):
        row.files = encode_shared(files)
    first, last = session.first_ns, session.last_ns
    if span is not None and first is not None and last is not None:
        if session.own_clock:
            return None
        if first < span[1] and last > span[0]:
            with contextlib.suppress(AnalysisFailedError):
                row.load = load_row(load_of(session, *span))
    return row


def _of_body(work: Callable[[], str]) -> Callable[[], str]:
    """Return work on a body, whose values may contradict each other."""

    def done() -> str:
        try:
            return work()
        except (ConfigError, ValueError, KeyError, ArithmeticError) as error:
            raise _bad_request(f"values that contradict each other: {error}") from None

    return done


def _read(body: bytes) -> tuple[list[SharedFiles], list[Load]]:
    try:
        return other_jobs(decode_rows(body))
    except ProtocolError as error:
        raise _bad_request(str(error)) from None


def _graph_of(body: bytes) -> Graph:
    try:
        return Graph.model_validate_json(body)
    except ValidationError as error:
        raise _bad_request(f"a graph with {error.error_count()} errors") from None


def _bad_request(error: str) -> HTTPException:
    return HTTPException(422, {"error": error, "expected": "the body of another member"})


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MAX_BYTES:
            raise HTTPException(413, {"error": "the body is too long", "expected": f"{MAX_BYTES} bytes at most"})
    return bytes(body)
