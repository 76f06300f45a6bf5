"""Public results: alerts on contention, each raised once and resolved once."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from .base import MODELS_VERSION, Estimate, Model

AlertKind = Literal["slowdown", "collision"]
AlertState = Literal["raised", "resolved"]


class Alert(Model):
    """Contention that lasts long enough, and is sure enough, to do something about it."""

    version: int = MODELS_VERSION
    kind: AlertKind
    """slowdown: a job is slowed down by others; collision: jobs are about to collide."""
    state: AlertState
    file_system: str
    job: str = ""
    """Who is slowed down; "" for a collision."""
    measure: str = ""
    since_s: float
    """When it was raised, Unix time."""
    changed_at_s: float
    """When it was raised or resolved, or last told anew."""
    victims: list[str]
    culprits: list[str]
    """Who does it, as far as somebody can be named; of a collision all jobs are victims."""
    sure: float = Field(ge=0, le=1)
    """Probability that it is so."""
    size: Estimate | None = None
    """Slowdown of the job as a ratio, or the longest delay to expect in a collision, s."""
    at_s: float | None = None
    """When the collision is expected to begin."""
    completeness: float = Field(ge=0, le=1)
    summary: str
    advice: str

    @property
    def key(self) -> str:
        """What tells it from other alerts."""
        return f"{self.kind}.{self.file_system}.{self.job}.{self.measure}"


class AlertList(Model):
    """Alerts that are raised, and those resolved lately."""

    version: int = MODELS_VERSION
    raised: list[Alert]
    resolved: list[Alert]
    """The last hundred."""
