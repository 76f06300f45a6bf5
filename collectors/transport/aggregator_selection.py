"""Select one of several aggregators from the fate of the connections. No clock, no sockets.

One aggregator has the jobs. The others do not listen until they take over, or are stopped. So if a connection is not
made soon, or nothing arrives over it, the next endpoint is tried, in a cycle.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_TRY_S: Final = 0.5
"""Time limit for a connection: a cluster's network needs milliseconds. Doubled in each further round, because an
aggregator to which thousands of collectors connect at once takes longer."""
_SOON_S: Final = 30.0
"""Time since the last contact during which a refusal does not lengthen the limit, s. An aggregator that takes over
refuses connections until it listens. After a longer outage, collectors try less often."""
_LONGEST_SOON_S: Final = 2.0
"""Longest time limit in that time, s. Otherwise a stopped aggregator, whose system accepts connections, would delay the
connection to the next one."""


class Route:
    """The endpoint in use.

    Args:
        endpoints: at least one endpoint; the first is tried first.
        away_after_s: silence after which a connection is given up, s.
        now_s: current time of the clock that is passed in.
    """

    def __init__(self, endpoints: Sequence[str], away_after_s: float, now_s: float) -> None:
        self._endpoints = tuple(endpoints)
        self._away_after_s = away_after_s
        self._at = 0
        self._try_s = _TRY_S
        self._is_connected = self._is_refused = False
        self._has_waited = False  # in this round, for an endpoint that did not refuse
        self._since_s = self._contact_s = now_s

    @property
    def endpoint(self) -> str:
        """The endpoint to connect to."""
        return self._endpoints[self._at]

    @property
    def has_others(self) -> bool:
        """Whether there is more than one endpoint."""
        return len(self._endpoints) > 1

    def connection(self, *, is_made: bool, now_s: float) -> None:
        """Record that the connection was made or lost."""
        if is_made != self._is_connected:
            self._is_connected, self._since_s = is_made, now_s
            self._contact_s = now_s

    def refused(self) -> None:
        """Record that nothing listens at the endpoint now."""
        self._is_refused = True

    def moves_on(self, heard_s: float | None, now_s: float) -> bool:
        """Return whether to connect to another endpoint now; ``endpoint`` then is that one.

        Args:
            heard_s: time of the aggregator's last message; None: never.
            now_s: current time.
        """
        if not self.has_others:
            return False
        since_s = self._since_s if heard_s is None else max(self._since_s, heard_s)
        is_heard = heard_s is not None and heard_s > self._since_s  # messages of an earlier connection may arrive late
        if is_heard:
            self._try_s = _TRY_S
        is_refused = self._is_refused and now_s < self._contact_s + _SOON_S
        try_s = _TRY_S if is_refused else self._try_s
        if now_s < since_s + (self._away_after_s if self._is_connected or is_heard else try_s):
            return False
        self._at = (self._at + 1) % len(self._endpoints)
        self._is_connected, self._is_refused, self._since_s = False, False, now_s
        self._has_waited = self._has_waited or not is_refused
        if self._at == 0:
            if self._has_waited:
                longest_s = _LONGEST_SOON_S if now_s < self._contact_s + _SOON_S else self._away_after_s
                self._try_s = min(2.0 * self._try_s, longest_s, self._away_after_s)
            self._has_waited = False
        return True
