"""Jobs as JSON: the list, each with its totals, its signal and the ledger of its events."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from .....results.jobs.job import JobDetail, JobList, SignalSeries
from .....results.jobs.ledger import JobLedger
from ....jobs.accounting.job_ledger import ledger_of
from ....jobs.job_summary import detail_of, summary_of
from ....jobs.job_table import Card
from ....jobs.session import JobSession
from ..job_access import JobAccess


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
