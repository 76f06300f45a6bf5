"""Browser pages of a job's graph and layers, which follow the running job."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Protocol

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from .....analyzers.dfg.compare import compare
from .....analyzers.dfg.merge import union_of
from .....analyzers.layers.report.report import Cut
from .....results.dfg import Comparison, Graph
from .....results.layers import Layers
from .....results.live import JobView
from ..job_access import JobAccess


class Pages(Protocol):
    """Renderer of pages for a browser; called from a thread."""

    def current(self, name: str) -> str | None:
        """Return a cached page that is still fresh."""
        ...

    def draw(self, name: str, graph: Graph, comparison: Comparison | None = None, *, losses: Mapping[str, int]) -> str:
        """Render a graph page; with a comparison, of both graphs together. ``losses``: losses of the jobs."""
        ...

    def draw_layers(self, name: str, layers: Layers, *, losses: Mapping[str, int]) -> str:
        """Render the page of a job's layers. ``losses``: losses of the job."""
        ...

    def draw_job(self, name: str, view: JobView, address: str) -> str:
        """Render the page of a job. ``@BASE@`` in its head is a placeholder for the relative path to the root."""
        ...

    def draw_waiting(self, job: str, address: str) -> str:
        """Render the page of an unknown or inaccessible job, with the same placeholder."""
        ...

    def web_file(self, name: str) -> tuple[str, str] | None:
        """Return text and media type of a file that the pages use."""
        ...


def page_routes(access: JobAccess, pages: Pages) -> APIRouter:
    """Return the routes of the pages."""
    router = APIRouter(include_in_schema=False)

    @router.get("/jobs/{job:job}/dfg", response_class=HTMLResponse)
    async def graph_page(job: str, versus: str | None = None) -> str:
        """Show a job's graph, or a comparison with another job's, while they grow."""
        name = f"graph\n{job}\n{versus or ''}"
        shown = access.has_job(job) and (versus is None or access.has_job(versus))
        if shown and (known := pages.current(name)) is not None:
            return known
        session, green = access.session(job), access.graph(job)
        losses = Counter(session.losses.total)
        if versus is None:
            return await access.in_thread(lambda: pages.draw(name, green(), losses=losses), (session, "graph"))
        red = access.graph(versus)
        losses.update(access.session(versus).losses.total)

        def drawn() -> str:
            one, other = green(), red()
            return pages.draw(name, union_of(one, other), compare(one, other, job, versus), losses=losses)

        return await access.in_thread(drawn, (session, "graph"))

    @router.get("/jobs/{job:job}/layers", response_class=HTMLResponse)
    async def layers_page(job: str) -> str:
        """Show a job's layers."""
        name = f"layers\n{job}"
        if access.has_job(job) and (known := pages.current(name)) is not None:
            return known
        session, report = access.session(job), access.layers(job)
        losses = Counter(session.losses.total)
        return await access.in_thread(
            lambda: pages.draw_layers(name, report(Cut()), losses=losses), (session, "layers")
        )

    return router
