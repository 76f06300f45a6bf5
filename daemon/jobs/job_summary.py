"""Summaries of a job for lists and pages."""

from __future__ import annotations

from ...analyzers.pipeline.job_totals import call_totals, file_totals, not_counted
from ...events.losses import UNSEEN_NODES, bytes_of, events_of
from ...results.jobs.job import BatchFacts, JobDetail, JobSummary, NotCounted
from ...results.prediction import Prediction
from .job_state import State
from .losses.failures import AnalysisFailedError
from .session import JobSession


def summary_of(session: JobSession, now_s: float) -> JobSummary:
    """Return the list entry of a job, at a time of day."""
    return JobSummary(**_facts(session, now_s))


def published_summary(session: JobSession, now_s: float) -> JobSummary:
    """Return the published message of a job; an ended one includes its ``last_word``."""
    return JobSummary(**_facts(session, now_s), last_word=final_prediction_of(session))


def detail_of(session: JobSession, now_s: float, top: int = 20) -> JobDetail:
    """Return the summary with the ``top`` files and calls by bytes. Without them if the totals failed."""
    try:
        totals, left_out = session.totals, not_counted_of(session)
        with session.failures.guard_query("totals"):
            files, calls = file_totals(totals, session.names, top), call_totals(totals, session.names, top)
    except AnalysisFailedError:
        files, calls, left_out = [], [], NotCounted()
    return JobDetail(
        **_facts(session, now_s), files=files, calls=calls, not_counted=left_out, last_word=final_prediction_of(session)
    )


def not_counted_of(session: JobSession) -> NotCounted:
    """Return the program's bytes that do not count.

    Raises:
        AnalysisFailedError: the totals have failed.
    """
    totals, names = session.totals, session.names
    with session.failures.guard_query("totals"):
        return not_counted(totals, names)


def known_losses(session: JobSession, now_s: float) -> dict[str, int]:
    """Return all losses of a job, by reason, including nodes without a collector."""
    known = session.losses.all_losses(ended=session.state is State.ENDED)
    if nodes := session.unseen_nodes(now_s).total:
        known[UNSEEN_NODES] = known.get(UNSEEN_NODES, 0) + nodes
    return known


def _facts(session: JobSession, now_s: float) -> dict[str, object]:
    losses = session.losses.total
    known = known_losses(session, now_s)
    return {
        "job": session.job,
        "state": "ended" if session.state in (State.ENDED, State.REMOVED) else session.state.value,
        "user": session.user,
        "command": session.command,
        "ends_at_s": session.ends_at_s or None,
        "batch": _batch(session),
        "hosts": sorted(session.hosts),
        "nodes_unseen": session.unseen_nodes(now_s).names,
        "clocks_off_s": {host: off_ns / 1e9 for host, off_ns in sorted(session.clocks_off.items())},
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
        "losses": known,
        "complete": not known,
        "predictions": session.predictions,
        "failures": session.failures.summaries(),
    }


def _batch(session: JobSession) -> BatchFacts | None:
    if (batch := session.batch) is None:
        return None
    return BatchFacts(
        name=batch.name,
        account=batch.account,
        partition=batch.partition,
        cluster=batch.cluster,
        nodes=batch.nodes,
        node_count=batch.node_count,
        started_at_s=batch.started_at_s or None,
        limit_s=batch.limit_s or None,
        array_task=batch.array_task,
    )


def final_prediction_of(session: JobSession) -> Prediction | None:
    """Return the prediction from the whole run of an ended job. Return None before, and without one."""
    return session.prediction if session.state in (State.ENDED, State.REMOVED) else None
