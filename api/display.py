"""Results in a notebook: the page that a command would write, in an iframe."""

from __future__ import annotations

import html
import io

from ..clients.detection.text import print_detection
from ..clients.dfg.text import print_graph
from ..clients.layers.text import print_layers
from ..clients.rank.text import print_ranking
from ..clients.text.advice_text import print_advice
from ..results.advice import Advice
from ..results.dfg import Graph, GraphReport
from ..results.interaction import RankReport
from ..results.layers import LayersReport
from ..results.traces.analysis import DetectionReport

_ROWS = 20

Result = Advice | DetectionReport | LayersReport | Graph | GraphReport | RankReport


class Shown:
    """A result for display: text when printed, a page in Jupyter.

    Attributes:
        result: the result itself.
    """

    def __init__(self, result: Result, top: int) -> None:
        self.result = result
        self._top = top

    def __str__(self) -> str:
        out = io.StringIO()
        if isinstance(self.result, DetectionReport):
            print_detection(self.result, out)
        elif isinstance(self.result, Advice):
            print_advice(self.result, out)
        elif isinstance(self.result, LayersReport):
            print_layers(self.result, out, self._top)
        elif isinstance(self.result, RankReport):
            print_ranking(self.result, out)
        else:
            print_graph(_to_report(self.result), out, self._top)
        return out.getvalue()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return an iframe with the page. Its styles and the notebook's then do not mix."""
        page = _page_of(self.result, self._top)
        if page is None:
            return f"<pre>{html.escape(str(self))}</pre>"
        return f'<iframe srcdoc="{html.escape(page)}" sandbox="allow-scripts" width="100%" height="600"></iframe>'


def show(result: Result, *, top: int = _ROWS) -> Shown:
    """Return a result for display, with at most ``top`` rows per table.

    Raises:
        TypeError: ``result`` is no result of iotide.
    """
    if not isinstance(result, Result):
        raise TypeError(
            f"{type(result).__name__}: not a result; expected what detect, graph, layers, rank or advice return"
        )
    return Shown(result, top)


def _to_report(graph: Graph | GraphReport) -> GraphReport:
    if isinstance(graph, GraphReport):
        return graph
    return GraphReport(files=[graph.job], source="", wall_clock=True, graph=graph)


def _page_of(result: Result, top: int) -> str | None:
    """Return the page that the command writes. Return None for results without a page of their own."""
    if isinstance(result, LayersReport):
        from ..clients.layers.page import page_of as page_of_layers

        return page_of_layers(result)
    if isinstance(result, RankReport):
        from ..clients.rank.graph_output import page_of as page_of_ranking

        return page_of_ranking(result, top)
    if isinstance(result, Graph | GraphReport):
        from ..clients.dfg.page import page_of as page_of_graph

        report = _to_report(result)
        return page_of_graph(report.graph, comparison=report.comparison)
    return None
