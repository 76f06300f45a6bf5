"""Contention between jobs, and the file systems that they use, as JSON."""

from __future__ import annotations

from fastapi import APIRouter

from .....results.alerts import AlertList
from .....results.contention import Contention, FileSystemList
from ....contention import ContentionWatch
from ..job_access import not_found, of_several_jobs


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
