"""Assign messages to jobs and streams. It also determines their clock, and detects restarts of a job's stamps."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from ....events import Interner, StreamInfo
from ...parser import Input
from ...settings import FtioSettings
from ...source import Closed, Opened, SourceItem
from .ftio_messages import Message
from .interval_events import LATEST_S
from .intervals import Floats

_DISTANT_S: Final = 1e9
"""Stamps from here on count from a distant zero, such as Unix time. No program runs for so long."""
_UNIX_TOLERANCE_S: Final = 86_400.0
"""Stamps within this time of the time of day are Unix time, s."""


@dataclass(slots=True, eq=False)
class Job:
    """One run of one job."""

    base: str
    run: int
    distant_zero: bool
    """Its stamps are past 10^9 s, unlike those of a message with another clock."""
    unix: bool
    heard_s: float
    newest_s: float = 0.0
    """Latest end of an interval, by the job's clock."""

    @property
    def name(self) -> str:
        """The job id; further runs get a number."""
        return self.base if self.run == 1 else f"{self.base}.{self.run}"


@dataclass(slots=True, eq=False)
class Stream:
    """One job on one host."""

    id: str
    job: Job
    host: str
    interner: Interner = field(default_factory=Interner)


class Streams:
    """The open streams, bounded: the one idle longest is closed for a new one.

    Args:
        settings: names and bounds.
        about: names of the streams, and counter of closed ones.
        host: host of messages that name none.
        user: user of all streams.
    """

    def __init__(self, settings: FtioSettings, about: Input, host: str, user: str) -> None:
        self._settings = settings
        self._about = about
        self._host = host
        self._user = user
        self._jobs: dict[str, Job] = {}  # by base
        self._names: set[str] = set()
        # by base and host, the one idle longest first
        self._streams: OrderedDict[tuple[str, str], Stream] = OrderedDict()
        self._opened = 0

    def has(self, job: str) -> bool:
        """Return whether a job has open streams."""
        return job in self._names

    def stream_of(self, message: Message, now_s: float) -> tuple[Stream | None, list[SourceItem]]:
        """Find the stream of a message with intervals.

        Args:
            message: message with at least one section.
            now_s: Unix time.

        Returns:
            The stream, None for the first message of a job if none of its stamps is valid; and the items for streams
            that were closed and opened.
        """
        items: list[SourceItem] = []
        base = self._settings.job or message.job or self._settings.default_job
        host = message.host or self._host
        job = self._jobs.get(base)
        if job is None or now_s - job.heard_s >= self._settings.new_run_after_s:
            times = _times(message)
            if job is None:
                if times is None:
                    return None, items
                job = _new_job(base, 1, times[0], now_s)
            elif times is not None and _is_new_run(job, *times):
                self._close(job, items)
                job = _new_job(base, job.run + 1, times[0], now_s)
        job.heard_s = now_s
        stream = self._streams.get((base, host)) or self._open(job, host, message, items)
        self._streams.move_to_end((base, host))
        return stream, items

    def _open(self, job: Job, host: str, message: Message, items: list[SourceItem]) -> Stream:
        while len(self._streams) >= self._settings.max_streams:
            self._close_stream(next(iter(self._streams.values())), items)
            self._about.counters["streams_closed:bound"] += 1
        self._jobs[job.base] = job
        self._names.add(job.name)
        self._opened += 1
        stream = Stream(self._about.stream("ftio", f"{self._opened}:{job.name}@{host}"), job, host)
        self._streams[(job.base, host)] = stream
        info = StreamInfo(
            job=job.name,
            source="ftio",
            host=host,
            user=self._user,
            ranks=max(intervals.ranks for intervals, _ in message.sections),
            origin=self._about.name,
            clock_offset_ns=0 if job.unix else None,
        )
        items.append(Opened(stream.id, info))
        return stream

    def _close(self, job: Job, items: list[SourceItem]) -> None:
        for stream in [stream for stream in self._streams.values() if stream.job is job]:
            self._close_stream(stream, items)

    def _close_stream(self, stream: Stream, items: list[SourceItem]) -> None:
        del self._streams[(stream.job.base, stream.host)]
        items.append(Closed(stream.id))
        if not any(other.job is stream.job for other in self._streams.values()):
            self._names.discard(stream.job.name)
            self._jobs.pop(stream.job.base, None)


def other_clock(job: Job, start_s: Floats) -> npt.NDArray[np.bool_]:
    """Return which stamps cannot be of the job's clock."""
    other: npt.NDArray[np.bool_] = (start_s >= _DISTANT_S) != job.distant_zero
    return other


def _times(message: Message) -> tuple[float, float] | None:
    """Return the first begin and the last end of a message. It returns None if no stamp is valid."""
    starts = np.concatenate([intervals.start_s for intervals, _ in message.sections])
    ends = np.concatenate([intervals.end_s for intervals, _ in message.sections])
    with np.errstate(invalid="ignore"):
        good = (starts >= 0) & (ends >= starts) & (ends <= LATEST_S)
    return (float(starts[good].min()), float(ends[good].max())) if good.any() else None


def _new_job(base: str, run: int, begin_s: float, now_s: float) -> Job:
    return Job(base, run, begin_s >= _DISTANT_S, abs(begin_s - now_s) <= _UNIX_TOLERANCE_S, now_s)


def _is_new_run(job: Job, begin_s: float, end_s: float) -> bool:
    """Detect a new run. It has another clock, or all times in the first half of those seen.

    Late data is never that late.
    """
    if (begin_s >= _DISTANT_S) != job.distant_zero:
        return True
    return not job.distant_zero and end_s < job.newest_s / 2
