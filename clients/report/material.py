"""All that a report is made of."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from ...results.findings import NO_FINDINGS, Findings
from ...results.jobs.job import SignalSeries
from ...results.prediction import Prediction
from .subject import Subject


class Material(Struct, frozen=True):
    """A job with what was found in it.

    Attributes:
        subject: which job, with its sums and its prediction.
        signal: its bandwidth over time.
        history: predictions that were made of it, oldest first.
        findings: what the analyzers say.
    """

    subject: Subject
    signal: SignalSeries
    history: Sequence[Prediction] = ()
    findings: Findings = NO_FINDINGS
