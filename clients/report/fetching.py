"""Data for the report of a running job, queried from its aggregator."""

from __future__ import annotations

from typing import TypeVar

from ...events import InputError
from ...results.advice import Advice
from ...results.base import Model
from ...results.dfg import Graph
from ...results.findings import Findings
from ...results.interaction import Ranking
from ...results.jobs.file_systems import JobFileSystems
from ...results.jobs.heat_map import HeatMap
from ...results.jobs.job import JobDetail, SignalSeries
from ...results.layers import Layers
from ...results.prediction import PredictionList
from ..job_fetch import fetch
from .job_data import JobData
from .report_data import ReportData

_M = TypeVar("_M", bound=Model)


def fetch_material(address: str) -> ReportData:
    """Query all results of a job while it runs.

    Raises:
        InputError: the aggregator does not answer, or has no such job.
    """
    detail = fetch(address, "", JobDetail)
    kept = _fetch_optional(address, "predictions", PredictionList)
    history = [] if kept is None else kept.predictions
    signal = _fetch_optional(address, "signal", SignalSeries)
    started_s, ended_s = detail.first_event_at_s or 0.0, detail.last_event_at_s or 0.0
    findings = Findings(
        layers=_fetch_optional(address, "layers", Layers),
        heat=_fetch_optional(address, "heatmap", HeatMap),
        graph=_fetch_optional(address, "dfg", Graph),
        ranking=_fetch_optional(address, "rank", Ranking),
        advice=_fetch_optional(address, "advice", Advice),
        file_systems=_fetch_optional(address, "filesystems", JobFileSystems),
    )
    subject = JobData(
        job=detail,
        prediction=history[-1] if history else None,
        predictions=detail.predictions,
        started_s=started_s,
        ended_s=ended_s,
        notes=("as the aggregator knew it when this was asked",) if detail.state != "ended" else (),
    )
    empty = SignalSeries(job=detail.job, start_s=started_s, bin_s=1.0, read=[], written=[])
    return ReportData(subject, signal or empty, history, findings)


def _fetch_optional(address: str, result: str, model: type[_M]) -> _M | None:
    """Return a result; None if the aggregator lacks it for this job."""
    try:
        return fetch(address, result, model)
    except InputError:
        return None
