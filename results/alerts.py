"""Public results: alerts on contention, each raised once and resolved once."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from .base import MODELS_VERSION, Estimate, Model

AlertKind = Literal["slowdown", "collision"]
AlertState = Literal["raised", "resolved"]


class Alert(Model):
    """Contention that has lasted long enough, and is certain enough, to act on."""

    version: int = MODELS_VERSION
    kind: AlertKind
    """slowdown: other jobs slow a job down; collision: jobs are about to collide."""
    state: AlertState
    file_system: str
    job: str = ""
    """Job that is slowed down; "" for a collision."""
    measure: str = ""
    since_s: float
    """Time at which the alert was raised, Unix time."""
    changed_at_s: float
    """Time at which it was raised, resolved or last repeated."""
    victims: list[str]
    culprits: list[str]
    """Jobs that cause the slowdown, where they can be named. In a collision all jobs are victims."""
    sure: float = Field(ge=0, le=1)
    """Probability that the alert is right."""
    size: Estimate | None = None
    """Slowdown of the job as a ratio, or the longest expected delay in a collision, s."""
    at_s: float | None = None
    """Start of the collision: measured if it has begun, otherwise expected."""
    has_begun: bool = False
    """Whether the collision was measured."""
    completeness: float = Field(ge=0, le=1)
    summary: str
    advice: str

    @property
    def key(self) -> str:
        """Key that identifies the alert."""
        return f"{self.kind}.{self.file_system}.{self.job}.{self.measure}"


class AlertList(Model):
    """Raised alerts and recently resolved ones."""

    version: int = MODELS_VERSION
    raised: list[Alert]
    resolved: list[Alert]
    """The last hundred."""
