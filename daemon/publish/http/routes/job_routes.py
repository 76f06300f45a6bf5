"""Jobs as JSON: the list, each with its totals, its signal, the ledger of its events, and its predictions."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from .....results.jobs.job import JobDetail, JobList, SignalSeries
from .....results.jobs.ledger import JobLedger
from .....results.prediction import Prediction, PredictionList, TimeLimit
from ....jobs.accounting.job_ledger import ledger_of
from ....jobs.job_summary import detail_of, summary_of
from ....jobs.job_table import Card
from ....jobs.session import PREDICTION, SIGNAL, JobSession
from ..job_access import JobAccess, not_found


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
