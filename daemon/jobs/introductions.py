"""Streams without events that introduce a job on its nodes. They precede the job's first traced program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...events import NODE_COLLECTOR, StreamInfo
from .job_description import describe

if TYPE_CHECKING:
    from .session import JobSession


def open_stream(session: JobSession, stream: str, info: StreamInfo, at_s: float, now_s: float) -> None:
    """Add a stream to its job; the stream of a collector only describes the job.

    Args:
        session: job of the stream.
        stream: stream id.
        info: description of the stream.
        at_s: steady clock, s.
        now_s: time of day, s.
    """
    if info.source != NODE_COLLECTOR:
        session.open_stream(stream, info, at_s, now_s)
        return
    session.nodes.collectors.add(stream)
    session.nodes.add_node(info.host)
    session.no_stream_since_s = None
    describe(session, info)


def close_stream(session: JobSession, stream: str, at_s: float, losses: Mapping[str, int], now_s: float) -> None:
    """End a stream of a job. A collector's own stream loses no call, so its losses do not count.

    Args:
        session: job of the stream.
        stream: stream id.
        at_s: steady clock, s.
        losses: counts of all that was lost of the stream.
        now_s: time of day, s.
    """
    if stream not in session.nodes.collectors:
        session.close_stream(stream, at_s, losses, now_s)
        return
    session.nodes.collectors.discard(stream)
    if not (session.streams or session.nodes.collectors):
        session.no_stream_since_s = at_s
