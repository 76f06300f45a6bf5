"""Results of all analyzers of a job: copied at once, and computed in another thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ...results.findings import Findings
from .losses.failures import AnalysisFailedError
from .session import JobSession

if TYPE_CHECKING:
    from ...results.advice import Advice

_Make = Callable[[], object]


def findings_of(session: JobSession, *, ranking: bool = True, run_s: float | None = None) -> Callable[[], Findings]:
    """Copy the analyzers' data of a job, and return a function that computes the results.

    The result of a failed analysis is missing; the session reports the failure.

    Args:
        session: session of the job.
        ranking: whether to include interactions, whose ranking takes 0.3 s to import.
        run_s: run time of its command, where known.
    """
    if not session.analyzers.events:
        return Findings
    makers: dict[str, _Make] = {}
    for name, look in _COPIERS.items():
        if name == "ranking" and not ranking:
            continue
        try:
            with session.failures.guard_query(_ANALYSES.get(name, name)):
                made = frozen_advice(session, run_s) if name == "advice" else look(session)
        except AnalysisFailedError:
            continue
        if made is not None:
            makers[name] = made

    def all_findings() -> Findings:
        results: dict[str, object] = {}
        for name, make in makers.items():
            try:
                with session.failures.guard_query(_ANALYSES.get(name, name)):
                    results[name] = make()
            except AnalysisFailedError:
                continue
        return Findings(**results)  # type: ignore[arg-type]

    return all_findings


def _layers(session: JobSession) -> _Make | None:
    layers = session.layers
    if layers is None:
        return None
    from ...analyzers.layers.report.report import Cut  # imports all findings, which a job without events does not need

    # parts that are not displayed are not computed
    make, cut = layers.deferred_result(), Cut(handles=0, files=0, processes=0, hosts=0)
    return lambda: make(cut)


def _heat(session: JobSession) -> _Make | None:
    analyzer = session.analyzers.reporting_analyzer("heatmap")
    return None if analyzer is None else analyzer.deferred_result()


def frozen_advice(session: JobSession, run_s: float | None = None) -> Callable[[], Advice] | None:
    """Copy the data for a job's advice, and return a function that computes it; None if it is off.

    Args:
        session: session of the job.
        run_s: run time of its command, where known.
    """
    from ...analyzers.advice.update import AdviceAnalyzer

    analyzer = session.analyzers.reporting_analyzer("advice")
    if not isinstance(analyzer, AdviceAnalyzer):
        return None
    make, periodicity = analyzer.deferred_result(), session.prediction
    return lambda: make(periodicity, run_s)


def _file_systems(session: JobSession) -> _Make | None:
    analyzer = session.analyzers.reporting_analyzer("filesystems")
    return None if analyzer is None else analyzer.deferred_result()


def _graph(session: JobSession) -> _Make | None:
    graph = session.graph
    return None if graph is None else graph.deferred_result()


def _ranking(session: JobSession) -> _Make | None:
    interactions = session.interactions
    return None if interactions is None else interactions.deferred_result()


_COPIERS: Final[dict[str, Callable[[JobSession], _Make | None]]] = {
    "layers": _layers,
    "heat": _heat,
    "graph": _graph,
    "ranking": _ranking,
    "advice": frozen_advice,
    "file_systems": _file_systems,
}
_ANALYSES: Final = {"heat": "heatmap", "ranking": "interactions", "file_systems": "filesystems"}
"""Names of analyses in failures, where they differ."""
