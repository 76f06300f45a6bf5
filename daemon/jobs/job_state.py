"""The lifecycle of a job as one table of states, events and transitions.

::

    running --quiet--> idle --event--> running
    running, idle --done--> ended --event--> running      (a late process of the same job)
    ended --forgotten--> removed
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final


class State(StrEnum):
    """State of a job."""

    RUNNING = "running"
    IDLE = "idle"
    ENDED = "ended"
    REMOVED = "removed"


class JobEvent(StrEnum):
    """Event that changes the state."""

    EVENT = "event"
    """Events or a new stream arrived."""
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


def next_state(state: State, event: JobEvent) -> State:
    """Return the next state; events without an entry in the table change nothing."""
    return TRANSITIONS.get((state, event), state)
