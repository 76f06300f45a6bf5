"""Pages of running jobs: reports that the browser updates, graphs with fixed positions, layers; and the runbooks."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from ...events.losses import loss_lines
from ...results.dfg import Comparison, Graph
from ...results.layers import Layers, LayersReport
from ...results.live import JobView
from ..dfg.layout import Layout
from ..dfg.page import render_with_layout
from ..layers.page import page_of
from ..report.job_data import JobData
from ..report.report import pictures_of
from ..report.report_data import ReportData
from ..report.report_page import body
from ..web import web_file

if TYPE_CHECKING:
    from markdown_it.token import Token

_FRAME: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<base href="@BASE@">
<title>iotide: {title}</title>
<link rel="icon" href="data:,">
{includes}
</head>
<body>
<nav aria-label="Pages"><b>iotide</b> <a href="./">Jobs</a> <a href="filesystems">File systems</a>{links}</nav>
<main>
{content}
</main>
</body>
</html>
"""
_STATUS: Final = ' <span id="status" class="status" role="status"></span>'
_SHELLS: Final = {
    "fleet.html": ("Jobs", "fleet.js"),
    "filesystems.html": ("File systems", "filesystems.js"),
    "api.html": ("API", "api.js"),
}
"""Title and script of the pages whose script fetches the data."""


def framed_page(title: str, content: str, *, links: str = "", is_report: bool = False, script: str = "") -> str:
    """Render a page. ``@BASE@`` in its head is a placeholder for the relative path to the root.

    Args:
        title: title of the window.
        content: HTML of the page.
        links: HTML of further links of the navigation.
        is_report: whether the page has the style of a report.
        script: file of the page's script, with a place for its status; "" for none.
    """
    styles = (["report.css"] if is_report else []) + ["live.css"]
    scripts = ["common.js", script] if script else []
    includes = [f'<link rel="stylesheet" href="assets/{name}">' for name in styles]
    includes += [f'<script src="assets/{name}" defer></script>' for name in scripts]
    return _FRAME.format(
        title=escape(title),
        includes="\n".join(includes),
        links=links + (_STATUS if script else ""),
        content=content.strip(),
    )


def shell_page(name: str) -> str | None:
    """Return a page whose script fetches the data; None if there is none of this name."""
    if name not in _SHELLS or (content := web_file(name)) is None:
        return None
    title, script = _SHELLS[name]
    current = ' aria-current="page"' if name == "api.html" else ""
    links = f'\n<a href="runbooks">Runbooks</a> <a href="api/v1/docs"{current}>API</a>'
    return framed_page(title, content[0], links=links, script=script)


SOURCE: Final = Path(__file__).parents[2] / "docs" / "runbooks.md"


@cache
def runbooks_page() -> str | None:
    """Render the page; ``@BASE@`` is a placeholder for the relative path to the root.

    Sections have the anchors of ``runbook_url``: the alert's name in lower case. Links to other pages of the
    documentation become text, as the aggregator does not serve these pages.

    Returns:
        The page, or None if the installation has no documentation.
    """
    from markdown_it import MarkdownIt

    try:
        text = SOURCE.read_text(encoding="utf-8")
    except OSError:
        return None
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(text)
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", tokens[at + 1].content.lower().replace(" ", "-"))
        elif token.children:
            token.children = _unlink_other_pages(token.children)
    shown: str = parser.renderer.render(tokens, parser.options, {})
    return framed_page("Runbooks", shown, is_report=True)


def _unlink_other_pages(tokens: list[Token]) -> list[Token]:
    """Replace links to other pages by their text and the path in the documentation."""
    from markdown_it.token import Token

    kept: list[Token] = []
    path = ""
    for token in tokens:
        if token.type == "link_open":
            target = str(token.attrGet("href") or "")
            path = "" if target.startswith(("#", "https://")) else target
            if not path:
                kept.append(token)
        elif token.type == "link_close" and path:
            kept.append(Token("text", "", 0, content=f" (docs/{path})"))
            path = ""
        else:
            kept.append(token)
    return kept


MAX_PAGES: Final = 64
RULES: Final = "rules.yml"
_PROMETHEUS: Final = Path(__file__).parents[2] / "deploy" / "prometheus"
REFRESH_S: Final = 2.0
_NO_LOSSES: Final[Mapping[str, int]] = MappingProxyType({})
_SHARE: Final = 0.1  # of a core, per page


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


@dataclass(frozen=True)
class _Page:
    text: str
    layout: Layout | None
    stale_s: float


class LivePages:
    """Renders pages and caches the last one of each name; thread-safe.

    A page is rendered again when it is older than ``refresh_s`` and than ten times its rendering time.
    """

    def __init__(self, refresh_s: float = REFRESH_S) -> None:
        self._refresh_s = refresh_s
        self._pages: OrderedDict[str, _Page] = OrderedDict()
        self._lock = threading.Lock()

    def current(self, name: str) -> str | None:
        """Return a cached page that is still fresh."""
        page = self._pages.get(name)
        return None if page is None or time.monotonic() >= page.stale_s else page.text

    def draw(
        self, name: str, graph: Graph, comparison: Comparison | None = None, *, losses: Mapping[str, int] = _NO_LOSSES
    ) -> str:
        """Render a graph page with its job's losses. Nodes of an earlier rendering keep their positions."""
        with self._lock:
            begun = time.monotonic()
            last = self._pages.get(name)
            text, layout = render_with_layout(
                graph,
                comparison=comparison,
                before=None if last is None else last.layout,
                refresh_s=self._refresh_s,
                lost=list(loss_lines(losses)),
            )
            self._cache(name, text, layout, begun)
            return text

    def draw_layers(self, name: str, layers: Layers, *, losses: Mapping[str, int] = _NO_LOSSES) -> str:
        """Render the page of a job's layers with its losses."""
        with self._lock:
            begun = time.monotonic()
            report = LayersReport(files=[layers.job], source="job of an aggregator", wall_clock=True, layers=layers)
            text = page_of(report, refresh_s=self._refresh_s, lost=list(loss_lines(losses)))
            self._cache(name, text, None, begun)
            return text

    def draw_job(self, name: str, view: JobView, address: str) -> str:
        """Render the page of a job; ``address``: address of the page, relative to the root."""
        with self._lock:
            begun = time.monotonic()
            text = job_page(view, address)
            self._cache(name, text, None, begun)
            return text

    def draw_waiting(self, job: str, address: str) -> str:
        """Render the page of an unknown job."""
        return waiting_page(job, address)

    def web_file(self, name: str) -> tuple[str, str] | None:
        """Return text and media type of a file that the pages use."""
        if name == "runbooks.html":
            page = runbooks_page()
            return None if page is None else (page, "text/html")
        if name == RULES:
            return (
                (rules.read_text(encoding="utf-8"), "application/yaml")
                if (rules := _PROMETHEUS / RULES).exists()
                else None
            )
        page = shell_page(name)
        return web_file(name) if page is None else (page, "text/html")

    def _cache(self, name: str, text: str, layout: Layout | None, begun: float) -> None:
        now = time.monotonic()
        self._pages[name] = _Page(text, layout, now + max(self._refresh_s / 2, (now - begun) / _SHARE))
        self._pages.move_to_end(name)
        while len(self._pages) > MAX_PAGES:
            self._pages.popitem(last=False)
