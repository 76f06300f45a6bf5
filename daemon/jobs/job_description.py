"""Facts of a job that its streams state."""

from __future__ import annotations

from typing import Final, Protocol

from ...events import BatchJob, StreamInfo
from .losses.job_losses import JobLosses

_BATCH_SCRIPTS: Final = ("/slurm_script", "/task-prolog.sh")  # the first is a copy in Slurm's spool folder
_AGENTS: Final = ("orted", "prted", "hydra_pmi_proxy")  # agents of mpirun on other nodes
_MAX_HOSTS: Final = 64  # whose clocks are off


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


class DescribedProgram(Described, Protocol):
    """Facts of a job that has programs; see ``JobSession``."""

    command: str
    command_weight: int
    communicator: int
    stamp_ns: int
    own_clock: bool
    clocks_off: dict[str, int]
    hosts: set[str]
    ranks: set[int]
    losses: JobLosses


def describe(job: Described, info: StreamInfo) -> None:
    """Store what a stream states about its job: user, facts of the batch system, end."""
    job.user = job.user or info.user
    if info.batch is not None and info.batch is not job.batch:
        known = job.batch
        job.batch = info.batch.completed(None) if known is None else known.completed(info.batch)
    job.ends_at_s = max(job.ends_at_s, info.ends_at_s)


def describe_program(job: DescribedProgram, info: StreamInfo) -> None:
    """Store what the stream of a program states about its job: command, host, rank and clock, too."""
    describe(job, info)
    if info.command and (weight := command_weight(info)) > job.command_weight:
        job.command, job.command_weight = info.command, weight
    job.communicator = max(job.communicator, info.ranks)
    job.stamp_ns = max(job.stamp_ns, info.stamp_ns)
    job.own_clock = job.own_clock or info.clock_offset_ns is None
    if info.clock_off_ns and (info.host in job.clocks_off or len(job.clocks_off) < _MAX_HOSTS):
        job.clocks_off[info.host] = info.clock_off_ns
    if info.host:
        job.hosts.add(info.host)
    if info.rank >= 0:
        job.ranks.add(info.rank)
        job.losses.add_rank(info.rank, info.ranks)


def command_weight(info: StreamInfo) -> int:
    """Return the weight of a stream's command for its job.

    It is 1 for batch scripts, 2 for their programs, 3 for steps of the job.
    """
    if any(script in info.command for script in _BATCH_SCRIPTS):
        return 1
    program = info.command.split(" ", 1)[0].rpartition("/")[2]
    return 3 if info.step.isdecimal() and program not in _AGENTS else 2
