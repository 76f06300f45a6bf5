"""Input data of a report."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ...results.findings import NO_FINDINGS, Findings
from ...results.jobs.job import SignalSeries
from ...results.prediction import Prediction
from .job_data import JobData


class ReportData(Struct, frozen=True):
    """A job with its results.

    Attributes:
        subject: the job with its totals and prediction.
        signal: its bandwidth over time.
        history: its predictions, oldest first.
        findings: results of the analyzers.
    """

    subject: JobData
    signal: SignalSeries
    history: Sequence[Prediction] = ()
    findings: Findings = NO_FINDINGS
