"""Settings of directly-follows graphs with defaults, units and limits."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from .spec.cases import DEFAULT_CASE, CaseName
from .spec.mapping import DEFAULT_MAPPING

MAX_ACTIVITIES: Final = 4096
MAX_EDGES: Final = 30_000


class DfgSettings(BaseModel):
    """Settings of the directly-follows graph of one job. Immutable."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    enabled: bool = Field(True, description="Build a directly-follows graph of each job.")
    mapping: str = Field(
        DEFAULT_MAPPING, description="Mapping from events to activities, in the text form of docs/dfg.md."
    )
    case: CaseName = Field(
        DEFAULT_CASE, description="Definition of a case; an event follows another one of the same case."
    )
    filter: str = Field("", description="Filter of events, in the text form of docs/dfg.md; all events by default.")
    sites: dict[str, str] = Field(
        {}, description='Folders by site variable, a table such as SCRATCH = "/p/scratch", for mappings and filters.'
    )
    lateness_s: float = Field(
        2.0,
        ge=0,
        le=3600,
        description="Maximum time by which an event's start may precede the newest end and still be put in order, s.",
    )
    max_held: int = Field(
        65_536,
        ge=1024,
        le=2**24,
        description="Maximum number of events that wait for earlier ones, 36 bytes each; beyond it the oldest "
        "are placed early.",
    )
    max_activities: int = Field(
        512,
        ge=1,
        le=MAX_ACTIVITIES - 1,
        description="Maximum number of distinct activities; further ones are summed as other.",
    )
    max_edges: int = Field(
        4096,
        ge=16,
        le=MAX_EDGES,
        description="Maximum number of edges; beyond it the rarest quarter is dropped and counted.",
    )
    max_cases: int = Field(
        10_000,
        ge=1,
        le=1_000_000,
        description="Maximum number of open cases; beyond it the longest idle ones are closed.",
    )
