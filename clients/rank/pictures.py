"""Graphics of interaction graphs: DOT, SVG and PNG by Graphviz, and a page."""

from __future__ import annotations

from ...results.interaction import RankReport
from ..drawing.graphviz import render_dot
from .dot import dot_of
from .page import page_of


def draw(report: RankReport, form: str, top: int) -> bytes:
    """Draw a ranking.

    Args:
        report: the report.
        form: dot, svg, png or html.
        top: leaders drawn per component.

    Raises:
        UnavailableError: Graphviz is missing or failed.
    """
    if form == "html":
        return page_of(report, top).encode()
    text = dot_of(report.ranking, top)
    return text.encode() if form == "dot" else render_dot(text, "png" if form == "png" else "svg")
