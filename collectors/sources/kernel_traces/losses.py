"""What tracers say of events that they had no room for."""

from __future__ import annotations

import re
from typing import Final

_LOST: Final = re.compile(
    rb'\s*(?:Lost (\d{1,18}) events|\{"type": "lost_events".*"events": (\d{1,18})'
    rb"|(?:[^\x00- :]+: )?CPU:?\d* \[(?:LOST )?(\d{1,18})? ?EVENTS)"
)


def events_lost(line: bytes) -> int:
    """Returns how many events a line of another form says that were lost; 1 where it does not say how many."""
    found = _LOST.match(line)
    return int(next(filter(None, found.groups()), b"1")) if found else 0
