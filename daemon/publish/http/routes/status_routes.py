"""The state of the aggregator as JSON."""

from __future__ import annotations

from fastapi import APIRouter

from .....results.status import AggregatorStatus
from ...status import StatusReport
from ..job_access import of_several_jobs


def status_routes(report: StatusReport) -> APIRouter:
    """Return the route; it concerns all users' jobs and needs the right to see them."""
    router = APIRouter()

    @router.get("/api/v1/status")
    async def status() -> AggregatorStatus:
        """Return health, storage, losses and reached bounds of the aggregator."""
        of_several_jobs()
        return report.build()

    return router
