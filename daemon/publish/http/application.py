"""The HTTP application: Prometheus metrics, health, and the results as JSON with an OpenAPI document."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Final

from fastapi import FastAPI, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from starlette.exceptions import HTTPException

from .... import __version__
from ....results.base import RequestError
from ...aggregator import Aggregator
from ...contention import ContentionWatch
from ...jobs.losses.failures import AnalysisFailedError
from ...pacing_plans import PacingPlans
from ..metrics import AggregatorCollector
from ..status import StatusReport
from .job_access import JobAccess
from .job_paths import JobPaths
from .query_parameters import NO_UNKNOWN_PARAMETERS
from .request_bounds import explain
from .routes.fleet_routes import contention_routes, fleet_routes, pacing_routes, status_routes
from .routes.job_routes import analysis_routes, detail_route, job_routes, prediction_routes
from .routes.live_io_routes import live_io_routes
from .routes.live_routes import job_page_route, shell_routes
from .routes.page_routes import Pages, page_routes

_MAX_TEXT: Final = 200
ANY_ERROR: Final[Mapping[int | str, dict[str, Any]]] = {
    "default": {"model": RequestError, "description": "The request was refused, or failed"}
}
"""The errors of all routes, for the OpenAPI document. FastAPI would describe its own form of 422 instead."""


def answer_errors(app: FastAPI) -> None:
    """Let an application answer all errors as ``RequestError``."""
    app.add_exception_handler(HTTPException, explain)
    app.add_exception_handler(RequestValidationError, _explain_invalid)
    app.add_exception_handler(AnalysisFailedError, _explain_failed_analysis)
    app.add_exception_handler(Exception, _explain_crash)


async def _explain_invalid(_: Request, error: Exception) -> Response:
    found: Sequence[Any] = error.errors() if isinstance(error, RequestValidationError) else []
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    return _answer(422, f"{_text_of(found[0]) if found else error}{more}", "a request as in /api/v1/openapi.json")


def _text_of(problem: Mapping[str, Any]) -> str:
    """Return the place of a problem, and its cause, without the value, which may be long."""
    place = " ".join(str(each) for each in problem.get("loc", ()))
    return f"{place[:_MAX_TEXT]}: {str(problem.get('msg', ''))[:_MAX_TEXT]}"


async def _explain_failed_analysis(_: Request, error: Exception) -> Response:
    return _answer(503, str(error), "a job whose analysis did not break")


async def _explain_crash(_: Request, error: Exception) -> Response:
    return _answer(500, f"the request failed: {type(error).__name__}", "the log has the cause; please report it")


def _answer(status: int, error: str, expected: str) -> Response:
    return JSONResponse({"error": error, "expected": expected}, status)


_AS_TEXT: Final[dict[int | str, dict[str, Any]]] = {"default": {"description": "The reason, as text for probes"}}


def make_application(
    aggregator: Aggregator,
    metrics_of: AggregatorCollector,
    not_ready: Callable[[], str],
    clock: Callable[[], float],
    pages: Pages | None = None,
    contention: ContentionWatch | None = None,
    plans: PacingPlans | None = None,
    report: StatusReport | None = None,
    *,
    in_cluster: bool = False,
    archives: bool = False,
) -> FastAPI:
    """Create the application.

    Args:
        aggregator: aggregator of the jobs.
        metrics_of: collector for /metrics.
        not_ready: returns why the aggregator cannot work now, or "".
        clock: Unix time.
        pages: renders the pages; None for no pages.
        contention: detects contention between jobs; None if it is off.
        plans: plans of schedulers; None without collectors.
        report: returns the state of the aggregator; None: no /api/v1/status.
        in_cluster: whether to add the routes by which members of a cluster get data of partitions.
        archives: whether the calls of jobs are archived.
    """
    # FastAPI's own pages load scripts of another host. `shell_routes` has a page of the API without.
    app = FastAPI(
        title="iotide",
        version=__version__,
        openapi_url=None,  # its own route has no rule for parameters
        docs_url=None,
        redoc_url=None,
        responses=dict(ANY_ERROR),
    )
    app.router.redirect_slashes = False
    app.add_middleware(JobPaths)
    answer_errors(app)

    @app.head("/metrics", include_in_schema=False, dependencies=NO_UNKNOWN_PARAMETERS)
    @app.get("/metrics", include_in_schema=False, dependencies=NO_UNKNOWN_PARAMETERS)
    async def metrics(request: Request, jobs: Annotated[int | None, Query(ge=0)] = None) -> Response:
        gathered = await metrics_of.gathered(jobs)
        body, content_type = await asyncio.to_thread(gathered.encode, request.headers.get("accept", ""))
        return Response(body, media_type=content_type)

    @app.get("/api/v1/openapi.json", include_in_schema=False, dependencies=NO_UNKNOWN_PARAMETERS)
    async def document() -> JSONResponse:
        return JSONResponse(app.openapi())

    @app.head("/healthz", include_in_schema=False)
    @app.get("/healthz", response_class=PlainTextResponse, responses=_AS_TEXT)
    async def healthz() -> str:
        """Answer while the event loop is running."""
        return "ok\n"

    @app.head("/readyz", include_in_schema=False)
    @app.get("/readyz", response_class=PlainTextResponse, responses=_AS_TEXT)
    async def readyz() -> PlainTextResponse:
        """Report whether batches are processed and predictions made."""
        reason = not_ready()
        return PlainTextResponse(f"{reason or 'ready'}\n", 503 if reason else 200)

    access = JobAccess(aggregator, clock, contention, archives=archives)
    # A job's id may contain slashes, so the longer path must come first.
    results = [
        job_routes(access),
        prediction_routes(access),
        analysis_routes(access),
        contention_routes(contention),
        live_io_routes(access, contention),
    ]
    if in_cluster:
        from .routes.partition_routes import partition_routes

        results.append(partition_routes(access, aggregator.settings.rank))
    if report is not None:
        results.append(status_routes(report))
    if plans is not None:
        results.append(pacing_routes(plans))
    for router in (*results, fleet_routes(aggregator, clock, contention)):
        app.include_router(router, dependencies=NO_UNKNOWN_PARAMETERS)
    if pages is not None:
        app.include_router(shell_routes(pages))
        app.include_router(page_routes(access, pages))
        app.include_router(job_page_route(access, pages))
    app.include_router(detail_route(access), dependencies=NO_UNKNOWN_PARAMETERS)
    return app
