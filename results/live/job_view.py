"""All displayed data of one job at one moment."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from ..findings import Findings
from ..jobs.job import JobDetail, SignalSeries
from ..jobs.ledger import JobLedger
from ..prediction import Prediction


class JobView(Struct, frozen=True):
    """Current data of a job.

    Attributes:
        detail: totals, largest files and calls.
        prediction: the latest one.
        history: the latest predictions, oldest first; may be iterated only once.
        signal: bandwidth over time.
        findings: results of its analyzers.
        ledger: account of its events.
        wall_clock: whether times are Unix time.
    """

    detail: JobDetail
    prediction: Prediction | None
    history: Iterable[Prediction]
    signal: SignalSeries
    findings: Findings
    ledger: JobLedger | None = None
    wall_clock: bool = True
