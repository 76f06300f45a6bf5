"""What can be chosen about the analyzers of a job."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from ..dfg.settings import DfgSettings
from ..interaction.settings import InteractionSettings
from ..layers.settings import LayersSettings
from ..settings import DetectSettings


class AnalyzerSettings(BaseModel):
    """Settings of every analyzer, one table each. Immutable."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    max_files: int = Field(10_000, ge=1, description="Files told apart in a job; the rest is summed up as other.")
    max_calls: int = Field(1_000, ge=1, description="Functions told apart in a job; the rest is summed up as other.")
    detect: DetectSettings = Field(
        default_factory=DetectSettings.model_construct, description="How periods are looked for."
    )
    dfg: DfgSettings = Field(
        default_factory=DfgSettings.model_construct, description="How directly-follows graphs are kept."
    )
    layers: LayersSettings = Field(
        default_factory=LayersSettings.model_construct, description="How the layers of jobs are kept."
    )
    rank: InteractionSettings = Field(
        default_factory=InteractionSettings.model_construct,
        description="How who interacts with whom is kept and ranked.",
    )
    analyzers: dict[str, dict[str, object]] = Field(
        default_factory=dict, description="Settings of further analyzers, a table each by the analyzer's name."
    )
