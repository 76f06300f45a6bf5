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


class Happening(StrEnum):
    """What moves a job on."""

    EVENT = "event"
    """Events or a new stream came in."""
    QUIET = "quiet"
    """No event for ``idle_after_s``."""
    DONE = "done"
    """No open stream for ``linger_s``, or no event for ``end_after_s``."""
    FORGOTTEN = "forgotten"
    """Ended for ``retain_s``."""


TRANSITIONS: Final[dict[tuple[State, Happening], State]] = {
    (State.RUNNING, Happening.EVENT): State.RUNNING,
    (State.RUNNING, Happening.QUIET): State.IDLE,
    (State.RUNNING, Happening.DONE): State.ENDED,
    (State.IDLE, Happening.EVENT): State.RUNNING,
    (State.IDLE, Happening.QUIET): State.IDLE,
    (State.IDLE, Happening.DONE): State.ENDED,
    (State.ENDED, Happening.EVENT): State.RUNNING,
    (State.ENDED, Happening.DONE): State.ENDED,
    (State.ENDED, Happening.FORGOTTEN): State.REMOVED,
}


def after(state: State, happening: Happening) -> State:
    """Returns the state that follows; what the table does not name changes nothing."""
    return TRANSITIONS.get((state, happening), state)
