"""HTTP: Prometheus metrics, health, and the results as JSON with an OpenAPI document."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Annotated, Protocol

from fastapi import FastAPI, HTTPException, Query, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from starlette.exceptions import HTTPException as AnyHTTPException

from ... import __version__
from ...analyzers.dfg.compare import compare
from ...analyzers.dfg.merge import union_of
from ...analyzers.interaction.settings import InteractionSettings
from ...analyzers.layers.report.report import Cut
from ...analyzers.pipeline.contract import AnalyzerKind
from ...analyzers.pipeline.job_interactions import rank_jobs
from ...analyzers.pipeline.registry import ANALYZERS
from ...results.dfg import Comparison, Graph
from ...results.interaction import Culprits, Ranking
from ...results.layers import Layers
from ...results.models import JobDetail, JobList, Prediction, SignalSeries
from ..aggregator import Aggregator
from ..jobs.culprits import frozen_culprits, shared_by
from ..jobs.failures import AnalysisFailedError
from ..jobs.job_ids import clean_job
from ..jobs.job_summary import detail_of, summary_of
from ..jobs.session import PREDICTION, SIGNAL, JobSession


class Pages(Protocol):
    """Draws graphs and layers as pages for a browser; called from a thread."""

    def current(self, name: str) -> str | None:
        """Returns a page that need not be drawn again yet."""
        ...

    def draw(self, name: str, graph: Graph, comparison: Comparison | None = None, *, losses: Mapping[str, int]) -> str:
        """Draws a page; with a comparison, of both graphs together. ``losses``: what of the jobs was lost."""
        ...

    def draw_layers(self, name: str, layers: Layers, *, losses: Mapping[str, int]) -> str:
        """Draws the page of a job's layers, likewise."""
        ...


def make_application(
    aggregator: Aggregator,
    registry: CollectorRegistry,
    not_ready: Callable[[], str],
    clock: Callable[[], float],
    pages: Pages | None = None,
) -> FastAPI:
    """Makes the application.

    Args:
        aggregator: whose jobs are shown.
        registry: what /metrics exposes.
        not_ready: says why the aggregator cannot work now, or "".
        clock: Unix time.
        pages: draws the pages of graphs; without it there are none.
    """
    app = FastAPI(title="iotide", version=__version__, openapi_url="/api/v1/openapi.json", docs_url="/api/v1/docs")
    app.router.redirect_slashes = False

    def session_of(job: str) -> JobSession:
        session = aggregator.jobs.get(job)
        if session is None and aggregator.unheld.refused(clean_job(job)):
            error = f"job {job!r} was refused, as max_jobs = {aggregator.settings.max_jobs} jobs are held"
            raise HTTPException(404, {"error": error, "expected": "a job of /api/v1/jobs, or a larger max_jobs"})
        if session is None:
            raise HTTPException(404, {"error": f"no job {job!r}", "expected": "a job of /api/v1/jobs"})
        return session

    @app.exception_handler(AnyHTTPException)
    async def explain(_: Request, error: AnyHTTPException) -> JSONResponse:
        detail: object = error.detail
        if not isinstance(detail, dict):
            detail = {"error": str(detail), "expected": "a path of /api/v1/openapi.json"}
        return JSONResponse(detail, error.status_code)

    @app.exception_handler(AnalysisFailedError)
    async def tell_failure(_: Request, error: AnalysisFailedError) -> JSONResponse:
        return JSONResponse({"error": str(error), "expected": "a job whose analysis did not break"}, 503)

    @app.head("/metrics", include_in_schema=False)
    @app.get("/metrics", include_in_schema=False)
    async def metrics(request: Request) -> Response:
        encode, content_type = choose_encoder(request.headers.get("accept", ""))
        return Response(encode(registry), media_type=content_type)

    @app.head("/healthz", include_in_schema=False)
    @app.get("/healthz", response_class=PlainTextResponse)
    async def healthz() -> str:
        """Answers as long as the event loop turns."""
        return "ok\n"

    @app.head("/readyz", include_in_schema=False)
    @app.get("/readyz", response_class=PlainTextResponse)
    async def readyz() -> PlainTextResponse:
        """Says whether batches are taken in and predictions made."""
        reason = not_ready()
        return PlainTextResponse(f"{reason or 'ready'}\n", 503 if reason else 200)

    def latest(jobs: int | None = None) -> list[JobSession]:
        return sorted(aggregator.jobs.values(), key=lambda session: -session.heard_at_s)[:jobs]

    @app.get("/api/v1/jobs")
    async def jobs() -> JobList:
        """Lists all jobs, the latest active first."""
        now = clock()
        return JobList(jobs=[summary_of(session, now) for session in latest()])

    # Before the plain job: an id may contain slashes, and the longer path must win.
    @app.get("/api/v1/jobs/{job:path}/prediction")
    async def prediction(job: str) -> Prediction:
        """Returns a job's last prediction."""
        session = session_of(job)
        session.failures.check(SIGNAL)
        last = session.prediction
        if last is None:
            session.failures.check(PREDICTION, ever=True)
            raise HTTPException(404, {"error": f"job {job!r} has no prediction yet", "expected": "a job with events"})
        return last

    @app.get("/api/v1/jobs/{job:path}/signal")
    async def signal(job: str, last_s: Annotated[float | None, Query(gt=0)] = None) -> SignalSeries:
        """Returns a job's bandwidth over time, all that is kept or the last seconds."""
        return session_of(job).signal(last_s)

    one_graph_at_a_time = asyncio.Lock()

    async def in_thread(work: Callable[[], str], about: tuple[JobSession, str] | None = None) -> str:
        """Has a thread do what takes tens of milliseconds, so that batches are taken in meanwhile.

        What it raises is the failure of the job's analysis that it is about.
        """
        async with one_graph_at_a_time:
            with contextlib.nullcontext() if about is None else about[0].failures.asking(about[1]):
                return await asyncio.to_thread(work)

    def graph_of(job: str) -> Callable[[], Graph]:
        session = session_of(job)
        graph = session.graph
        if graph is None:
            raise HTTPException(
                404, {"error": f"job {job!r} has no graph", "expected": "a job with events, and dfg.enabled"}
            )
        with session.failures.asking("graph"):
            return graph.frozen()

    @app.get("/api/v1/jobs/{job:path}/dfg", response_model=Graph | Comparison)
    async def dfg(job: str, versus: str | None = None) -> Response:
        """Returns a job's directly-follows graph of now, or what sets it apart from another job's."""
        green = graph_of(job)
        if versus is None:
            text = await in_thread(lambda: green().model_dump_json(), (session_of(job), "graph"))
        else:
            red = graph_of(versus)
            text = await in_thread(
                lambda: compare(green(), red(), job, versus).model_dump_json(), (session_of(job), "graph")
            )
        return Response(text, media_type="application/json")

    def layers_of(job: str) -> Callable[[Cut], Layers]:
        session = session_of(job)
        layers = session.layers
        if layers is None:
            raise HTTPException(
                404, {"error": f"job {job!r} has no layers", "expected": "a job with events, and layers.enabled"}
            )
        with session.failures.asking("layers"):
            return layers.frozen()

    @app.get("/api/v1/jobs/{job:path}/layers", response_model=Layers)
    async def layers(job: str, top: Annotated[int, Query(ge=1, le=10_000)] = 200) -> Response:
        """Returns what each layer of a job does, now; of handles and files those with the most time."""
        report = layers_of(job)
        cut = Cut(handles=top, files=top)
        text = await in_thread(lambda: report(cut).model_dump_json(), (session_of(job), "layers"))
        return Response(text, media_type="application/json")

    @app.get("/api/v1/jobs/{job:path}/rank", response_model=Ranking)
    async def rank(job: str) -> Response:
        """Returns who interacts with whom in a job, and who matters, now."""
        session = session_of(job)
        interactions = session.interactions
        if interactions is None:
            raise HTTPException(
                404, {"error": f"job {job!r} has no ranking", "expected": "a job with events, and rank.enabled"}
            )
        with session.failures.asking("interactions"):
            frozen = interactions.frozen()
        text = await in_thread(lambda: frozen().model_dump_json(), (session, "interactions"))
        return Response(text, media_type="application/json")

    def add_result(kind: AnalyzerKind) -> None:
        @app.get(f"/api/v1/jobs/{{job:path}}/{kind.name}", response_model=kind.result, name=kind.name)
        async def result(job: str) -> Response:
            """Returns what an analyzer found in a job, now."""
            session = session_of(job)
            analyzer = session.analyzers.reporting(kind.name)
            if analyzer is None:
                expected = f"a job with events, and analyzers.{kind.name} not switched off"
                raise HTTPException(404, {"error": f"job {job!r} has no {kind.name}", "expected": expected})
            with session.failures.asking(kind.name):
                frozen = analyzer.frozen()
            text = await in_thread(lambda: frozen().model_dump_json(), (session, kind.name))
            return Response(text, media_type="application/json")

    for kind in ANALYZERS.values():
        if kind.result is not None:
            add_result(kind)

    @app.get("/api/v1/jobs/{job:path}/culprits", response_model=Culprits)
    async def culprits(
        job: str,
        from_s: float | None = None,
        to_s: float | None = None,
        top: Annotated[int, Query(ge=1, le=1000)] = 10,
        jobs: Annotated[int, Query(ge=1, le=10_000)] = 1000,
    ) -> Response:
        """Returns what other jobs moved while this one did I/O, in all its time or a part of it."""
        found = frozen_culprits(session_of(job), latest(jobs), from_s, to_s, top)
        if found is None:
            raise HTTPException(404, {"error": f"job {job!r} has done no I/O yet", "expected": "a job with events"})
        return Response(await in_thread(lambda: found().model_dump_json()), media_type="application/json")

    @app.get("/api/v1/rank", response_model=Ranking)
    async def rank_of_jobs(jobs: Annotated[int, Query(ge=1, le=10_000)] = 1000) -> Response:
        """Returns how the latest active jobs interact through the files that they share."""
        sessions = latest(jobs)
        known = shared_by(sessions)
        settings = sessions[0].settings.rank if sessions else InteractionSettings()
        text = await in_thread(lambda: rank_jobs(known, settings).model_dump_json())
        return Response(text, media_type="application/json")

    if pages is not None:

        @app.get("/jobs/{job:path}/dfg", response_class=HTMLResponse, include_in_schema=False)
        async def page(job: str, versus: str | None = None) -> str:
            """Shows a job's graph, or its and another's, while they grow."""
            name = f"{job}\n{versus or ''}"
            if job in aggregator.jobs and (known := pages.current(name)) is not None:
                return known
            green = graph_of(job)
            losses = Counter(session_of(job).losses.total)
            if versus is None:
                return await in_thread(lambda: pages.draw(name, green(), losses=losses), (session_of(job), "graph"))
            red = graph_of(versus)
            losses.update(session_of(versus).losses.total)

            def drawn() -> str:
                one, other = green(), red()
                return pages.draw(name, union_of(one, other), compare(one, other, job, versus), losses=losses)

            return await in_thread(drawn, (session_of(job), "graph"))

        @app.get("/jobs/{job:path}/layers", response_class=HTMLResponse, include_in_schema=False)
        async def layers_page(job: str) -> str:
            """Shows a job's layers."""
            name = f"layers\n{job}"
            if job in aggregator.jobs and (known := pages.current(name)) is not None:
                return known
            report, losses = layers_of(job), Counter(session_of(job).losses.total)
            return await in_thread(
                lambda: pages.draw_layers(name, report(Cut()), losses=losses), (session_of(job), "layers")
            )

    @app.get("/api/v1/jobs/{job:path}")
    async def job_detail(job: str, top: Annotated[int, Query(ge=0, le=10_000)] = 20) -> JobDetail:
        """Returns a job with its largest files and calls."""
        return detail_of(session_of(job), clock(), top)

    return app
