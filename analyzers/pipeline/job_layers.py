"""The layers of one job: from batches in the job's numbers to the report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..layers.update import LayerAnalyzer
from .analysis_queue import Taken
from .contract import AnalyzerKind, JobContext

if TYPE_CHECKING:
    from ...results.layers import Layers, Nesting
    from ..layers.report.report import Cut


class JobLayers:
    """Hands a job's events to the analyzer of layers, with what their numbers mean."""

    def __init__(self, context: JobContext) -> None:
        detect = context.settings.detect
        settings = context.settings.layers.with_paths(detect.data_paths, detect.system_paths)
        self._job = context.job
        self._settings = settings
        self._names = context.names
        self._analyzer = LayerAnalyzer(settings)

    def update(self, taken: Taken) -> None:
        """Takes in events."""
        for batch, stream, info in taken.parts():
            self._analyzer.update(batch, stream, info, self._names.files)

    def close_stream(self, stream: str) -> None:
        """Takes in that a stream has ended, and with it the calls that it was in."""
        self._analyzer.close_stream(stream)

    def settle(self) -> None:
        """Gives memory back that a silent job does not need."""
        self._analyzer.settle()

    def frozen(self) -> Callable[..., Layers]:
        """Copies the state and returns what makes the report of it, in another thread and as late as one likes.

        What is returned takes how long the lists of the report may be, a ``Cut``; by default they are whole.
        """
        settings, data, calls = self._settings, self._analyzer.snapshot(), list(self._names.calls)
        return lambda cut=None: _report(LayerAnalyzer.restore(settings, data), calls, self._job, cut)

    def report(self, cut: Cut | None = None, nesting: Nesting | None = None) -> Layers:
        """Returns the report of now, without a copy of the state.

        Args:
            cut: how long its lists may be; by default they are whole.
            nesting: how it is known which calls were made in which, where the calls do not say.
        """
        return _report(self._analyzer, self._names.calls, self._job, cut, nesting)

    def losses(self) -> dict[str, int]:
        """Returns what the layers lack, by reason."""
        return self._analyzer.losses()


def _report(
    analyzer: LayerAnalyzer, calls: Sequence[str], job: str, cut: Cut | None, nesting: Nesting | None = None
) -> Layers:
    from ..layers.report.report import Cut, make_report  # with all its findings, which few ask for

    return make_report(analyzer, calls, job, nesting=nesting, cut=cut or Cut())


KIND = AnalyzerKind("layers", lambda context: JobLayers(context) if context.settings.layers.enabled else None)
