"""Which of several aggregators a collector speaks to, decided by what became of its connections. No clock, no sockets.

One of them has the jobs; the others listen nowhere until they take over, or stand still. So a connection that is not
made soon, or over which nothing comes, is given up for the next one, round and round.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

_TRY_S: Final = 0.5
"""For a connection to be made: on a cluster's network that takes milliseconds. Twice as long in each further round, as
an aggregator that thousands of collectors come to at once takes longer."""


class Route:
    """The endpoint that is spoken to.

    Args:
        endpoints: at least one; the first is tried first.
        away_after_s: silence over a connection after which it is given up.
        now_s: the clock that is passed in.
    """

    def __init__(self, endpoints: Sequence[str], away_after_s: float, now_s: float) -> None:
        self._endpoints = tuple(endpoints)
        self._away_after_s = away_after_s
        self._at = 0
        self._try_s = _TRY_S
        self._is_connected = False
        self._since_s = now_s

    @property
    def endpoint(self) -> str:
        """The one to be connected to."""
        return self._endpoints[self._at]

    @property
    def has_others(self) -> bool:
        """Whether there is more than one."""
        return len(self._endpoints) > 1

    def connection(self, *, is_made: bool, now_s: float) -> None:
        """Takes in that the connection was made, or is gone."""
        if is_made != self._is_connected:
            self._is_connected, self._since_s = is_made, now_s

    def moves_on(self, heard_s: float | None, now_s: float) -> bool:
        """Tells whether another endpoint is to be connected to now, which ``endpoint`` then says.

        Args:
            heard_s: when an aggregator last said something; None: never.
            now_s: the clock.
        """
        if not self.has_others:
            return False
        since_s = self._since_s if heard_s is None else max(self._since_s, heard_s)
        is_heard = heard_s is not None and heard_s > self._since_s  # news of an earlier connection may come late
        if is_heard:
            self._try_s = _TRY_S
        if now_s < since_s + (self._away_after_s if self._is_connected or is_heard else self._try_s):
            return False
        self._at = (self._at + 1) % len(self._endpoints)
        self._is_connected, self._since_s = False, now_s
        if self._at == 0:
            self._try_s = min(2.0 * self._try_s, self._away_after_s)
        return True
