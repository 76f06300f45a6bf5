"""Jobs as JSON: list, totals, signal, ledger of events, predictions, and the results of the analyzers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query, Response

from .....analyzers.contention.collision_advice import with_collisions
from .....analyzers.dfg.compare import compare
from .....analyzers.interaction.settings import InteractionSettings
from .....analyzers.interaction.tables import Tables
from .....analyzers.layers.report.report import Cut
from .....analyzers.pipeline.contract import AnalyzerKind
from .....analyzers.pipeline.job_interactions import rank_jobs
from .....analyzers.registry import ANALYZERS
from .....results.advice import Advice
from .....results.dfg import Comparison, Graph
from .....results.interaction import Culprits, Ranking
from .....results.jobs.job import JobDetail, JobList, SignalSeries
from .....results.jobs.ledger import JobLedger
from .....results.layers import Layers
from .....results.prediction import Prediction, PredictionList, TimeLimit
from ....jobs.accounting.job_ledger import ledger_of
from ....jobs.interference import frozen_interference, shared_files
from ....jobs.job_findings import frozen_advice
from ....jobs.job_summary import detail_of, summary_of
from ....jobs.job_table import Card
from ....jobs.session import PREDICTION, SIGNAL, JobSession
from ..job_access import JobAccess, not_found
from ..query_parameters import JobCount, Moment, TopCount


def analysis_routes(access: JobAccess) -> APIRouter:
    """Return the routes of graphs, layers, rankings and culprits.

    Each analyzer with a result of its own has one, too.
    """
    router = APIRouter()

    @router.get("/api/v1/jobs/{job:job}/dfg", response_model=Graph | Comparison)
    async def dfg(job: str, versus: str | None = None) -> Response:
        """Return a job's current directly-follows graph, or its comparison with another job's."""
        green, about = access.graph(job), (access.session(job), "graph")
        if versus is None:
            return await access.as_json(lambda: green().model_dump_json(), about)
        red = access.graph(versus)
        return await access.as_json(lambda: compare(green(), red(), job, versus).model_dump_json(), about)

    @router.get("/api/v1/jobs/{job:job}/layers", response_model=Layers)
    async def layers(job: str, top: Annotated[int, Query(ge=1, le=10_000)] = 200) -> Response:
        """Return the current I/O of a job by layer. Handles and files with the most time."""
        report = access.layers(job)
        cut = Cut(handles=top, files=top)
        return await access.as_json(lambda: report(cut).model_dump_json(), (access.session(job), "layers"))

    @router.get("/api/v1/jobs/{job:job}/rank", response_model=Ranking)
    async def rank(job: str) -> Response:
        """Return the current ranking of interacting members of a job."""
        session = access.session(job)
        interactions = session.interactions
        if interactions is None:
            raise not_found(f"job {job!r} has no ranking", "a job with events, and rank.enabled")
        with session.failures.guard_query("interactions"):
            frozen = interactions.deferred_result()
        return await access.as_json(lambda: frozen().model_dump_json(), (session, "interactions"))

    @router.get("/api/v1/jobs/{job:job}/advice", response_model=Advice)
    async def advice(job: str) -> Response:
        """Return the current cost of a job's I/O, and recommended changes."""
        session = access.session(job)
        with session.failures.guard_query("advice"):
            made = frozen_advice(session)
        if made is None:
            raise not_found(f"job {job!r} has no advice", "a job with events, and analyzers.advice not switched off")
        slowdowns = access.slowdowns(job)
        return await access.as_json(lambda: with_collisions(made(), slowdowns).model_dump_json(), (session, "advice"))

    for kind in ANALYZERS.values():
        if kind.result not in (None, Advice):
            _add_result(router, access, kind)

    _add_interactions_of_jobs(router, access)
    return router


def _add_interactions_of_jobs(router: APIRouter, access: JobAccess) -> None:
    """Add the routes whose results concern several jobs."""

    @router.get("/api/v1/jobs/{job:job}/culprits", response_model=Culprits)
    async def culprits(
        job: str,
        from_s: Moment = None,
        to_s: Moment = None,
        top: TopCount = 10,
        jobs: JobCount = 1000,
    ) -> Response:
        """Return the traffic of other jobs during this job's I/O. It covers its whole time or a part of it."""
        victim = access.session(job)
        found = frozen_interference(victim, [each async for each in access.sessions(jobs)], from_s, to_s, top)
        if found is None:
            raise not_found(f"job {job!r} has done no I/O yet", "a job with events")
        return await access.as_json(lambda: found().model_dump_json())

    @router.get("/api/v1/rank", response_model=Ranking)
    async def rank_of_jobs(jobs: JobCount = 1000) -> Response:
        """Return the interactions of the latest active jobs through shared files."""
        known: list[tuple[str, Tables, Sequence[str]]] = []
        settings = InteractionSettings()
        async for session in access.sessions(jobs):  # queued events of a job may take some milliseconds
            settings = session.settings.rank
            known += shared_files([session])
        return await access.as_json(lambda: rank_jobs(known, settings).model_dump_json())


def _add_result(router: APIRouter, access: JobAccess, kind: AnalyzerKind) -> None:
    @router.get(f"/api/v1/jobs/{{job:job}}/{kind.name}", response_model=kind.result, name=kind.name)
    async def result(job: str) -> Response:
        """Return the current result of an analyzer for a job."""
        session = access.session(job)
        analyzer = session.analyzers.reporting_analyzer(kind.name)
        if analyzer is None:
            expected = f"a job with events, and analyzers.{kind.name} not switched off"
            raise not_found(f"job {job!r} has no {kind.name}", expected)
        with session.failures.guard_query(kind.name):
            frozen = analyzer.deferred_result()
        return await access.as_json(lambda: frozen().model_dump_json(), (session, kind.name))


def job_routes(access: JobAccess) -> APIRouter:
    """Return the routes of all jobs, and of a job's signal and ledger."""
    router = APIRouter()

    @router.get("/api/v1/jobs", response_model=JobList)
    async def jobs(latest: Annotated[int | None, Query(ge=0)] = None) -> Response:
        """List all jobs, or a number of them, latest active first."""
        now = access.clock()

        def row(job: JobSession | Card) -> bytes:
            return job.summary if isinstance(job, Card) else summary_of(job, now).model_dump_json().encode()

        rows = [row(job) async for job in access.latest(latest, make=False)]
        head = JobList(jobs=[]).model_dump_json().encode()
        return Response(head.replace(b"[]", b"[" + b",".join(rows) + b"]"), media_type="application/json")

    @router.get("/api/v1/jobs/{job:job}/ledger")
    async def ledger(job: str) -> JobLedger:
        """Return the numbers of a job's events at each place on their way, and differences."""
        return ledger_of(access.session(job), archives=access.archives)

    @router.get("/api/v1/jobs/{job:job}/signal")
    async def signal(job: str, last_s: Annotated[float | None, Query(gt=0)] = None) -> SignalSeries:
        """Return a job's bandwidth over time, all stored data or the last seconds."""
        return access.session(job).signal(last_s)

    return router


def detail_route(access: JobAccess) -> APIRouter:
    """Return the route of a single job. An id may contain slashes, so routes below a job must come before."""
    router = APIRouter()

    @router.get("/api/v1/jobs/{job:job}")
    async def job_detail(job: str, top: Annotated[int, Query(ge=0, le=10_000)] = 20) -> JobDetail:
        """Return a job with its largest files and calls."""
        return detail_of(access.session(job), access.clock(), top)

    return router


def prediction_routes(access: JobAccess) -> APIRouter:
    """Return the routes of a job's predictions."""
    router = APIRouter()

    @router.get("/api/v1/jobs/{job:job}/prediction")
    async def prediction(job: str) -> Prediction:
        """Return a job's last prediction."""
        session = access.session(job)
        session.failures.check(SIGNAL)
        last = session.prediction
        if last is None:
            session.failures.check(PREDICTION, ever=True)
            raise not_found(f"job {job!r} has no prediction yet", "a job with events")
        return last

    @router.get("/api/v1/jobs/{job:job}/predictions")
    async def predictions(job: str, last: Annotated[int, Query(ge=1, le=10_000)] = 100) -> Response:
        """Return the latest predictions of a job, oldest first."""
        kept = access.session(job).history.latest(last)
        return await access.as_json(lambda: PredictionList(job=job, predictions=list(kept)).model_dump_json())

    @router.get("/api/v1/jobs/{job:job}/limit")
    async def limit(job: str, ends_at_s: Annotated[float | None, Query(gt=0, lt=2**33)] = None) -> TimeLimit:
        """Return the saved work of a job at its time limit, or at another time."""
        last, session = await prediction(job), access.session(job)
        end_s = ends_at_s or session.ends_at_s
        if not end_s:
            raise not_found(f"the end of job {job!r} is not known", "ends_at_s in the query, Unix time")
        with session.failures.guard_query(PREDICTION):
            found = session.time_limit(last, end_s)
        if found is None:
            raise not_found(f"the times of job {job!r} are not times of day", "a job with the time of day")
        return found

    return router
