"""All that is shown of one job at one moment."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from ..findings import Findings
from ..prediction import Prediction
from .job import JobDetail, SignalSeries
from .ledger import JobLedger


class JobView(Struct, frozen=True):
    """A job as it is now.

    Attributes:
        detail: sums, largest files and calls.
        prediction: the last one.
        history: the latest predictions, oldest first; may be gone through once.
        signal: bandwidth over time.
        findings: results of its analyzers.
        ledger: where its events are.
        wall_clock: whether its times are Unix time.
    """

    detail: JobDetail
    prediction: Prediction | None
    history: Iterable[Prediction]
    signal: SignalSeries
    findings: Findings
    ledger: JobLedger | None = None
    wall_clock: bool = True
