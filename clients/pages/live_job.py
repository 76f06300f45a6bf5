"""The page of a running job: its report, which the browser updates in place."""

from __future__ import annotations

from html import escape

from ...results.live.job_view import JobView
from ..report.job_data import JobData
from ..report.report import pictures_of
from ..report.report_data import ReportData
from ..report.report_page import body
from .page_frame import framed_page


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
    return _page(subject.job.title, address, shown)


def waiting_page(job: str, address: str) -> str:
    """Render the page of an unknown or inaccessible job; it keeps polling."""
    shown = f"<h1>{escape(job)}</h1>\n<p>Nothing of this job has come yet, or it is not held any more.</p>"
    return _page(job, address, shown)


def _page(title: str, address: str, content: str) -> str:
    way = escape(address)
    links = f'\n<a href="{way}/dfg">Graph</a> <a href="{way}/layers">Layers</a>'
    return framed_page(title, content, links=links, is_report=True, script="job.js")


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
