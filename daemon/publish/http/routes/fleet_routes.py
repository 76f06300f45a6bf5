"""The list of all jobs. The server sorts and filters it, one page at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Query, Response

from .....results.jobs.fleet import Fleet as FleetPage
from .....results.jobs.fleet import FleetOrder
from ....access.viewer import viewer
from ....aggregator import Aggregator
from ....contention import ContentionWatch
from ..fleet import RECENT_BIN_S, Fleet, count_states, fleet_job, matching_rows, sorted_rows, visible_rows


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
