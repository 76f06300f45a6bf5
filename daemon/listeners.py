"""Listeners of news: one that raises does not affect the others."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from typing import Final, Generic, TypeVar

from ..results.alerts import Alert
from ..results.jobs.job import JobSummary
from ..results.prediction import Prediction

_log = logging.getLogger(__name__)
_MAX_LOGGED: Final = 20
"""Maximum number of logged errors of one listener; further ones are counted."""

ERRORS_PREFIX: Final = "listener_errors:"
"""Prefix of the name of a listener in the aggregator's counters."""

_Message = TypeVar("_Message", Prediction, JobSummary, Alert)


class Listeners(Generic[_Message]):
    """Functions that are called with news of jobs, each with a name.

    Args:
        counters: counts ``listener_errors``, in total and by name.
    """

    def __init__(self, counters: Counter[str]) -> None:
        self._counters = counters
        self._listeners: list[tuple[str, Callable[[_Message], None]]] = []

    def add(self, name: str, listener: Callable[[_Message], None]) -> None:
        """Add a function; several may have the same name."""
        self._listeners.append((name, listener))

    def replace(self, name: str, listener: Callable[[_Message], None]) -> None:
        """Replace the functions with a name, if there are any."""
        self._listeners = [(each, listener if each == name else old) for each, old in self._listeners]

    def names(self) -> set[str]:
        """Return the names of the listeners."""
        return {name for name, _ in self._listeners}

    def notify(self, job: str, make: Callable[[], _Message]) -> None:
        """Call all listeners with news of a job. The news is only created if there are listeners."""
        if not self._listeners:
            return
        try:
            news = make()
        except Exception:
            self._log_error(job, "(none)")
            return
        for name, listener in self._listeners:
            try:
                listener(news)
            except Exception:
                self._log_error(job, name)

    def _log_error(self, job: str, name: str) -> None:
        self._counters["listener_errors"] += 1
        self._counters[ERRORS_PREFIX + name] += 1
        if self._counters[ERRORS_PREFIX + name] <= _MAX_LOGGED:
            _log.exception("job %s: the publisher %s raised an exception", job, name)
