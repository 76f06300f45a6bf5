"""How long a collector sleeps between two looks at rings: its looks cost at most a small part of a core."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_WITH_NEWS_S: Final = 0.05
_WITHOUT_S: Final = 0.4
_UNWOKEN_S: Final = 0.01
"""Where processes cannot wake us: a ring fills in some 25 ms."""
_UNWOKEN_IDLE_S: Final = 0.02
_LONGEST_S: Final = 1.0
"""A process takes a collector for gone after three."""
_GROWTH: Final = 1.3
_LOOKS_A_SHARE: Final = 400
"""Naps are so many times as long as a look takes, where nothing goes on."""
_SHORTEST_S: Final = 0.001
_MOST_REST_S: Final = 0.02


class Naps:
    """Tells how long to sleep; a wake-up by epoll ends a nap, a rest not."""

    def __init__(self) -> None:
        self._nap_s = _WITH_NEWS_S
        self._look_s = 0.0

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Measures what a look costs."""
        begun_s = time.thread_time()
        yield
        self._look_s = time.thread_time() - begun_s

    def rest(self) -> None:
        """Waits a moment for more news: each look is at all processes, however few have called for it."""
        time.sleep(min(max(_SHORTEST_S, self._look_s), _MOST_REST_S))

    def next_s(self, *, busy: bool, wakes: bool) -> float:
        """Returns how long to wait for a call.

        Args:
            busy: the last look found news.
            wakes: the processes call when much waits.
        """
        if not wakes:
            self._nap_s = _UNWOKEN_S if busy else min(_GROWTH * self._nap_s, _UNWOKEN_IDLE_S)
            return self._nap_s
        self._nap_s = _WITH_NEWS_S if busy else min(_GROWTH * self._nap_s, _WITHOUT_S)
        return self._nap_s if busy else min(max(self._nap_s, _LOOKS_A_SHARE * self._look_s), _LONGEST_S)
