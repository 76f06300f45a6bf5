"""The life of a job as one table: states, events, and where they lead.

::

    running --quiet--> idle --event--> running
    running, idle --done--> ended --event--> running      (a late process of the same job)
    ended --forgotten--> removed
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class State(StrEnum):
    """Where a job is in its life."""

    RUNNING = "running"
    IDLE = "idle"
    ENDED = "ended"
    REMOVED = "removed"


class JobEvent(StrEnum):
    """What moves a job on."""

    EVENT = "event"
    """Events or a new stream came in."""
    QUIET = "quiet"
    """No event for ``idle_after_s``."""
    DONE = "done"
    """No open stream for ``linger_s``, or no event for ``end_after_s``."""
    FORGOTTEN = "forgotten"
    """Ended for ``retain_s``."""


TRANSITIONS: Final[dict[tuple[State, JobEvent], State]] = {
    (State.RUNNING, JobEvent.EVENT): State.RUNNING,
    (State.RUNNING, JobEvent.QUIET): State.IDLE,
    (State.RUNNING, JobEvent.DONE): State.ENDED,
    (State.IDLE, JobEvent.EVENT): State.RUNNING,
    (State.IDLE, JobEvent.QUIET): State.IDLE,
    (State.IDLE, JobEvent.DONE): State.ENDED,
    (State.ENDED, JobEvent.EVENT): State.RUNNING,
    (State.ENDED, JobEvent.DONE): State.ENDED,
    (State.ENDED, JobEvent.FORGOTTEN): State.REMOVED,
}


def after(state: State, happening: JobEvent) -> State:
    """Returns the state that follows; what the table does not name changes nothing."""
    return TRANSITIONS.get((state, happening), state)
