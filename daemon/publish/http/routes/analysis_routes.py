"""Results of the analyzers as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query, Response

from .....analyzers.contention.collision_advice import with_collisions
from .....analyzers.dfg.compare import compare
from .....analyzers.interaction.settings import InteractionSettings
from .....analyzers.interaction.tables import Tables
from .....analyzers.layers.report.report import Cut
from .....analyzers.pipeline.contract import AnalyzerKind
from .....analyzers.pipeline.job_interactions import rank_jobs
from .....analyzers.registry import ANALYZERS
from .....results.advice import Advice
from .....results.dfg import Comparison, Graph
from .....results.interaction import Culprits, Ranking
from .....results.layers import Layers
from ....jobs.interference import frozen_interference, shared_files
from ....jobs.job_findings import frozen_advice
from ..job_access import JobAccess, not_found


def analysis_routes(access: JobAccess) -> APIRouter:
    """Return the routes of graphs, layers, rankings and culprits.

    Each analyzer with a result of its own has one, too.
    """
    router = APIRouter()

    @router.get("/api/v1/jobs/{job:job}/dfg", response_model=Graph | Comparison)
    async def dfg(job: str, versus: str | None = None) -> Response:
        """Return a job's current directly-follows graph, or its comparison with another job's."""
        green, about = access.graph(job), (access.session(job), "graph")
        if versus is None:
            return await access.as_json(lambda: green().model_dump_json(), about)
        red = access.graph(versus)
        return await access.as_json(lambda: compare(green(), red(), job, versus).model_dump_json(), about)

    @router.get("/api/v1/jobs/{job:job}/layers", response_model=Layers)
    async def layers(job: str, top: Annotated[int, Query(ge=1, le=10_000)] = 200) -> Response:
        """Return the current I/O of a job by layer. Handles and files with the most time."""
        report = access.layers(job)
        cut = Cut(handles=top, files=top)
        return await access.as_json(lambda: report(cut).model_dump_json(), (access.session(job), "layers"))

    @router.get("/api/v1/jobs/{job:job}/rank", response_model=Ranking)
    async def rank(job: str) -> Response:
        """Return the current ranking of interacting members of a job."""
        session = access.session(job)
        interactions = session.interactions
        if interactions is None:
            raise not_found(f"job {job!r} has no ranking", "a job with events, and rank.enabled")
        with session.failures.guard_query("interactions"):
            frozen = interactions.deferred_result()
        return await access.as_json(lambda: frozen().model_dump_json(), (session, "interactions"))

    @router.get("/api/v1/jobs/{job:job}/advice", response_model=Advice)
    async def advice(job: str) -> Response:
        """Return the current cost of a job's I/O, and recommended changes."""
        session = access.session(job)
        with session.failures.guard_query("advice"):
            made = frozen_advice(session)
        if made is None:
            raise not_found(f"job {job!r} has no advice", "a job with events, and analyzers.advice not switched off")
        slowdowns = access.slowdowns(job)
        return await access.as_json(lambda: with_collisions(made(), slowdowns).model_dump_json(), (session, "advice"))

    for kind in ANALYZERS.values():
        if kind.result not in (None, Advice):
            _add_result(router, access, kind)

    _add_interactions_of_jobs(router, access)
    return router


def _add_interactions_of_jobs(router: APIRouter, access: JobAccess) -> None:
    """Add the routes whose results concern several jobs."""

    @router.get("/api/v1/jobs/{job:job}/culprits", response_model=Culprits)
    async def culprits(
        job: str,
        from_s: Annotated[float | None, Query(ge=0, lt=2**33)] = None,
        to_s: Annotated[float | None, Query(ge=0, lt=2**33)] = None,
        top: Annotated[int, Query(ge=1, le=1000)] = 10,
        jobs: Annotated[int, Query(ge=1, le=10_000)] = 1000,
    ) -> Response:
        """Return the traffic of other jobs during this job's I/O. It covers its whole time or a part of it."""
        victim = access.session(job)
        found = frozen_interference(victim, [each async for each in access.sessions(jobs)], from_s, to_s, top)
        if found is None:
            raise not_found(f"job {job!r} has done no I/O yet", "a job with events")
        return await access.as_json(lambda: found().model_dump_json())

    @router.get("/api/v1/rank", response_model=Ranking)
    async def rank_of_jobs(jobs: Annotated[int, Query(ge=1, le=10_000)] = 1000) -> Response:
        """Return the interactions of the latest active jobs through shared files."""
        known: list[tuple[str, Tables, Sequence[str]]] = []
        settings = InteractionSettings()
        async for session in access.sessions(jobs):  # queued events of a job may take some milliseconds
            settings = session.settings.rank
            known += shared_files([session])
        return await access.as_json(lambda: rank_jobs(known, settings).model_dump_json())


def _add_result(router: APIRouter, access: JobAccess, kind: AnalyzerKind) -> None:
    @router.get(f"/api/v1/jobs/{{job:job}}/{kind.name}", response_model=kind.result, name=kind.name)
    async def result(job: str) -> Response:
        """Return the current result of an analyzer for a job."""
        session = access.session(job)
        analyzer = session.analyzers.reporting_analyzer(kind.name)
        if analyzer is None:
            expected = f"a job with events, and analyzers.{kind.name} not switched off"
            raise not_found(f"job {job!r} has no {kind.name}", expected)
        with session.failures.guard_query(kind.name):
            frozen = analyzer.deferred_result()
        return await access.as_json(lambda: frozen().model_dump_json(), (session, kind.name))
