"""Public results on a job's I/O by member and time: time in calls."""

from __future__ import annotations

from pydantic import Field

from ..base import MODELS_VERSION, Model


class HeatRow(Model):
    """A member of a job, or several neighbouring ones: time in calls per bin, s, summed over threads."""

    name: str
    """Rank, or host and process with its command. For several ranks the first and the last."""
    members: int = Field(ge=1)
    """Number of members that the row covers."""
    most: str = ""
    """Member of the row that spends the most time in these calls. "" where it is not known."""
    most_seconds: float = 0.0
    """Time of that member."""
    read: list[float]
    written: list[float]
    other: list[float]
    """In calls that move no data: open, close, stat, flush ..."""

    @property
    def seconds(self) -> float:
        """Total time in calls, s."""
        return sum(self.read) + sum(self.written) + sum(self.other)


class HeatMap(Model):
    """Time of a job's members in calls on the program's data, by time bin.

    Calls are those that the program itself makes. A bin of a row in which the members do nothing else has the value
    ``bin_s * members``.
    """

    version: int = MODELS_VERSION
    job: str
    start_s: float
    bin_s: float = Field(gt=0)
    members: int = Field(ge=0)
    """Ranks and processes without a rank that made such calls."""
    rows: list[HeatRow]
    """Ranks in ascending order, then processes ordered by start."""
