"""How a cluster of aggregators shares jobs out."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, ConfigDict, Field

MOST_PARTITIONS: Final = 256


class ClusterSettings(BaseModel):
    """How the jobs of `journal.servers` are shared out among the aggregators that name the same servers and journal."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    on: bool = Field(False, description="Share the jobs out, in place of one aggregator that has them all.")
    partitions: int = Field(
        8,
        ge=1,
        le=MOST_PARTITIONS,
        description="Partitions that jobs are hashed to, each with a process; fixed once the cluster exists.",
    )
    answer_within_s: float = Field(
        5.0, gt=0, le=60, description="Seconds after which a member's answer is left out of a list of all jobs."
    )
    watchdog_s: float = Field(
        30.0, ge=1, description="Seconds without a sign of life after which a partition's process is killed."
    )
    results_bytes: int = Field(
        4 << 20,
        ge=1 << 16,
        le=64 << 20,
        description="Bytes of jobs' results, compressed, that a partition publishes for the contention analyzer each "
        "`contention.interval_s`; the latest active jobs first.",
    )
