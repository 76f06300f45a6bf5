"""Data for I/O schedulers, which poll it, for all jobs in one answer."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import APIRouter, Response

from .....results.contention import Capacity
from .....results.jobs.file_systems import IoPhase, JobFileSystems
from .....results.live import LiveIo, LiveJob
from .....results.prediction import OtherPeriod, Prediction
from ....contention import ContentionWatch
from ....jobs.job_state import State
from ....jobs.losses.failures import AnalysisFailedError
from ....jobs.session import JobSession
from ..job_access import JobAccess, of_several_jobs
from ..query_parameters import JobCount

_RUNNING = (State.RUNNING, State.IDLE)
_Row = tuple[JobSession, Callable[[], JobFileSystems], Prediction | None]


def live_io_routes(access: JobAccess, watch: ContentionWatch | None) -> APIRouter:
    """Return the route of current I/O on a file system."""
    router = APIRouter()

    @router.get("/api/v1/live-io", response_model=LiveIo)
    async def live_io(file_system: str, jobs: JobCount = 1000) -> Response:
        """Return the latest phase of each running job on a file system. Each has its prediction, and the capacity."""
        of_several_jobs()
        rows = [row async for session in access.sessions(jobs) if (row := _row(session)) is not None]
        capacity = _capacity(watch, file_system)
        now_s = access.clock()
        return await access.as_json(lambda: _live_io(file_system, rows, capacity, now_s).model_dump_json())

    return router


def _row(session: JobSession) -> _Row | None:
    """Copy the data of a job; None without I/O that can be scheduled."""
    if session.state not in _RUNNING or session.own_clock:
        return None
    try:
        analyzer = session.analyzers.reporting_analyzer("filesystems")
        if analyzer is None:
            return None
        with session.failures.guard_query("filesystems"):
            return session, analyzer.deferred_result(), session.prediction  # type: ignore[return-value]
    except AnalysisFailedError:
        return None


def _capacity(watch: ContentionWatch | None, file_system: str) -> Capacity:
    latest = None if watch is None else watch.latest
    known = [] if latest is None else [each for each in latest.file_systems if each.file_system == file_system]
    return known[0].capacity if known else Capacity(known="unknown")


def _live_io(file_system: str, rows: list[_Row], capacity: Capacity, now_s: float) -> LiveIo:
    found, gap_s = [], 0.0
    for session, make, prediction in rows:
        made = make()
        gap_s = made.gap_s
        for use in made.file_systems:
            if use.file_system == file_system and use.phases:
                job = LiveJob(
                    job=session.job,
                    user=session.user,
                    hosts=use.hosts,
                    completeness=1.0 if prediction is None else prediction.completeness,
                    phase=join_latest(use.phases),
                    bytes_moved=use.bytes_read + use.bytes_written,
                    prediction=None
                    if prediction is None
                    else prediction.model_copy(update={"others": _group_periods(prediction)}),
                )
                found.append(job)
    found.sort(key=lambda job: -job.phase.end_s)
    return LiveIo(made_at_s=now_s, file_system=file_system, gap_s=gap_s, capacity=capacity, jobs=found)


def _group_periods(prediction: Prediction) -> list[OtherPeriod]:
    """Return the periods of groups with upcoming phases."""
    return [each for each in prediction.others if each.relation == "beside" and each.next_phase is not None]


def join_latest(phases: list[IoPhase]) -> IoPhase:
    """Return the latest phase, joined with the pieces that it continues."""
    whole = phases[-1]
    for before in reversed(phases[:-1]):
        if not whole.continues:
            break
        whole = IoPhase(
            start_s=before.start_s,
            end_s=whole.end_s,
            bytes_read=before.bytes_read + whole.bytes_read,
            bytes_written=before.bytes_written + whole.bytes_written,
            calls=before.calls + whole.calls,
            seconds=before.seconds + whole.seconds,
            continues=before.continues,
        )
    return whole
