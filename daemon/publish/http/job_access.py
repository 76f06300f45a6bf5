"""Shared code of the routes: job look-up, analyzers, and a thread for long work."""

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

_ANONYMOUS: Final = {"job": "a job of another user", "user": "", "files": []}
SLICE_S: Final = 0.005
"""Maximum time for which a request over many jobs blocks the loop at once, s."""


class JobAccess:
    """Finds the data of a request; missing data gives a 404 with the expected input.

    Args:
        aggregator: aggregator of the jobs.
        clock: Unix time.
        contention: detects contention between jobs; None if it is off.
        archives: whether the calls of jobs are archived.
    """

    def __init__(
        self,
        aggregator: Aggregator,
        clock: Callable[[], float],
        contention: ContentionWatch | None = None,
        *,
        archives: bool = False,
    ) -> None:
        self.clock = clock
        self._contention = contention
        self._aggregator = aggregator
        self._one_at_a_time = asyncio.Lock()
        self.archives = archives

    def has_job(self, job: str) -> bool:
        """Return whether a job exists and is visible to the viewer."""
        job = _clean(job)
        session = self._aggregator.jobs.get(job)
        return session is not None and self._is_visible(job, session.user)

    def session(self, job: str) -> JobSession:
        """Return a job's session; a job that the viewer may not see does not exist."""
        job = _clean(job)
        session = self._aggregator.jobs.get(job)
        if session is not None and not self._is_visible(job, session.user):
            raise not_found(f"no job {job!r}", "a job of /api/v1/jobs")
        if session is None and viewer.get().sees_all and self._aggregator.early_losses.refused_streams(job):
            error = f"job {job!r} was refused, as max_jobs = {self._aggregator.settings.max_jobs} jobs are held"
            raise not_found(error, "a job of /api/v1/jobs, or a larger max_jobs")
        if session is None:
            raise not_found(f"no job {job!r}", "a job of /api/v1/jobs")
        return session

    async def latest(self, jobs: int | None = None, *, make: bool = True) -> AsyncIterator[JobSession | Card]:
        """Yield the latest active jobs that the viewer may see, by default all. It pauses for other tasks.

        Args:
            jobs: maximum number of jobs.
            make: create the session of a sleeping job; otherwise its card is yielded.
        """
        table = self._aggregator.jobs
        left, paused_s = len(table) if jobs is None else jobs, time.monotonic()
        for job in table.latest():
            if left <= 0:
                return
            found: JobSession | Card | None = table.asleep.get(job)
            if found is None or make:
                found = table.get_or_wake(job) if job in table else None  # otherwise it was removed in the meantime
            if found is not None and self._is_visible(job, found.user):
                left -= 1
                yield found
            if time.monotonic() - paused_s > SLICE_S:  # lets batches be processed meanwhile
                await asyncio.sleep(0)
                paused_s = time.monotonic()

    async def sessions(self, jobs: int | None = None) -> AsyncIterator[JobSession]:
        """Yield the sessions of the latest active jobs, with pauses for other tasks."""
        async for found in self.latest(jobs):
            if not isinstance(found, Card):
                yield found

    def slowdowns(self, job: str) -> list[Slowdown]:
        """Return the slowdowns of a job, as of the latest detection.

        Other users' jobs are anonymous unless the viewer sees all.
        """
        watch = self._contention
        if watch is None or watch.latest is None:
            return []
        found = [each for each in watch.latest.slowdowns if each.job == _clean(job)]
        who = viewer.get()
        if who.sees_all:
            return found

        def seen(culprit: Culprit) -> Culprit:
            is_visible = self._is_visible(culprit.job, culprit.user) or (
                culprit.job not in self._aggregator.jobs and who.sees("", watch.project_of(culprit.job))
            )
            return culprit if is_visible else culprit.model_copy(update=_ANONYMOUS)

        return [each.model_copy(update={"culprits": [seen(culprit) for culprit in each.culprits]}) for each in found]

    def graph(self, job: str) -> Callable[[], Graph]:
        """Return a function that computes a job's current graph."""
        session = self.session(job)
        graph = session.graph
        if graph is None:
            raise not_found(f"job {job!r} has no graph", "a job with events, and dfg.enabled")
        with session.failures.guard_query("graph"):
            return graph.deferred_result()

    def layers(self, job: str) -> Callable[[Cut], Layers]:
        """Return a function that computes the current report of a job's layers."""
        session = self.session(job)
        layers = session.layers
        if layers is None:
            raise not_found(f"job {job!r} has no layers", "a job with events, and layers.enabled")
        with session.failures.guard_query("layers"):
            return layers.deferred_result()

    def _is_visible(self, job: str, user: str) -> bool:
        return viewer.get().sees(user, self._aggregator.jobs.projects.get(job, ""))

    async def in_thread(self, work: Callable[[], str], about: tuple[JobSession, str] | None = None) -> str:
        """Run work of tens of milliseconds in a thread, one at a time. Batches are processed meanwhile.

        An exception counts as a failure of the job's analysis in ``about``.
        """
        async with self._one_at_a_time:
            with _confined_failure(about):
                return await asyncio.to_thread(work)

    async def as_json(self, work: Callable[[], str], about: tuple[JobSession, str] | None = None) -> Response:
        """Answer with JSON text that a thread computes, one at a time."""
        return Response(await self.in_thread(work, about), media_type="application/json")


def of_several_jobs() -> None:
    """Refuse data on several users' jobs to a viewer who only sees own jobs."""
    if not viewer.get().sees_all:
        raise HTTPException(403, {"error": "that is about jobs of all users", "expected": "the permission operate"})


def not_found(error: str, expected: str) -> HTTPException:
    """Return a 404 that names what is missing and what is expected."""
    return HTTPException(404, {"error": error, "expected": expected})


@contextlib.contextmanager
def _confined_failure(about: tuple[JobSession, str] | None) -> Iterator[None]:
    if about is None:
        yield
        return
    session, analysis = about
    with session.failures.guard_query(analysis):
        yield


def _clean(job: str) -> str:
    """Return the id of a job that an address names; "" for none, which is not the job of programs without an id."""
    return clean_job(job) if job else ""
