"""Predictions of a job as JSON."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from .....results.prediction import Prediction, PredictionList, TimeLimit
from ....jobs.session import PREDICTION, SIGNAL
from ..job_access import JobAccess, not_found


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
