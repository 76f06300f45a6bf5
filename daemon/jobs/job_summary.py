"""A job as lists and pages show it."""

from __future__ import annotations

from ...analyzers.file_groups import CHANNEL, SYSTEM
from ...analyzers.pipeline.numbering import JobNames
from ...analyzers.totals import Totals
from ...events.losses import bytes_of, events_of
from ...results.models import CallTotal, FileTotal, JobDetail, JobSummary, NotCounted, Prediction
from .failures import AnalysisFailedError
from .job_state import State
from .session import JobSession


def summary_of(session: JobSession, now_s: float) -> JobSummary:
    """Returns what the lists show of a job, at a time of day."""
    return JobSummary(**_facts(session, now_s))


def news_of(session: JobSession, now_s: float) -> JobSummary:
    """Returns what is published of a job; of one that has ended with the last word."""
    return JobSummary(**_facts(session, now_s), last_word=last_word_of(session))


def detail_of(session: JobSession, now_s: float, top: int = 20) -> JobDetail:
    """Returns the summary with the ``top`` files and calls by bytes; none where the totals have failed."""
    try:
        totals, left_out = session.totals, not_counted_of(session)
        with session.failures.asking("totals"):
            files, calls = _files(totals, session.names, top), _calls(totals, session.names, top)
    except AnalysisFailedError:
        files, calls, left_out = [], [], NotCounted()
    return JobDetail(
        **_facts(session, now_s), files=files, calls=calls, not_counted=left_out, last_word=last_word_of(session)
    )


def not_counted_of(session: JobSession) -> NotCounted:
    """Returns what does not count of the bytes that the program itself moved.

    Raises:
        AnalysisFailedError: the totals have failed.
    """
    totals, names = session.totals, session.names
    with session.failures.asking("totals"):
        moved = totals.not_counted(names.left_out, names.groups)
    (system_read, system_written), (channel_read, channel_written) = (
        moved.get(SYSTEM, (0, 0)),
        moved.get(CHANNEL, (0, 0)),
    )
    return NotCounted(
        system_read=system_read,
        system_written=system_written,
        channel_read=channel_read,
        channel_written=channel_written,
        mapped_for_writing=totals.mapped,
        flushed_at_most=totals.flushed,
    )


def _facts(session: JobSession, now_s: float) -> dict[str, object]:
    losses = session.losses.total
    return {
        "job": session.job,
        "state": "ended" if session.state in (State.ENDED, State.REMOVED) else session.state.value,
        "user": session.user,
        "command": session.command,
        "ends_at_s": session.ends_at_s or None,
        "hosts": sorted(session.hosts),
        "streams": len(session.streams),
        "ranks": max(session.communicator, len(session.ranks)),
        "first_event_at_s": None if session.first_ns is None else session.first_ns / 1e9,
        "last_event_at_s": None if session.last_ns is None else session.last_ns / 1e9,
        "events": session.analyzers.events,
        "bytes_read": session.bytes_read,
        "bytes_written": session.bytes_written,
        "bandwidth": session.bandwidth(now_s),
        "events_dropped": events_of(losses),
        "bytes_dropped": bytes_of(losses),
        "losses": (known := session.losses.known(ended=session.state is State.ENDED)),
        "complete": not known,
        "predictions": session.predictions,
        "failures": session.failures.told(),
    }


def last_word_of(session: JobSession) -> Prediction | None:
    """Returns the prediction from the whole run of a job that has ended; None before, and where there is none."""
    return session.prediction if session.state in (State.ENDED, State.REMOVED) else None


def _files(totals: Totals, names: JobNames, top: int) -> list[FileTotal]:
    return [
        FileTotal(
            path=names.files[row.number].path or "(other)",
            calls=row.calls,
            bytes_read=row.bytes_read,
            bytes_written=row.bytes_written,
            seconds=row.seconds,
        )
        for row in totals.files(top, names.left_out)
    ]


def _calls(totals: Totals, names: JobNames, top: int) -> list[CallTotal]:
    return [
        CallTotal(
            call=names.calls[row.number] or "(other)",
            layer=row.layer.name,
            calls=row.calls,
            failed=row.failed,
            bytes=row.bytes,
            seconds=row.seconds,
        )
        for row in totals.calls(top)
    ]
