"""The groups of one job: from batches in the job's numbers to what they add to its prediction."""

from __future__ import annotations

from ...results.prediction import Prediction
from ..groups.update import FEWEST_MEMBERS, GroupAnalyzer
from ..online.predictor import Predictor
from ..settings import DetectSettings
from .analysis_queue import Taken
from .contract import AnalyzerKind, JobContext


class JobGroups:
    """Hands a job's events to the analyzer of groups, with who a stream is.

    Attributes:
        signal: that of the whole job, which knows how late it is.
    """

    def __init__(self, context: JobContext) -> None:
        self.signal: Predictor | None = None
        self._names = context.names
        self.analyzer = GroupAnalyzer(context.settings.detect)

    def update(self, taken: Taken) -> None:
        """Takes in events."""
        # a clock that jumped ahead is told from the job's by the signal of the whole job
        until_ns = None if self.signal is None else self.signal.last_ns
        for batch, _, info in taken.parts():
            self.analyzer.update(batch, info, self._names.files, self._names.left_out, until_ns)

    def answer(self, prediction: Prediction, now_ns: int, *, whole: bool) -> Prediction:
        """Returns a prediction of the job with what its groups add to it."""
        return self.analyzer.answer(prediction, now_ns, whole=whole)

    def close_stream(self, stream: str) -> None:
        """Changes nothing: what ended stays a member."""

    def settle(self) -> None:
        """Changes nothing."""

    def losses(self) -> dict[str, int]:
        """Returns how often members were put together, and what events were left out."""
        return self.analyzer.losses()


def groups_wanted(settings: DetectSettings) -> bool:
    """Tells whether groups are looked for in running jobs."""
    return settings.method == "tide" and settings.group_members >= FEWEST_MEMBERS


KIND = AnalyzerKind("groups", lambda context: JobGroups(context) if groups_wanted(context.settings.detect) else None)
