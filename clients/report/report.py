"""The report of a run. It is one HTML page with embedded charts, and its data as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ...results.findings import NO_FINDINGS, Findings
from ...results.jobs.job import SignalSeries
from ...results.jobs.run import RunSummary
from ...results.prediction import Prediction
from .job_data import JobData, subject_of
from .report_data import ReportData
from .report_page import render_page

REPORT_NAME = "report.html"
_SETTLING: Final = 3
"""Least number of predictions with a period for a chart of their convergence."""


def write_report(
    folder: Path,
    summary: RunSummary,
    history: Sequence[Prediction],
    signal: SignalSeries,
    findings: Findings = NO_FINDINGS,
) -> Path:
    """Write ``report.html``, ``summary.json``, ``predictions.jsonl`` and ``signal.json`` into a private folder.

    Returns:
        The page's path.

    Raises:
        OSError: the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    _write(folder / "summary.json", summary.model_dump_json(indent=2) + "\n")
    _write(folder / "predictions.jsonl", "".join(row.model_dump_json() + "\n" for row in history))
    _write(folder / "signal.json", signal.model_dump_json() + "\n")
    page = folder / REPORT_NAME
    subject = subject_of(summary)
    _write(page, render_page(subject, history, pictures_of(subject, history, signal), findings))
    return page


def write_page(target: Path, material: ReportData) -> None:
    """Write only the page, completely or not at all.

    Raises:
        OSError: it cannot be written.
    """
    subject, history = material.subject, material.history
    pictures = pictures_of(subject, history, material.signal)
    _write(target, render_page(subject, history, pictures, material.findings))


def pictures_of(subject: JobData, history: Sequence[Prediction], signal: SignalSeries) -> dict[str, str]:
    """Draw the charts that have data. Many short runs have none and skip the import of drawing code."""
    has_signal = any(signal.read) or any(signal.written)
    settles = sum(row.period_s is not None for row in history) >= _SETTLING
    if not (has_signal or settles):
        return {}
    from .charts.signal_charts import history_chart, signal_chart

    pictures = {}
    if has_signal:
        pictures["signal"] = signal_chart(signal, subject.prediction)
    if settles:
        pictures["history"] = history_chart(history)
    return pictures


def _write(path: Path, text: str) -> None:
    """Write a file completely or not at all. A file truncated by a full disk would look like a report."""
    written = path.with_name(f".{path.name}.part")
    try:
        written.write_text(text, encoding="utf-8")
        written.replace(path)
    except OSError:
        written.unlink(missing_ok=True)
        raise
