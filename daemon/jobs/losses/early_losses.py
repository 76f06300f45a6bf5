"""Losses of jobs without a session, kept until they have one."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Final

from ....events import EventBatch
from ....events.losses import BYTES, EVENTS
from .job_nodes import JobNodes

REFUSED: Final = "streams_refused:max_jobs"
NO_ROOM: Final = "max_jobs"
_AGGREGATOR: Final = "\0"
"""Placeholder for a collector's name, which no collector can have: lost by the aggregator."""
_MAX_JOBS: Final = 1000
_MAX_NODES: Final = 10_000


class EarlyLosses:
    """Losses of jobs without a session, by their cause. It also has the open streams of refused jobs.

    Attributes:
        forgotten: jobs whose losses were discarded, as there were more than a thousand such jobs.
    """

    def __init__(self) -> None:
        self.forgotten = 0
        self._losses: OrderedDict[str, dict[str, dict[str, int]]] = OrderedDict()
        self._since_ns: dict[str, int] = {}
        self._job_of: dict[str, str] = {}
        self._hosts: OrderedDict[str, JobNodes] = OrderedDict()

    def add_node(self, job: str, host: str) -> None:
        """Note a collector of a job on a node, before any of its events."""
        self._hosts.setdefault(job, JobNodes()).add_node(host)
        self._hosts.move_to_end(job)
        while len(self._hosts) > _MAX_NODES:
            self._hosts.popitem(last=False)

    def pop_hosts(self, job: str) -> frozenset[str]:
        """Return and remove the nodes with collectors of a job that gets a session."""
        return self._hosts.pop(job, JobNodes()).hosts

    def update_losses(self, collector: str, job: str, losses: Mapping[str, int]) -> None:
        """Update a collector's cumulative losses of a job."""
        self._losses_of(job)[collector] = dict(losses)

    def add_refused_stream(self, stream: str, job: str) -> None:
        """Note a stream that is refused because of ``max_jobs``."""
        self._job_of[stream] = job
        self._add_losses(job, REFUSED, 1)

    def job_of(self, stream: str) -> str | None:
        """Return the job of a refused stream; None for others."""
        return self._job_of.get(stream)

    def count_dropped(self, stream: str, batch: EventBatch) -> None:
        """Count dropped events of a refused stream."""
        job = self._job_of[stream]
        self._add_losses(job, EVENTS + NO_ROOM, len(batch))
        self._add_losses(job, BYTES + NO_ROOM, batch.moved)
        first = int(batch.start.min())
        self._since_ns[job] = min(self._since_ns.get(job, first), first)

    def close(self, stream: str) -> None:
        """Remove a stream that has ended or will be introduced again."""
        self._job_of.pop(stream, None)

    def refused_streams(self, job: str) -> bool:
        """Return whether a job without a session was refused because of ``max_jobs``."""
        return _AGGREGATOR in self._losses.get(job, {})

    def pop_losses(self, job: str) -> tuple[dict[str, dict[str, int]], int | None]:
        """Return and remove the losses of a job that gets a session. They have their start where known."""
        return self._losses.pop(job, {}), self._since_ns.pop(job, None)

    def _add_losses(self, job: str, reason: str, count: int) -> None:
        if count:
            ours = self._losses_of(job).setdefault(_AGGREGATOR, {})
            ours[reason] = ours.get(reason, 0) + count

    def _losses_of(self, job: str) -> dict[str, dict[str, int]]:
        known = self._losses.setdefault(job, {})
        while len(self._losses) > _MAX_JOBS:
            gone, _ = self._losses.popitem(last=False)
            self._since_ns.pop(gone, None)
            self.forgotten += 1
        return known
