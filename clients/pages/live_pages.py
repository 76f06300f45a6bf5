"""Pages of running jobs: graphs, redrawn with fixed node positions, and layers."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from ...events.losses import loss_lines
from ...results.dfg import Comparison, Graph
from ...results.layers import Layers, LayersReport
from ...results.live.job_view import JobView
from ..dfg.layout import Layout
from ..dfg.page import render_with_layout
from ..layers.page import page_of
from ..web import web_file
from .live_job import job_page, waiting_page
from .page_frame import shell_page
from .runbooks_page import runbooks_page

MAX_PAGES: Final = 64
RULES: Final = "rules.yml"
_PROMETHEUS: Final = Path(__file__).parents[2] / "deploy" / "prometheus"
REFRESH_S: Final = 2.0
_NO_LOSSES: Final[Mapping[str, int]] = MappingProxyType({})
_SHARE: Final = 0.1  # of a core, per page


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
            report = LayersReport(files=[layers.job], source="running job", wall_clock=True, layers=layers)
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
            return (rules.read_text(), "application/yaml") if (rules := _PROMETHEUS / RULES).exists() else None
        page = shell_page(name)
        return web_file(name) if page is None else (page, "text/html")

    def _cache(self, name: str, text: str, layout: Layout | None, begun: float) -> None:
        now = time.monotonic()
        self._pages[name] = _Page(text, layout, now + max(self._refresh_s / 2, (now - begun) / _SHARE))
        self._pages.move_to_end(name)
        while len(self._pages) > MAX_PAGES:
            self._pages.popitem(last=False)
