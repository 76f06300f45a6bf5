"""The page of ``iotide detect --plot``: one HTML file that needs no network."""

from __future__ import annotations

from ...events.analysis import DetectionReport
from ...events.panels import Panels
from ..lines import other_text
from ..templating import page_template
from .pictures_page import embed, library
from .replay_text import replay_sentences


def render_detection(report: DetectionReport, panels: Panels) -> str:
    """Renders the page; the scripts and elements of the pictures are inserted as they are, all else is escaped.

    Raises:
        UnavailableError: bokeh is missing.
    """
    script, divisions = embed(panels)
    return page_template("detect.html", other=other_text).render(
        report=report,
        prediction=panels.prediction,
        phases=len(panels.phases),
        replay=panels.replay,
        validity=panels.validity,
        replayed=[] if panels.replay is None else replay_sentences(panels.replay),
        notes=panels.notes,
        library=library(),
        script=script,
        panels=divisions,
    )
