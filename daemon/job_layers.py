"""The layers of one job: from batches in the job's numbers to the report."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..analyzers.layers.settings import LayersSettings
from ..analyzers.layers.update import LayerAnalyzer
from ..analyzers.pipeline.numbering import JobNames
from .analysis_queue import Taken

if TYPE_CHECKING:
    from ..analyzers.layers.report import Cut
    from ..events.layers import Layers


class JobLayers:
    """Hands a job's events to the analyzer of layers, with what their numbers mean."""

    def __init__(self, job: str, settings: LayersSettings, names: JobNames) -> None:
        self._job = job
        self._settings = settings
        self._names = names
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

    def frozen(self) -> Callable[[Cut], Layers]:
        """Copies the state and returns what makes the report of it, in another thread and as late as one likes."""
        settings, data, calls = self._settings, self._analyzer.snapshot(), list(self._names.calls)

        def report(cut: Cut) -> Layers:
            from ..analyzers.layers.report import make_report  # with all its findings, which few ask for

            return make_report(LayerAnalyzer.restore(settings, data), calls, self._job, cut=cut)

        return report

    def losses(self) -> dict[str, int]:
        """Returns what the layers lack, by reason."""
        return self._analyzer.losses()
