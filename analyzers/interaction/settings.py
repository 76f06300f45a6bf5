"""Settings of interaction graphs with defaults, units and limits."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from ...results.interaction_kinds import Grouping, Start

MAX_ACTORS: Final = 2**20 - 1  # limit of the keys of links

BACKGROUND: Final = (
    "swapper*",
    "kworker/*",
    "ksoftirqd/*",
    "migration/*",
    "rcu_*",
    "rcuo*",
    "rcub/*",
    "rcuc/*",
    "kthreadd",
    "watchdog/*",
    "cpuhp/*",
    "idle_inject/*",
    "irq/*",
    "khungtaskd",
    "kcompactd*",
    "mpirun",
    "mpiexec*",
    "orterun",
    "orted",
    "prte*",
    "hydra_*",
    "srun",
    "slurmstepd*",
    "aprun",
    "jsrun",
)
"""Processes that interact with all others. Kernel threads wake all processes of a machine, and launchers are
connected to all ranks of a job. They would merge everything into one component and lead it."""


class InteractionSettings(BaseModel):
    """Settings of the interaction graph of one job and of its ranking. Immutable."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    enabled: bool = Field(True, description="Build a graph of each job's processes and the files between them.")
    by: Grouping = Field("process", description="Kind of vertex: thread, process, rank, host or job.")
    start: Start = Field("equal", description="Initial weight of vertices: equal, cpu (time) or io (bytes).")
    top: int = Field(5, ge=1, le=1000, description="Number of top-ranked vertices reported per component.")
    damping: float = Field(0.85, gt=0, lt=1, description="Damping of the converged PageRank.")
    background: tuple[str, ...] = Field(
        BACKGROUND,
        description="Names of pruned processes, with * and ?; by default kernel threads and launchers.",
    )
    min_share: float = Field(
        0.001,
        ge=0,
        lt=1,
        description="Maximum share of a component's interactions of the rarest processes, which are pruned; "
        "only in components of more than eight.",
    )
    forks: bool = Field(False, description="Count forks as interactions; otherwise they are only displayed.")
    max_actors: int = Field(
        16_384,
        ge=16,
        le=MAX_ACTORS,
        description="Maximum number of distinct threads; beyond it the least active quarter is evicted.",
    )
    max_uses: int = Field(
        262_144,
        ge=16,
        le=2**24,
        description="Maximum number of pairs of thread and file; beyond it the rarest quarter is evicted.",
    )
    max_links: int = Field(
        131_072,
        ge=16,
        le=2**24,
        description="Maximum number of pairs of threads; beyond it the rarest quarter is evicted.",
    )
