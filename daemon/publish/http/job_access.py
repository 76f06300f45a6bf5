"""What the routes share: the job that is asked for, its analyzers, and threads for what takes long."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Final

from fastapi import HTTPException, Response

from ....analyzers.layers.report.report import Cut
from ....results.contention import Culprit, Slowdown
from ....results.dfg import Graph
from ....results.layers import Layers
from ...access.viewer import viewer
from ...aggregator import Aggregator
from ...contention import ContentionWatch
from ...jobs.job_ids import clean_job
from ...jobs.job_table import Card
from ...jobs.session import JobSession

_NAMELESS: Final = {"job": "a job of another user", "user": "", "files": []}
SLICE_S: Final = 0.005
"""For which a request that looks at many jobs holds the loop at a time."""


class JobAccess:
    """Finds what a request asks for; what is not there is a 404 that says what was expected.

    Args:
        aggregator: whose jobs are asked for.
        clock: Unix time.
        contention: looks for contention between jobs; None where that is switched off.
    """

    def __init__(
        self, aggregator: Aggregator, clock: Callable[[], float], contention: ContentionWatch | None = None
    ) -> None:
        self.clock = clock
        self._contention = contention
        self._aggregator = aggregator
        self._one_at_a_time = asyncio.Lock()
        self.archives = aggregator.settings.archive.folder is not None

    def holds(self, job: str) -> bool:
        """Tells whether a job is held, and seen by who asks."""
        session = self._aggregator.jobs.get(job)
        return session is not None and viewer.get().sees(session.user)

    def session(self, job: str) -> JobSession:
        """Returns a job's session; one that who asks does not see is not there."""
        session = self._aggregator.jobs.get(job)
        if session is not None and not viewer.get().sees(session.user):
            raise not_found(f"no job {job!r}", "a job of /api/v1/jobs")
        if session is None and viewer.get().sees_all and self._aggregator.unheld.refused(clean_job(job)):
            error = f"job {job!r} was refused, as max_jobs = {self._aggregator.settings.max_jobs} jobs are held"
            raise not_found(error, "a job of /api/v1/jobs, or a larger max_jobs")
        if session is None:
            raise not_found(f"no job {job!r}", "a job of /api/v1/jobs")
        return session

    async def latest(self, jobs: int | None = None, *, make: bool = True) -> AsyncIterator[JobSession | Card]:
        """Yields the latest active jobs that who asks sees, all by default, in slices between which others have a turn.

        Args:
            jobs: how many at most.
            make: make the session of a job that sleeps; else its card is yielded.
        """
        table, seeing = self._aggregator.jobs, viewer.get()
        left, paused_s = len(table) if jobs is None else jobs, time.monotonic()
        for job in table.latest():
            if left <= 0:
                return
            found: JobSession | Card | None = table.asleep.get(job)
            if found is None or make:
                found = table.look(job) if job in table else None  # else it was removed meanwhile
            if found is not None and seeing.sees(found.user):
                left -= 1
                yield found
            if time.monotonic() - paused_s > SLICE_S:  # batches are taken in meanwhile
                await asyncio.sleep(0)
                paused_s = time.monotonic()

    async def sessions(self, jobs: int | None = None) -> AsyncIterator[JobSession]:
        """Yields the sessions of these, likewise."""
        async for found in self.latest(jobs):
            if not isinstance(found, Card):
                yield found

    def slowdowns(self, job: str) -> list[Slowdown]:
        """Returns what other jobs cost a job, as of the last look; jobs of others have no name for who may not see."""
        latest = None if self._contention is None else self._contention.latest
        found = [] if latest is None else [each for each in latest.slowdowns if each.job == job]
        seeing = viewer.get()
        if seeing.sees_all:
            return found

        def seen(culprit: Culprit) -> Culprit:
            return culprit if seeing.sees(culprit.user) else culprit.model_copy(update=_NAMELESS)

        return [each.model_copy(update={"culprits": [seen(culprit) for culprit in each.culprits]}) for each in found]

    def graph(self, job: str) -> Callable[[], Graph]:
        """Returns what makes a job's graph of now."""
        session = self.session(job)
        graph = session.graph
        if graph is None:
            raise not_found(f"job {job!r} has no graph", "a job with events, and dfg.enabled")
        with session.failures.asking("graph"):
            return graph.frozen()

    def layers(self, job: str) -> Callable[[Cut], Layers]:
        """Returns what makes the report of a job's layers of now."""
        session = self.session(job)
        layers = session.layers
        if layers is None:
            raise not_found(f"job {job!r} has no layers", "a job with events, and layers.enabled")
        with session.failures.asking("layers"):
            return layers.frozen()

    async def in_thread(self, work: Callable[[], str], about: tuple[JobSession, str] | None = None) -> str:
        """Has a thread do what takes tens of milliseconds, one at a time, so that batches are taken in meanwhile.

        What it raises is the failure of the job's analysis that it is ``about``.
        """
        async with self._one_at_a_time:
            with _blamed(about):
                return await asyncio.to_thread(work)

    async def as_json(self, work: Callable[[], str], about: tuple[JobSession, str] | None = None) -> Response:
        """Answers with the JSON text that a thread makes, likewise."""
        return Response(await self.in_thread(work, about), media_type="application/json")


def of_several_jobs() -> None:
    """Refuses what concerns jobs of several users to who sees one's own alone."""
    if not viewer.get().sees_all:
        raise HTTPException(403, {"error": "that is about jobs of all users", "expected": "the permission operate"})


def not_found(error: str, expected: str) -> HTTPException:
    """Returns a 404 that says what is not there and what would have been."""
    return HTTPException(404, {"error": error, "expected": expected})


@contextlib.contextmanager
def _blamed(about: tuple[JobSession, str] | None) -> Iterator[None]:
    if about is None:
        yield
        return
    session, analysis = about
    with session.failures.asking(analysis):
        yield
