"""Facts of a job that its streams state."""

from __future__ import annotations

from typing import Final, Protocol

from ...events import BatchJob, StreamInfo

_BATCH_SCRIPTS: Final = ("/slurm_script", "/task-prolog.sh")  # the first is a copy in Slurm's spool folder
_AGENTS: Final = ("orted", "prted", "hydra_pmi_proxy")  # agents of mpirun on other nodes


class Described(Protocol):
    """Facts of a job.

    Attributes:
        user: user name; "" if unknown.
        batch: facts of the batch system; None without one.
        ends_at_s: time limit, Unix time; 0: unknown.
    """

    user: str
    batch: BatchJob | None
    ends_at_s: float


def describe(job: Described, info: StreamInfo) -> None:
    """Store what a stream states about its job: user, facts of the batch system, end."""
    job.user = job.user or info.user
    if info.batch is not None and info.batch is not job.batch:
        known = job.batch
        job.batch = info.batch.completed(None) if known is None else known.completed(info.batch)
    job.ends_at_s = max(job.ends_at_s, info.ends_at_s)


def command_weight(info: StreamInfo) -> int:
    """Return the weight of a stream's command for its job.

    It is 1 for batch scripts, 2 for their programs, 3 for steps of the job.
    """
    if any(script in info.command for script in _BATCH_SCRIPTS):
        return 1
    program = info.command.split(" ", 1)[0].rpartition("/")[2]
    return 3 if info.step.isdecimal() and program not in _AGENTS else 2
