"""State changes of a silent job, and their times."""

from __future__ import annotations

import math

from ..job_settings import JobSettings
from ..job_state import JobEvent, State
from ..session import JobSession


def due_event(session: JobSession, settings: JobSettings, now: float) -> JobEvent | None:
    """Return the event of a job for lack of input, by the steady clock; None before it is due."""
    quiet = now - session.heard_at_s
    alone = session.no_stream_since_s is not None and now - session.no_stream_since_s >= settings.linger_s
    if session.state is State.ENDED:
        return JobEvent.FORGOTTEN if now - session.ended_at_s >= settings.retain_s else None
    if alone or (quiet >= settings.end_after_s and not session.nodes.collectors):  # whose batch system has not ended it
        return JobEvent.DONE
    return JobEvent.QUIET if quiet >= settings.idle_after_s else None


def next_check_s(session: JobSession, settings: JobSettings) -> float:
    """Return the time of the next possible state change for lack of input."""
    if session.state is State.ENDED:
        return session.ended_at_s + settings.retain_s
    times = [math.inf if session.nodes.collectors else session.heard_at_s + settings.end_after_s]
    if session.state is not State.IDLE:
        times.append(session.heard_at_s + settings.idle_after_s)
    if session.no_stream_since_s is not None:
        times.append(session.no_stream_since_s + settings.linger_s)
    return min(times)
