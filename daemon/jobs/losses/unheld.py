"""Jobs that are not held: what was lost of them is kept for when they are."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Final

from ....events import EventBatch
from ....events.losses import BYTES, EVENTS
from .job_nodes import JobNodes

REFUSED: Final = "streams_refused:max_jobs"
NO_ROOM: Final = "max_jobs"
_HERE: Final = "\0"
"""In place of a collector's name, which none can have: lost by the aggregator."""
_MOST: Final = 1000
_MOST_SERVED: Final = 10_000


class Unheld:
    """Losses of jobs that are not held, by who lost them, and the open streams of jobs refused for want of room.

    Attributes:
        forgotten: jobs whose losses were forgotten, as there were more than a thousand such jobs.
    """

    def __init__(self) -> None:
        self.forgotten = 0
        self._losses: OrderedDict[str, dict[str, dict[str, int]]] = OrderedDict()
        self._since_ns: dict[str, int] = {}
        self._job_of: dict[str, str] = {}
        self._hosts: OrderedDict[str, JobNodes] = OrderedDict()

    def served(self, job: str, host: str) -> None:
        """Takes in that a job has a collector on a node, though nothing of it has come."""
        self._hosts.setdefault(job, JobNodes()).served(host)
        self._hosts.move_to_end(job)
        while len(self._hosts) > _MOST_SERVED:
            self._hosts.popitem(last=False)

    def take_hosts(self, job: str) -> frozenset[str]:
        """Returns where a job that is held from now on has collectors."""
        return self._hosts.pop(job, JobNodes()).hosts

    def lossy(self, collector: str, job: str, losses: Mapping[str, int]) -> None:
        """Takes in what a collector lost of a job so far."""
        self._of(job)[collector] = dict(losses)

    def refuse(self, stream: str, job: str) -> None:
        """Takes in that a stream is refused, as there is no room for its job."""
        self._job_of[stream] = job
        self._lose(job, REFUSED, 1)

    def job_of(self, stream: str) -> str | None:
        """Returns the job of a refused stream; None for others."""
        return self._job_of.get(stream)

    def missed(self, stream: str, batch: EventBatch) -> None:
        """Takes in events of a refused stream, which are dropped."""
        job = self._job_of[stream]
        self._lose(job, EVENTS + NO_ROOM, len(batch))
        self._lose(job, BYTES + NO_ROOM, batch.moved)
        first = int(batch.start.min())
        self._since_ns[job] = min(self._since_ns.get(job, first), first)

    def close(self, stream: str) -> None:
        """Takes in that a stream has ended, or is about to be introduced again."""
        self._job_of.pop(stream, None)

    def refused(self, job: str) -> bool:
        """Tells whether a job that is not held was refused for want of room."""
        return _HERE in self._losses.get(job, {})

    def take(self, job: str) -> tuple[dict[str, dict[str, int]], int | None]:
        """Returns what was lost of a job that is held from now on, and since when, where that is known."""
        return self._losses.pop(job, {}), self._since_ns.pop(job, None)

    def _lose(self, job: str, reason: str, count: int) -> None:
        if count:
            ours = self._of(job).setdefault(_HERE, {})
            ours[reason] = ours.get(reason, 0) + count

    def _of(self, job: str) -> dict[str, dict[str, int]]:
        known = self._losses.setdefault(job, {})
        while len(self._losses) > _MOST:
            gone, _ = self._losses.popitem(last=False)
            self._since_ns.pop(gone, None)
            self.forgotten += 1
        return known
