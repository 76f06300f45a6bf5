"""Settings of the analyzers of a job."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from ..dfg.settings import DfgSettings
from ..interaction.settings import InteractionSettings
from ..layers.settings import LayersSettings
from ..settings import DetectSettings


class AnalyzerSettings(BaseModel):
    """Settings of every analyzer, one table each. Immutable."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    max_files: int = Field(
        10_000, ge=1, description="Maximum number of distinct files per job; further ones are summed as other."
    )
    max_calls: int = Field(
        1_000, ge=1, description="Maximum number of distinct functions per job; further ones are summed as other."
    )
    detect: DetectSettings = Field(
        default_factory=DetectSettings.model_construct, description="Settings of the period detection."
    )
    dfg: DfgSettings = Field(
        default_factory=DfgSettings.model_construct, description="Settings of directly-follows graphs."
    )
    layers: LayersSettings = Field(
        default_factory=LayersSettings.model_construct, description="Settings of the layer analysis."
    )
    rank: InteractionSettings = Field(
        default_factory=InteractionSettings.model_construct,
        description="Settings of interaction graphs and their ranking.",
    )
    analyzers: dict[str, dict[str, object]] = Field(
        default_factory=dict, description="Settings of additional analyzers, one table per analyzer name."
    )
