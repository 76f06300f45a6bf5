"""Graphics of interaction graphs: DOT, SVG and PNG by Graphviz, and a page."""

from __future__ import annotations

from ...events.counted_text import counted
from ...events.errors import UnavailableError
from ...results.interaction import RankReport
from ..drawing.graphviz import render_dot
from ..templating import page_template
from .dot import dot_of
from .text import actor_name, interaction_text

_MAX_ROWS = 200


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


def page_of(report: RankReport, top: int) -> str:
    """Render the page; names of programs and files are escaped.

    Args:
        report: the report.
        top: leaders drawn per component.
    """
    ranking = report.ranking
    try:
        svg = render_dot(dot_of(ranking, top), "svg").decode()
        picture, missing = svg[svg.index("<svg") :], ""
    except UnavailableError as error:
        picture, missing = "", str(error)
    actors = {actor.id: actor for actor in ranking.actors}
    files = {file.id: file.path for file in ranking.files}

    def end(number: int, is_file: bool) -> str:
        return files[number] if is_file else actor_name(actors[number])

    return page_template("rank.html", who=actor_name, how=interaction_text, counted=counted).render(
        report=report,
        ranking=ranking,
        picture=picture,
        missing=missing,
        actors=ranking.actors[:_MAX_ROWS],
        leaders={number for component in ranking.components for number in component.leaders},
        edges=[
            (edge, end(edge.source, edge.source_is_file), end(edge.target, edge.target_is_file))
            for edge in ranking.edges[:_MAX_ROWS]
        ],
    )
