"""The sums of one job by call and by file: from batches in the job's numbers to the totals."""

from __future__ import annotations

from ..totals import Totals
from .analysis_queue import Taken
from .contract import AnalyzerKind, JobContext


class JobTotals:
    """Hands a job's events to the sums.

    Attributes:
        totals: the sums.
    """

    def __init__(self, context: JobContext) -> None:
        self._names = context.names
        self.totals = Totals(max_files=context.settings.max_files, max_calls=context.settings.max_calls)

    def update(self, taken: Taken) -> None:
        """Takes in events."""
        self.totals.update(taken.batch, self._names.left_out)

    def close_stream(self, stream: str) -> None:
        """Changes nothing."""

    def settle(self) -> None:
        """Changes nothing."""

    def losses(self) -> dict[str, int]:
        """Returns nothing: what is beyond the bounds is summed as other."""
        return {}


KIND = AnalyzerKind("totals", JobTotals)
