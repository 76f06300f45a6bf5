"""Results in a notebook: the page that a command would write, in an iframe."""

from __future__ import annotations

import html
import io

from rich.console import Console

from ..clients.detection.text import print_detection
from ..clients.dfg.text import print_graph
from ..clients.layers.text import print_layers
from ..clients.rank.text import print_ranking
from ..clients.text.advice_text import print_advice
from ..clients.text.contention_text import print_contention
from ..clients.text.prediction_text import prediction_lines
from ..results.advice import Advice
from ..results.contention import Contention
from ..results.dfg import Graph, GraphReport
from ..results.interaction import Ranking, RankReport
from ..results.layers import Layers, LayersReport
from ..results.prediction import Prediction
from ..results.traces.analysis import DetectionReport

_ROWS = 20

_Report = Advice | Contention | DetectionReport | GraphReport | LayersReport | Prediction | RankReport
Result = _Report | Graph | Layers | Ranking


class Shown:
    """A result for display: text when printed, a page in Jupyter.

    Attributes:
        result: the result itself.
    """

    def __init__(self, result: Result, top: int) -> None:
        self.result = result
        self._top = top

    def __str__(self) -> str:
        out, report = io.StringIO(), _to_report(self.result)
        match report:
            case DetectionReport():
                print_detection(report, out)
            case Advice():
                print_advice(report, out)
            case LayersReport():
                print_layers(report, out, self._top)
            case RankReport():
                print_ranking(report, out)
            case Prediction():
                print(*prediction_lines(report), sep="\n", file=out)
            case Contention():
                print_contention(report, Console(file=out, highlight=False))
            case GraphReport():
                print_graph(report, out, self._top)
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
            f"{type(result).__name__}: not a result; expected what detect, prediction, graph, layers, rank, advice or "
            "contention return"
        )
    return Shown(result, top)


def _to_report(result: Result) -> _Report:
    """Return what a command would print: results of running jobs lack the facts about files."""
    match result:
        case Graph():
            return GraphReport(files=[result.job], source="", wall_clock=True, graph=result)
        case Layers():
            return LayersReport(files=[result.job], source="job of an aggregator", wall_clock=True, layers=result)
        case Ranking():
            return RankReport(files=[result.job], source="job of an aggregator", wall_clock=True, ranking=result)
        case _:
            return result


def _page_of(result: Result, top: int) -> str | None:
    """Return the page that the command writes. Return None for results without a page of their own."""
    report = _to_report(result)
    if isinstance(report, LayersReport):
        from ..clients.layers.page import page_of as page_of_layers

        return page_of_layers(report)
    if isinstance(report, RankReport):
        from ..clients.rank.graph_output import page_of as page_of_ranking

        return page_of_ranking(report, top)
    if isinstance(report, GraphReport):
        from ..clients.dfg.page import page_of as page_of_graph

        return page_of_graph(report.graph, comparison=report.comparison)
    return None
