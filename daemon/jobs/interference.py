"""Jobs that disturb a job, from the data of all jobs in the aggregator."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import numpy as np

from ...analyzers.interaction.interference import Load, interference_with
from ...analyzers.interaction.tables import Tables
from ...analyzers.pipeline.job_interactions import rank_jobs
from ...events import FileType
from ...results.interaction import Culprits
from .losses.failures import AnalysisFailedError
from .session import SIGNAL, JobSession

_MAX_FILES: Final = 1000
_COUNTS: Final = (FileType.REGULAR, FileType.UNKNOWN, FileType.COPIED)


def examined_span(job: JobSession, start_s: float | None, end_s: float | None) -> tuple[int, int] | None:
    """Return start and end of the examined_span part of a job's time, ns. Return None before its first event."""
    if job.first_ns is None or job.last_ns is None:
        return None
    start_ns = job.first_ns if start_s is None else max(job.first_ns, int(start_s * 1e9))
    return start_ns, max(job.last_ns if end_s is None else min(job.last_ns, int(end_s * 1e9)), start_ns + 1)


def frozen_interference(
    job: JobSession,
    sessions: Sequence[JobSession],
    start_s: float | None,
    end_s: float | None,
    top: int,
    files: Sequence[tuple[str, Tables, Sequence[str]]] = (),
    loads: Sequence[Load] = (),
) -> Callable[[], Culprits] | None:
    """Copy the data of jobs and return a function that finds the culprits. The function runs in another thread.

    None before the first event.

    Args:
        job: the disturbed job.
        sessions: all candidate jobs.
        start_s: start of the examined time; None for the job's first event.
        end_s: end of the examined time; None for the job's last event.
        top: maximum number of culprits.
        files: use of files by further candidate jobs, from other processes.
        loads: traffic of these jobs in the examined time.

    Raises:
        AnalysisFailedError: the traffic of the disturbed job is unknown.
    """
    span = examined_span(job, start_s, end_s)
    if span is None:
        return None
    start_ns, end_ns = span
    others = [one for one in sessions if one is not job and one.own_clock == job.own_clock]
    if job.own_clock:  # times of different zeros cannot be compared
        others, files, loads = [], (), ()
    meanwhile = [one for one in loads if one.job != job.job]
    for one in others:
        if one.first_ns is not None and one.last_ns is not None and one.first_ns < end_ns and one.last_ns > start_ns:
            with contextlib.suppress(AnalysisFailedError):  # then the traffic of that job is unknown
                meanwhile.append(load_of(one, start_ns, end_ns))
    known = {one.job for one in meanwhile}
    own = load_of(job, start_ns, end_ns)
    known_files = [*shared_files((job, *others)), *(each for each in files if each[0] != job.job)]
    earlier = [
        Load(name, start_ns / 1e9, 1.0, np.zeros(0)) for name, _, _ in known_files if name not in known | {job.job}
    ]
    settings = job.settings.rank
    return lambda: interference_with(
        own, [*meanwhile, *earlier], start_ns / 1e9, end_ns / 1e9, rank_jobs(known_files, settings), top
    )


def shared_files(sessions: Iterable[JobSession]) -> list[tuple[str, Tables, Sequence[str]]]:
    """Return the jobs' use of files; without jobs where this analysis is off or failed."""
    known = []
    for session in sessions:
        with contextlib.suppress(AnalysisFailedError):
            if (interactions := session.interactions) is not None:
                with session.failures.guard_query("interactions"):
                    known.append(interactions.shared())
    return known


def load_of(session: JobSession, start_ns: int, end_ns: int) -> Load:
    """Return the traffic of a job between two times. It is that on files, as counted by the signal.

    Raises:
        AnalysisFailedError: it is unknown.
    """
    session.failures.check(SIGNAL)
    with session.failures.guard_query(SIGNAL):
        series = session.predictor.series(start_ns, end_ns)
    mounts: dict[str, int] = {}
    local = set()
    totals = session.totals
    with session.failures.guard_query("totals"):
        files = totals.files(_MAX_FILES)
    for row in files:
        info = session.names.files[row.number]
        moved = row.bytes_read + row.bytes_written
        if moved and info.type in _COUNTS and row.number:
            mounts[info.mount_point] = mounts.get(info.mount_point, 0) + moved
            if info.shared is False:
                local.add(info.mount_point)
    return Load(
        job=session.job,
        start_s=series.start_s,
        bin_s=series.bin_s,
        moved=(np.array(series.read) + np.array(series.written)) * series.bin_s,
        user=session.user,
        mounts=mounts,
        local=frozenset(local),
        hosts=frozenset(session.hosts),
    )
