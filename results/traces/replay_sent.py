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
    """Job ids at the aggregator."""
    streams: int = Field(ge=0)
    calls: int = Field(ge=0)
    """Calls in the traces."""
    sent: int = Field(ge=0)
    """Calls that the aggregator acknowledged; fewer when the replay was interrupted."""
    dropped: dict[str, int]
    """Calls that the aggregator refused, by reason."""
    complete: bool
    """True if all calls were sent and acknowledged."""
    recorded_s: float = Field(ge=0)
    """Time from the start of the first call to the end of the last one, s."""
    took_s: float = Field(ge=0)
    speed: float | None
    """Requested speed; None: as fast as the aggregator accepts."""
    shift_s: float
    """Offset added to the times of the calls, s."""
    problems: list[InputProblem]
    problems_total: int = Field(ge=0)
    not_carried: list[NotCarried]
