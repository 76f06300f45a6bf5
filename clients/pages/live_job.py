"""The page of a running job: its report, which the browser updates in place."""

from __future__ import annotations

from html import escape
from typing import Final

from ...results.live.job_view import JobView
from ..report.job_data import JobData
from ..report.report import pictures_of
from ..report.report_data import ReportData
from ..report.report_page import body

_PAGE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<base href="@BASE@">
<title>iotide: %s</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="assets/report.css">
<link rel="stylesheet" href="assets/live.css">
<script src="assets/common.js" defer></script>
<script src="assets/job.js" defer></script>
</head>
<body>
<nav aria-label="Pages"><b>iotide</b> <a href="./">Jobs</a> <a href="filesystems">File systems</a>
<a href="%s/dfg">Graph</a> <a href="%s/layers">Layers</a> <span id="status" class="status" role="status"></span></nav>
<main>
%s
</main>
</body>
</html>
"""


def job_page(view: JobView, address: str) -> str:
    """Render the page. ``@BASE@`` in its head is a placeholder for the relative path to the root.

    Args:
        view: the current data of the job.
        address: address of the page, relative to the root.
    """
    material = live_material(view)
    subject, history = material.subject, list(material.history)
    pictures = pictures_of(subject, history, material.signal)
    shown = "\n".join(body(subject, history, pictures, material.findings, view.ledger))
    way = escape(address)
    return _PAGE % (escape(subject.job.title), way, way, shown)


def waiting_page(job: str, address: str) -> str:
    """Render the page of an unknown or inaccessible job; it keeps polling."""
    shown = f"<h1>{escape(job)}</h1>\n<p>Nothing of this job has come yet, or it is not held any more.</p>"
    return _PAGE % (escape(job), escape(address), escape(address), shown)


def live_material(view: JobView) -> ReportData:
    """Return the data for the report of a running job."""
    detail = view.detail
    subject = JobData(
        job=detail,
        prediction=view.prediction,
        predictions=detail.predictions,
        started_s=detail.first_event_at_s or 0.0,
        ended_s=detail.last_event_at_s or 0.0,
        wall_clock=view.wall_clock,
    )
    return ReportData(subject, view.signal, list(view.history), view.findings)
