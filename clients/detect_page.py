"""The page of ``iotide detect --plot``: one HTML file that needs no network."""

from __future__ import annotations

from pathlib import Path

import jinja2

from ..events.analysis import DetectionReport
from ..events.panels import Panels
from .lines import other_text
from .pictures_page import embed, library
from .replay_text import replay_sentences
from .units import byte_text, duration_text, rate_text


def render_detection(report: DetectionReport, panels: Panels) -> str:
    """Renders the page; the scripts and elements of the pictures are inserted as they are, all else is escaped.

    Raises:
        UnavailableError: bokeh is missing.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(size=byte_text, rate=rate_text, duration=duration_text, other=other_text)
    script, divisions = embed(panels)
    return environment.get_template("detect.html").render(
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
