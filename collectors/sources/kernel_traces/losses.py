"""Parse tracers' reports of events that they lost."""

from __future__ import annotations

import re
from typing import Final

_LOST: Final = re.compile(
    rb'\s*(?:Lost (\d{1,18}) events|\{"type": "lost_events".*"events": (\d{1,18})'
    rb"|(?:[^\x00- :]+: )?CPU:?\d* \[(?:LOST )?(\d{1,18})? ?EVENTS)"
)


def events_lost(line: bytes) -> int:
    """Return the number of lost events that a line of another form reports. Returns 1 if it gives no number."""
    found = _LOST.match(line)
    return int(next(filter(None, found.groups()), b"1")) if found else 0
