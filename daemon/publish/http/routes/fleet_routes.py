"""What concerns all jobs as JSON: their list, contention, the aggregator's state, and plans of schedulers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, HTTPException, Query, Response

from .....results.alerts import AlertList
from .....results.contention import Contention, FileSystemList
from .....results.jobs.fleet import Fleet as FleetPage
from .....results.jobs.fleet import FleetOrder
from .....results.pacing import PacingPlan
from .....results.status import AggregatorStatus
from ....access.viewer import viewer
from ....aggregator import Aggregator
from ....contention import ContentionWatch
from ....pacing_plans import PacingPlans
from ...status import StatusReport
from ..job_access import not_found, of_several_jobs
from ..job_list import RECENT_BIN_S, Fleet, count_states, fleet_job, matching_rows, sorted_rows, visible_rows


def fleet_routes(aggregator: Aggregator, clock: Callable[[], float], watch: ContentionWatch | None) -> APIRouter:
    """Return the route of the list."""
    router = APIRouter()
    fleet = Fleet(aggregator, clock)

    @router.get("/api/v1/fleet", response_model=FleetPage)
    async def jobs(
        search: Annotated[str, Query(max_length=200)] = "",
        sort: FleetOrder = "bandwidth",
        descending: bool = True,
        begin: Annotated[int, Query(ge=0)] = 0,
        count: Annotated[int, Query(ge=1, le=500)] = 50,
        recent: bool = True,
    ) -> Response:
        """Return a page of all jobs, at most a second old."""
        who = viewer.get()
        rows = visible_rows(await fleet.rows(), who, aggregator.jobs.projects)
        matching = sorted_rows(matching_rows(rows, search), sort, descending=descending)
        named, alerts = Counter[str](), None
        if who.sees_all and watch is not None:
            raised = watch.alerts().raised
            alerts = len(raised)
            named.update(job for alert in raised for job in {*alert.victims, *alert.culprits})
        page = FleetPage(
            made_at_s=clock(),
            total=len(rows),
            matching=len(matching),
            begin=begin,
            states=count_states(rows),
            bandwidth=sum(row.bandwidth for row in rows),
            alerts=alerts,
            recent_bin_s=RECENT_BIN_S,
            jobs=[
                fleet_job(row, fleet.recent(row.job) if recent and row.state == "running" else [], named[row.job])
                for row in matching[begin : begin + count]
            ],
        )
        return Response(page.model_dump_json(), media_type="application/json")

    return router


def contention_routes(watch: ContentionWatch | None) -> APIRouter:
    """Return the routes of the latest detection."""
    router = APIRouter()

    async def current_results() -> Contention:
        of_several_jobs()
        if watch is None:
            raise not_found("contention between jobs is not analyzed", "an aggregator with contention.enabled = true")
        return await watch.current()

    @router.get("/api/v1/contention")
    async def contention() -> Contention:
        """Return contention between jobs, as of the latest detection."""
        return await current_results()

    @router.get("/api/v1/filesystems")
    async def file_systems() -> FileSystemList:
        """Return the file systems that running jobs use, as of the latest detection."""
        latest = await current_results()
        return FileSystemList(made_at_s=latest.made_at_s, file_systems=latest.file_systems)

    @router.get("/api/v1/alerts")
    async def alerts() -> AlertList:
        """Return the raised alerts on contention, and the latest resolved ones."""
        of_several_jobs()
        return AlertList(raised=[], resolved=[]) if watch is None else watch.alerts()

    return router


def status_routes(report: StatusReport) -> APIRouter:
    """Return the route; it concerns all users' jobs and needs the right to see them."""
    router = APIRouter()

    @router.get("/api/v1/status")
    async def status() -> AggregatorStatus:
        """Return health, storage, losses and reached bounds of the aggregator."""
        of_several_jobs()
        return report.build()

    return router


def pacing_routes(plans: PacingPlans) -> APIRouter:
    """Return the routes; they need the permission ``operate``."""
    router = APIRouter()

    @router.put("/api/v1/pacing", status_code=204)
    async def put(plan: PacingPlan) -> None:
        """Store the plan for its file system, in place of the previous one."""
        if not plans.put(plan):
            raise HTTPException(503, {"error": "too many file systems have a plan", "expected": "fewer of them"})

    @router.delete("/api/v1/pacing", status_code=204)
    async def delete(file_system: str) -> None:
        """Remove the plan of a file system."""
        plans.remove(file_system)

    return router
