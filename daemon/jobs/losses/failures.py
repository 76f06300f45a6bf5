"""Failures of a job's analyses: isolated, reported with the job, counted, and logged once."""

from __future__ import annotations

import contextlib
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final

from msgspec import Struct

from ....events import IotideError
from ....results.jobs.job import AnalysisFailure

_log = logging.getLogger(__name__)
_MAX_REASON: Final = 300
_MAX_LOGGED: Final = 100
"""Maximum number of logged failures of one analysis, over all jobs. Further ones are counted and reported with their
jobs."""

FAILURES_PREFIX: Final = "analysis_failures:"
"""Prefix of the name of an analysis in the aggregator's counters."""


class AnalysisFailedError(IotideError):
    """A result is not available because its analysis failed; the text has time and reason."""


class _Failure(Struct):
    at_s: float
    reason: str
    times: int = 0
    stopped: bool = False


class Failures:
    """The failures of one job's analyses.

    An analysis that fails on input may have processed a part of it, so it is stopped. One that fails on a query
    continues, and may answer the next one.

    Args:
        job: job id.
        clock: time of day, for timestamps.
        counters: counts each failure, by analysis.
    """

    def __init__(self, job: str, clock: Callable[[], float] = time.time, counters: Counter[str] | None = None) -> None:
        self._job = job
        self._clock = clock
        self._counters = Counter() if counters is None else counters
        self._failed: dict[str, _Failure] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Omit parts that belong to the job's aggregator."""
        return {"_job": self._job, "_failed": self._failed, "_clock": time.time, "_counters": Counter()}

    def add(self, analysis: str, error: Exception, *, stopped: bool) -> None:
        """Add a failure of an analysis; ``stopped``: it is not used any more."""
        self._counters[FAILURES_PREFIX + analysis] += 1
        failure = self._failed.get(analysis)
        if failure is None:
            reason = f"{type(error).__name__}: {error}"[:_MAX_REASON]
            failure = self._failed[analysis] = _Failure(self._clock(), reason)
            if self._counters[FAILURES_PREFIX + analysis] <= _MAX_LOGGED:
                _log.error("job %s: the analysis %s failed", self._job, analysis, exc_info=error)
        failure.times += 1
        failure.stopped = failure.stopped or stopped

    def stopped(self, analysis: str) -> bool:
        """Return whether an analysis has been stopped."""
        return (failure := self._failed.get(analysis)) is not None and failure.stopped

    def check(self, analysis: str, *, ever: bool = False) -> None:
        """Raise AnalysisFailedError if the analysis has been stopped; with ``ever``, if it ever failed."""
        if self.stopped(analysis) or (ever and analysis in self._failed):
            raise self.error(analysis)

    @contextlib.contextmanager
    def guard_input(self, analysis: str) -> Iterator[bool]:
        """Stop an analysis that raises on input; yield whether it is still active."""
        try:
            yield not self.stopped(analysis)
        except Exception as error:
            self.add(analysis, error, stopped=True)

    @contextlib.contextmanager
    def guard_query(self, analysis: str) -> Iterator[None]:
        """Convert an exception of a query into AnalysisFailedError, and add it."""
        try:
            yield
        except AnalysisFailedError:
            raise
        except Exception as error:
            self.add(analysis, error, stopped=False)
            raise self.error(analysis) from error

    def error(self, analysis: str) -> AnalysisFailedError:
        """Return the exception with time and reason of an analysis' failure."""
        failure = self._failed[analysis]
        at = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(failure.at_s))
        return AnalysisFailedError(f"the analysis {analysis} of job {self._job!r} failed at {at}: {failure.reason}")

    def summaries(self) -> list[AnalysisFailure]:
        """Return the first failure of each analysis."""
        return [
            AnalysisFailure(
                analysis=analysis,
                at_s=failure.at_s,
                reason=failure.reason,
                times=failure.times,
                stopped=failure.stopped,
            )
            for analysis, failure in self._failed.items()
        ]
