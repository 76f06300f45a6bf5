"""Plans of schedulers for collectors."""

from __future__ import annotations

from fastapi import APIRouter, HTTPException

from .....results.pacing import PacingPlan
from ....pacing_plans import PacingPlans


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
