"""Layers of one job, from batches in the job's numbering."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..layers.update import LayerAnalyzer
from .analysis_queue import QueuedEvents
from .contract import AnalyzerKind, JobContext

if TYPE_CHECKING:
    from ...results.layers import Layers, Nesting
    from ..layers.report.report import Cut


class JobLayers:
    """Passes a job's events to the layer analyzer, with the names of their numbers."""

    def __init__(self, context: JobContext) -> None:
        detect = context.settings.detect
        settings = context.settings.layers.with_paths(detect.data_paths, detect.system_paths)
        self._job = context.job
        self._settings = settings
        self._names = context.names
        self._analyzer = LayerAnalyzer(settings)

    def update(self, queued: QueuedEvents) -> None:
        """Add events."""
        self._analyzer.update_parts(queued.parts(), self._names.files)

    def close_stream(self, stream: str) -> None:
        """End a stream, and the enclosing calls in it."""
        self._analyzer.close_stream(stream)

    def compact(self) -> None:
        """Free memory that a job without activity does not need."""
        self._analyzer.compact()

    def deferred_result(self) -> Callable[..., Layers]:
        """Copy the state and return a function that computes the report.

        The function can run later and in any thread.

        The function takes a ``Cut`` with the maximum lengths of the report's lists; by default they are complete.
        """
        settings, data, calls = self._settings, self._analyzer.snapshot(), list(self._names.calls)
        return lambda cut=None: _report(LayerAnalyzer.restore(settings, data), calls, self._job, cut)

    def report(self, cut: Cut | None = None, nesting: Nesting | None = None, *, has_handles: bool = True) -> Layers:
        """Return the current report, without a copy of the state.

        Args:
            cut: maximum lengths of its lists; by default they are complete.
            nesting: source of the nesting of calls, if the calls do not record it.
            has_handles: False if handles were made from files.
        """
        return _report(self._analyzer, self._names.calls, self._job, cut, nesting, has_handles=has_handles)

    def losses(self) -> dict[str, int]:
        """Return losses by reason."""
        return self._analyzer.losses()


def _report(
    analyzer: LayerAnalyzer,
    calls: Sequence[str],
    job: str,
    cut: Cut | None,
    nesting: Nesting | None = None,
    *,
    has_handles: bool = True,
) -> Layers:
    from ..layers.report.report import Cut, make_report  # imported on demand with all findings, which are rarely needed

    return make_report(analyzer, calls, job, nesting=nesting, has_handles=has_handles, cut=cut or Cut())


KIND = AnalyzerKind("layers", lambda context: JobLayers(context) if context.settings.layers.enabled else None)
