"""Facts of a job that its streams state."""

from __future__ import annotations

from typing import Protocol

from ...events import BatchJob, StreamInfo


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
