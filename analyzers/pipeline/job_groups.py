"""Finds groups of a job's members with their own periods, which its prediction includes."""

from __future__ import annotations

from ...results.prediction import Prediction
from ..groups.update import MIN_MEMBERS, GroupAnalyzer
from ..online.predictor import Predictor
from ..settings import DetectSettings
from .analysis_queue import QueuedEvents
from .contract import AnalyzerKind, JobContext


class JobGroups:
    """Passes a job's events to the group analyzer, with the introductions of streams.

    Attributes:
        signal: predictor of the whole job, which provides the current time.
    """

    def __init__(self, context: JobContext) -> None:
        self.signal: Predictor | None = None
        self._names = context.names
        self.analyzer = GroupAnalyzer(context.settings.detect)

    def update(self, queued: QueuedEvents) -> None:
        """Add events."""
        # the signal of the whole job distinguishes a clock that jumped ahead
        until_ns = None if self.signal is None else self.signal.last_ns
        infos = [run.info for run in queued.runs]
        self.analyzer.update_streams(
            queued.batch, infos, queued.lengths, self._names.files, self._names.left_out, until_ns
        )

    def answer(self, prediction: Prediction, now_ns: int, *, whole: bool) -> Prediction:
        """Return a prediction of the job, extended by its groups."""
        return self.analyzer.answer(prediction, now_ns, whole=whole)

    def close_stream(self, stream: str) -> None:
        """Do nothing; members of ended streams remain."""

    def compact(self) -> None:
        """Do nothing; no events are held back."""

    def losses(self) -> dict[str, int]:
        """Return how often members were merged, and the number of dropped events."""
        return self.analyzer.losses()


def groups_wanted(settings: DetectSettings) -> bool:
    """Return whether groups are searched in running jobs."""
    return settings.method == "tide" and settings.group_members >= MIN_MEMBERS


KIND = AnalyzerKind("groups", lambda context: JobGroups(context) if groups_wanted(context.settings.detect) else None)
