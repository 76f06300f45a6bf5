"""Live pages for a browser: all jobs, file systems, a job, the API; and their files."""

from __future__ import annotations

import re
from typing import Final

from fastapi import APIRouter, HTTPException, Request, Response

from .....events.network.job_addresses import job_path
from ....jobs.job_view import view_of
from ..job_access import JobAccess, not_found
from ..query_parameters import NO_UNKNOWN_PARAMETERS
from .page_routes import Pages

_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'self'; form-action 'none'; frame-ancestors 'self'"
)
_ADDRESS: Final = re.compile(r"https?://[A-Za-z0-9_.:/\[\]~%@-]{1,500}")
"""Addresses that are a plain scalar in YAML."""
_HEADERS: Final = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


def shell_routes(pages: Pages) -> APIRouter:
    """Return the routes of pages that fetch their data. It also returns those of the files of all pages."""
    router = APIRouter(include_in_schema=False)

    @router.get("/")
    async def fleet(request: Request) -> Response:
        """Show all jobs."""
        return _page_response(_file(pages, "fleet.html")[0], request)

    @router.get("/filesystems")
    async def file_systems(request: Request) -> Response:
        """Show the upcoming phases, by file system."""
        return _page_response(_file(pages, "filesystems.html")[0], request)

    @router.get("/api/v1/docs")
    async def api(request: Request) -> Response:
        """List the routes of the API."""
        return _page_response(_file(pages, "api.html")[0], request)

    @router.get("/runbooks")
    @router.get("/runbooks.md")
    async def runbooks(request: Request) -> Response:
        """Show the actions for each alert. The second address is that of the shipped rules for Prometheus."""
        return _page_response(_file(pages, "runbooks.html")[0], request)

    @router.get("/rules.yml", dependencies=NO_UNKNOWN_PARAMETERS)
    async def rules(request: Request, runbooks: str = "") -> Response:
        """Return the rules for Prometheus. Their alerts link to runbooks by an address that opens, by default here."""
        if runbooks and not _ADDRESS.fullmatch(runbooks):
            raise HTTPException(422, {"error": f"{runbooks[:80]!r} is no address", "expected": "http://HOST/PATH"})
        address = runbooks or f"{request.base_url}runbooks"
        text, kind = _file(pages, "rules.yml")
        if _ADDRESS.fullmatch(address):  # the client chooses the Host
            text = text.replace("runbook_url: runbooks.md#", f"runbook_url: {address}#")
        return Response(text, media_type=kind, headers=_HEADERS)

    @router.get("/assets/{name}")
    async def asset(name: str) -> Response:
        """Return a script or a style sheet."""
        if name.endswith((".html", ".yml")):
            raise not_found(f"no asset {name!r}", "a script or a style sheet of a page")
        text, kind = _file(pages, name)
        return Response(text, media_type=kind, headers=_HEADERS | {"Cache-Control": "no-cache"})

    return router


def job_page_route(access: JobAccess, pages: Pages) -> APIRouter:
    """Return the route of a job's page. An id may contain slashes, so routes below a job must come before."""
    router = APIRouter(include_in_schema=False)

    @router.get("/jobs/{job:job}")
    async def job_page(job: str, request: Request) -> Response:
        """Show a job, and follow it."""
        name = f"job\n{job}"
        if access.has_job(job) and (known := pages.current(name)) is not None:
            return _page_response(known, request)
        address = f"jobs/{job_path(job)}"
        try:
            session = access.session(job)
        except HTTPException:
            if "text/html" not in request.headers.get("accept", ""):
                raise
            return _page_response(pages.draw_waiting(job, address), request, 404)  # the page polls: the job may appear
        view = view_of(session, access.clock(), archives=access.archives, slowdowns=access.slowdowns(job))
        return _page_response(await access.in_thread(lambda: pages.draw_job(name, view(), address)), request)

    return router


def _file(pages: Pages, name: str) -> tuple[str, str]:
    found = pages.web_file(name)
    if found is None:
        raise not_found(f"no file {name!r}", "a script or a style sheet of a page")
    return found


def _page_response(page: str, request: Request, status: int = 200) -> Response:
    """Answer with a page. Its addresses are relative, so that it works below a proxy's prefix."""
    path = request.scope.get("raw_path") or request.scope["path"].encode()
    below = path.partition(b"?")[0].count(b"/") - 1
    base = "../" * below or "./"
    return Response(page.replace("@BASE@", base, 1), status, media_type="text/html", headers=_HEADERS)
