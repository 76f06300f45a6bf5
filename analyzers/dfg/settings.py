"""What a directly-follows graph can be told, with defaults, units and limits."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from .spec.cases import DEFAULT_CASE, CaseName
from .spec.mapping import DEFAULT_MAPPING

MOST_ACTIVITIES: Final = 4096
MOST_EDGES: Final = 30_000


class DfgSettings(BaseModel):
    """How the directly-follows graph of one job is kept. Immutable."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    enabled: bool = Field(True, description="Keep a directly-follows graph of each job.")
    mapping: str = Field(DEFAULT_MAPPING, description="What an activity is, in the text form of docs/dfg.md.")
    case: CaseName = Field(DEFAULT_CASE, description="What a case is: events follow one another within one.")
    filter: str = Field("", description="Which events count, in the text form of docs/dfg.md; all by default.")
    sites: dict[str, str] = Field(
        {}, description='Folders by site variable, a table such as SCRATCH = "/p/scratch", for mappings and filters.'
    )
    lateness_s: float = Field(
        2.0,
        ge=0,
        le=3600,
        description="How far the start of an event may lie behind the newest end and still be put into its place, s.",
    )
    max_held: int = Field(
        65_536,
        ge=1024,
        le=2**24,
        description="Events that wait for earlier ones, 36 bytes each; past it the oldest are placed sooner.",
    )
    max_activities: int = Field(
        512, ge=1, le=MOST_ACTIVITIES - 1, description="Activities told apart; the rest is summed up as other."
    )
    max_edges: int = Field(
        4096, ge=16, le=MOST_EDGES, description="Edges kept; past it the rarest quarter goes, and is counted."
    )
    max_cases: int = Field(
        10_000, ge=1, le=1_000_000, description="Cases open at once; past it the longest idle ones are closed."
    )
