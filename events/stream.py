"""What a stream is: one traced process or one trace file, introduced once, before its events."""

from __future__ import annotations

from typing import Final

import msgspec

from .batch_job import BatchJob
from .schema import UNKNOWN_RANK

NODE_COLLECTOR: Final = "collector"
"""Source of the stream, without events, by which the collector of a batch job introduces the job on its node."""


class StreamInfo(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Who produced a stream's events. A job is the set of streams with one ``job``."""

    job: str
    source: str
    """Kind of the source: ``preload``, ``strace``, ``jsonl``, ``tmio`` ..."""
    host: str = ""
    user: str = ""
    command: str = ""
    step: str = ""
    rank: int = UNKNOWN_RANK
    ranks: int = 0
    """Size of the job's communicator, 0 where it is not known."""
    pid: int = 0
    parent_pid: int = 0
    origin: str = ""
    """File or socket that the events were read from."""
    follows: str = ""
    """The end of the name of an earlier stream of the same process, whose collector was gone."""
    taken_before: int = 0
    """Events that the collector had of the earlier stream: those that did not arrive are lost with it."""
    clock_offset_ns: int | None = 0
    """What was added to the producer's stamps to make Unix time; None when their zero is unknown (the
    events then start near 0)."""
    stamp_ns: int = 0
    """Resolution of the stamps, ns, where it is a second or coarser; 0 elsewhere."""
    clock_off_ns: int = 0
    """By how much its node's clock is ahead of the aggregator's; stamps are corrected by it. 0 where that is little."""
    ends_at_s: float = 0.0
    """When the job is killed at the latest, Unix time; 0 where that is not known."""
    batch: BatchJob | None = None
    """What the batch system says of the job; None where it says nothing."""

    def ending_at(self, at_s: float, job: str = "") -> StreamInfo:
        """Returns the same with the end of its job, Unix time: if it is of that job; "" for any. 0 is no end."""
        if not at_s or self.ends_at_s or job not in ("", self.job):
            return self
        return msgspec.structs.replace(self, ends_at_s=at_s)

    def of_batch(self, batch: BatchJob | None, job: str = "") -> StreamInfo:
        """Returns the same with what the batch system says of a job: if it is of that job; "" for any."""
        if batch is None or self.batch is not None or job not in ("", self.job):
            return self
        return msgspec.structs.replace(self, batch=batch)
