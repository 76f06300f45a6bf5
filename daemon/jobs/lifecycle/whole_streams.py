"""Add streams that have ended to their job together: most of the work is done once for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....analyzers.pipeline.analysis_queue import Run
from ....analyzers.pipeline.whole_streams import WholeStream, translated_together

if TYPE_CHECKING:
    from ..session import JobSession


def add_whole_streams(
    session: JobSession, streams: Sequence[WholeStream], now_s: float, at_s: float, *, journalled: bool, room: int = 0
) -> bool:
    """Add usual streams that are not open. The job is then as if each had been opened, had one batch, and was closed.

    Args:
        session: job of the streams.
        streams: the streams, at least one.
        now_s: time of day, s.
        at_s: steady clock, s.
        journalled: whether their events are journalled.
        room: number of the job's events that may wait to be analyzed together.

    Returns:
        Whether they were added. If not, they must be added separately: a clock is ahead, a number is not defined, or a
        collector was replaced.
    """
    newest_ns = (now_s + session.settings.clock_skew_s) * 1e9
    if session.own_clock or session.handovers.are_pending or any(int(e.batch.end.max()) > newest_ns for e in streams):
        return False
    batch = translated_together(session.names, streams)
    if batch is None:
        return False
    _describe(session, streams)
    session.heard_at_s = at_s
    session.losses.opened += len(streams)
    session.ledger.add_ended(len(streams), len(batch), journalled=journalled)
    session.take_in(batch, int(batch.end.max()), now_s)
    session.lag_s = max(0.0, now_s - int(streams[-1].batch.end.max()) / 1e9)
    session.analyzers.put_ended(batch, [Run(each.stream, each.info, len(each.batch)) for each in streams], room)
    session.flush()
    session.no_stream_since_s = None if session.streams or session.nodes.collectors else at_s
    return True


def _describe(session: JobSession, streams: Sequence[WholeStream]) -> None:
    """Store what the streams state about their job. Most of them state the same."""
    told = set[tuple[object, ...]]()
    for stream, info, _, _ in streams:
        facts = (
            *(info.command, info.step, info.host, info.user, info.rank, info.ranks),
            *(info.stamp_ns, info.clock_off_ns, info.ends_at_s, id(info.batch)),
        )
        if facts not in told:
            told.add(facts)
            session.change_stream(stream, info)
            del session.infos[stream]
