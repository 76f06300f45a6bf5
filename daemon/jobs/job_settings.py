"""Settings of the aggregator's jobs: analyses, predictions, states and bounds."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import ConfigDict, Field, model_validator

from ...analyzers.dfg.settings import DfgSettings
from ...analyzers.pipeline.settings import AnalyzerSettings
from ...events import ConfigError
from ...events.files import read_text


class JobSettings(AnalyzerSettings):
    """Settings of the jobs of an aggregator."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    prediction_interval_s: float = Field(1.0, ge=0.01, le=3600, description="Seconds between predictions of a job.")
    prediction_share: float = Field(
        0.05,
        gt=0,
        le=1,
        description="Maximum share of a core for the predictions of one job; if they take longer, the job is "
        "predicted less often than prediction_interval_s.",
    )
    idle_after_s: float = Field(30.0, gt=0, description="Seconds without events after which a job is idle.")
    end_after_s: float = Field(
        900.0, gt=0, description="Seconds without events after which a job ends despite open streams."
    )
    linger_s: float = Field(
        5.0,
        ge=0,
        description="Seconds without an open stream after which a job ends; a job may consist of successive processes.",
    )
    retain_s: float = Field(600.0, ge=0, description="Seconds for which an ended job stays visible.")
    max_jobs: int = Field(
        20_000,
        ge=1,
        description="Maximum number of jobs; ended ones are removed first. Events of further ones are counted and"
        " dropped.",
    )
    max_ended_jobs: int = Field(
        5_000,
        ge=1,
        description="Maximum number of ended jobs; beyond it the one that ended first is removed before retain_s "
        "has passed.",
    )
    short_jobs_share: float = Field(
        0.25,
        ge=0,
        le=1,
        description="Maximum share of a core for the periods of jobs that lasted less than a second; none while "
        "messages of collectors wait.",
    )
    queue_share: float = Field(
        0.0625,
        ge=0,
        le=1,
        description="Maximum share of a job's events that wait to be analyzed together; results include them. An "
        "aggregator with few jobs queues up to 16,384 events of each.",
    )
    max_job_series: int = Field(
        1_000, ge=0, description="Maximum number of jobs with Prometheus series of their own; the latest active."
    )
    max_activity_series: int = Field(
        5,
        ge=0,
        le=100,
        description="Maximum number of activities of each such job with series of their own; those with the most "
        "events.",
    )
    history: int = Field(128, ge=1, description="Predictions stored per job.")
    clock_skew_s: float = Field(
        3600.0,
        gt=0,
        description="Maximum lead of an event's timestamp over the aggregator's clock, s, beyond which it is "
        "placed at its arrival.",
    )

    @model_validator(mode="after")
    def _check_samples(self) -> Self:
        self.detect.check_running()
        return self

    @model_validator(mode="after")
    def _check_graphs(self) -> Self:
        if self.dfg != DfgSettings():
            from ...analyzers.pipeline.job_graph import check_graph  # the defaults are valid

            check_graph(self.dfg, read_rules)
        return self

    @model_validator(mode="after")
    def _check_analyzers(self) -> Self:
        if self.analyzers:
            # imports all of them, which is seldom needed this early
            from ...analyzers.registry import check_settings

            check_settings(self)
        return self


def read_rules(name: str) -> str:
    """Return the text of a file named in a setting. Raises ConfigError if it cannot be read."""
    try:
        return read_text(Path(name))
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{name}: {error}") from None
