"""Settings of a cluster of aggregators."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, ConfigDict, Field

MAX_PARTITIONS: Final = 256


class ClusterSettings(BaseModel):
    """Distribution of the jobs of `journal.servers` over the aggregators with the same servers and journal."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    on: bool = Field(False, description="Distribute the jobs over several aggregators.")
    partitions: int = Field(
        8,
        ge=1,
        le=MAX_PARTITIONS,
        description="Number of partitions that jobs are hashed to, with one process each; fixed once the cluster "
        "exists.",
    )
    answer_within_s: float = Field(
        5.0,
        gt=0,
        le=60,
        description="Timeout of a member's answer, after which it is left out of a list of all jobs, s.",
    )
    watchdog_s: float = Field(30.0, ge=1, description="Silence after which a partition's process is killed, s.")
    results_bytes: int = Field(
        4 << 20,
        ge=1 << 16,
        le=64 << 20,
        description="Bytes of jobs' results, compressed, that a partition publishes for the contention analyzer each "
        "`contention.interval_s`; the latest active jobs first.",
    )
