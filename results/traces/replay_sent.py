"""Public result of ``iotide replay``."""

from __future__ import annotations

from pydantic import Field

from ..base import MODELS_VERSION, Model
from .analysis import InputProblem, NotCarried


class Replayed(Model):
    """Finished traces that were sent to an aggregator as if their programs ran now."""

    version: int = MODELS_VERSION
    files: list[str]
    jobs: list[str]
    """As the aggregator knows them."""
    streams: int = Field(ge=0)
    calls: int = Field(ge=0)
    """In the traces."""
    sent: int = Field(ge=0)
    """Calls that the aggregator acknowledged; fewer when the replay was interrupted."""
    dropped: dict[str, int]
    """Calls that the aggregator refused, by reason."""
    complete: bool
    """All calls were sent and acknowledged."""
    recorded_s: float = Field(ge=0)
    """From the first call's begin to the last one's end."""
    took_s: float = Field(ge=0)
    speed: float | None
    """As asked for; None: as fast as the aggregator takes it."""
    shift_s: float
    """What was added to the times of the calls."""
    problems: list[InputProblem]
    problems_total: int = Field(ge=0)
    not_carried: list[NotCarried]
