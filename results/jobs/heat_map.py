"""Public results of who of a job does I/O when: time in calls by member and moment."""

from __future__ import annotations

from pydantic import Field

from ..base import MODELS_VERSION, Model


class HeatRow(Model):
    """A member of a job, or several neighbouring ones: time in calls in each bin, seconds summed over threads."""

    name: str
    """Rank, or host and process with its command; of several ranks the first and the last."""
    members: int = Field(ge=1)
    """How many the row stands for."""
    most: str = ""
    """Which of several spends the most time in these calls; "" where it is not known."""
    most_seconds: float = 0.0
    """That time."""
    read: list[float]
    written: list[float]
    other: list[float]
    """In calls that move no data: open, close, stat, flush ..."""

    @property
    def seconds(self) -> float:
        """Time in calls, all together."""
        return sum(self.read) + sum(self.written) + sum(self.other)


class HeatMap(Model):
    """Time that the members of a job spend in calls on the program's data, by moment.

    Calls are those that the program itself makes. A bin of a row that does nothing else is ``bin_s * members`` long.
    """

    version: int = MODELS_VERSION
    job: str
    start_s: float
    bin_s: float = Field(gt=0)
    members: int = Field(ge=0)
    """Ranks and processes without a rank that made such calls."""
    rows: list[HeatRow]
    """Ranks in their order, then processes in the order in which they began."""
