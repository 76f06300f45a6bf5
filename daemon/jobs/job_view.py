"""The page view of a job: copied at once, and computed in another thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from msgspec import structs

from ...analyzers.contention.collision_advice import with_collisions
from ...results.contention import Slowdown
from ...results.findings import Findings
from ...results.jobs.job import SignalSeries
from ...results.live import JobView
from .accounting.job_ledger import ledger_of
from .job_findings import findings_of
from .job_summary import detail_of
from .losses.failures import AnalysisFailedError
from .session import JobSession

_MAX_PREDICTIONS: Final = 300
_TOP: Final = 40


def view_of(
    session: JobSession, now_s: float, *, archives: bool, slowdowns: Sequence[Slowdown] = ()
) -> Callable[[], JobView]:
    """Copy the data of a job, and return a function that computes its view.

    Args:
        session: session of the job.
        now_s: time of day.
        archives: whether calls are archived.
        slowdowns: slowdowns of the job by others.
    """
    detail, prediction = detail_of(session, now_s, _TOP), session.prediction
    history, findings = session.history.latest(_MAX_PREDICTIONS), findings_of(session, ranking=False)
    ledger, wall_clock = ledger_of(session, archives=archives), not session.own_clock
    try:
        signal = session.signal()
    except AnalysisFailedError:
        signal = SignalSeries(job=session.job, start_s=0.0, bin_s=1.0, read=[], written=[])

    def made() -> Findings:
        found = findings()
        if not slowdowns or found.advice is None:
            return found
        return structs.replace(found, advice=with_collisions(found.advice, slowdowns))

    return lambda: JobView(
        detail=detail,
        prediction=prediction,
        history=history,
        signal=signal,
        findings=made(),
        ledger=ledger,
        wall_clock=wall_clock,
    )
