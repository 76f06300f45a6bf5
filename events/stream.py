"""Description of a stream: one traced process or one trace file. It is introduced once, before its events."""

from __future__ import annotations

from typing import Final

import msgspec

from .batch_job import BatchJob
from .schema import UNKNOWN_RANK

_ID_LIMIT: Final = 2**31
"""Ids of events have 32 bits."""
_IDS: Final = (("rank", UNKNOWN_RANK), ("pid", 0), ("parent_pid", 0))
NODE_COLLECTOR: Final = "collector"
"""Source of the stream, without events, by which the collector of a batch job introduces the job on its node."""


class StreamInfo(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Producer of a stream's events. A job is the set of streams with one ``job``.

    Ids that do not fit into the columns of events count as unknown.
    """

    job: str
    source: str
    """Kind of the source: ``preload``, ``strace``, ``jsonl``, ``tmio`` ..."""
    host: str = ""
    user: str = ""
    command: str = ""
    step: str = ""
    rank: int = UNKNOWN_RANK
    ranks: int = 0
    """Size of the job's communicator, 0 if unknown."""
    pid: int = 0
    parent_pid: int = 0
    origin: str = ""
    """File or socket from which the events were read."""
    follows: str = ""
    """The end of the name of an earlier stream of the same process, whose collector was gone."""
    taken_before: int = 0
    """Events that the collector received of the earlier stream: those that did not arrive are lost with it."""
    clock_offset_ns: int | None = 0
    """Offset from the producer's stamps to Unix time. None if their zero is unknown (events then start near 0)."""
    stamp_ns: int = 0
    """Resolution of the stamps, ns, if it is a second or coarser; otherwise 0."""
    clock_off_ns: int = 0
    """Offset of its node's clock from the aggregator's, by which stamps are corrected. 0 if it is small."""
    ends_at_s: float = 0.0
    """Latest end of the job, Unix time; 0 if unknown."""
    batch: BatchJob | None = None
    """Facts from the batch system; None if there are none."""

    def __post_init__(self) -> None:
        for name, unknown in _IDS:
            if not -_ID_LIMIT <= getattr(self, name) < _ID_LIMIT:
                msgspec.structs.force_setattr(self, name, unknown)

    def ending_at(self, at_s: float, job: str = "") -> StreamInfo:
        """Return the same with the end of its job, Unix time; 0: no end. It must belong to ``job`` ("" for any)."""
        if not at_s or self.ends_at_s or job not in ("", self.job):
            return self
        return msgspec.structs.replace(self, ends_at_s=at_s)

    def of_batch(self, batch: BatchJob | None, job: str = "") -> StreamInfo:
        """Return the same with facts from the batch system. It must belong to ``job`` ("" for any)."""
        if batch is None or self.batch is not None or job not in ("", self.job):
            return self
        return msgspec.structs.replace(self, batch=batch)
