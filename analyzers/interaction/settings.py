"""What an interaction graph can be told, with defaults, units and limits."""

from __future__ import annotations

from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from ...results.interaction_kinds import Grouping, Start

MOST_ACTORS: Final = 2**20 - 1

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
"""Who has to do with everybody: threads of the kernel wake all processes of a machine, launchers are connected to all
ranks of a job. With them each would be one component, and they would lead it."""


class InteractionSettings(BaseModel):
    """How the interaction graph of one job is kept and ranked. Immutable."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    enabled: bool = Field(True, description="Keep a graph of each job's processes and the files between them.")
    by: Grouping = Field("process", description="Kind of vertex: thread, process, rank, host or job.")
    start: Start = Field("equal", description="Initial weight of vertices: equal, cpu (time) or io (bytes).")
    top: int = Field(5, ge=1, le=1000, description="Number of top-ranked vertices reported per component.")
    damping: float = Field(0.85, gt=0, lt=1, description="Damping of the converged PageRank.")
    background: tuple[str, ...] = Field(
        BACKGROUND,
        description="Names of processes that are pruned, with * and ?; by default those of the kernel, and launchers.",
    )
    min_share: float = Field(
        0.001,
        ge=0,
        lt=1,
        description="The rarest processes of a component of more than eight are pruned, those that together have at "
        "most this share of its interactions.",
    )
    forks: bool = Field(False, description="Whether a fork is an interaction like others; else it is only shown.")
    max_actors: int = Field(
        16_384, ge=16, le=MOST_ACTORS, description="Threads told apart; past it the least active quarter goes."
    )
    max_uses: int = Field(
        262_144, ge=16, le=2**24, description="Pairs of thread and file; past it the rarest quarter goes."
    )
    max_links: int = Field(131_072, ge=16, le=2**24, description="Pairs of threads; past it the rarest quarter goes.")
