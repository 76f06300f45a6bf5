"""The page of ``iotide detect --plot``: one HTML file that needs no network."""

from __future__ import annotations

from ...results.traces.analysis import DetectionReport
from ...results.traces.plot_data import PlotData
from ..templating import page_template
from ..text.headline import (
    NO_PERIOD_NOTE,
    further_period_text,
    further_periods,
    make_headline,
    members_text,
    weight_text,
)
from ..text.units import not_counted_text
from .page_periods import period_rows
from .pictures_page import embed, library
from .replay_text import replay_sentences


def render_detection(report: DetectionReport, panels: PlotData) -> str:
    """Render the page. Scripts and elements of the charts are inserted unescaped, everything else is escaped.

    Raises:
        UnavailableError: bokeh is missing.
    """
    script, divisions = embed(panels)
    of_all = panels.whole is None or panels.prediction.who is None
    return page_template(
        "detect.html", other=further_period_text, weight=lambda row: weight_text(panels.prediction, row)
    ).render(
        report=report,
        prediction=panels.prediction,
        headline=make_headline(panels.prediction, report.start_s),
        further=further_periods(panels.prediction),
        left=not_counted_text(report.not_counted),
        no_line=NO_PERIOD_NOTE,
        members="" if of_all or panels.prediction.who is None else members_text(panels.prediction.who),
        periods=period_rows(panels, report.start_s),
        phases=len(panels.phases),
        replay=panels.replay,
        validity=panels.validity,
        replayed=[] if panels.replay is None else replay_sentences(panels.replay),
        notes=panels.notes,
        library=library(),
        script=script,
        panels=divisions,
    )
