"""Which analyses of a job failed: each for itself, told with the job, counted, and logged once."""

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
_LONGEST_REASON: Final = 300
_MOST_LOGGED: Final = 100
"""Failures of one analysis, over all jobs, that are logged; further ones are told with their jobs and counted."""

COUNTED: Final = "analysis_failures:"
"""Before the name of an analysis, in the aggregator's counters."""


class AnalysisFailedError(IotideError):
    """What is asked for comes from an analysis of the job that failed; the text says when and why."""


class _Failure(Struct):
    at_s: float
    reason: str
    times: int = 0
    stopped: bool = False


class Failures:
    """The failures of one job's analyses.

    An analysis that breaks while it takes something in may have taken in a part of it, so it is stopped. One that
    breaks over a question goes on, and may answer the next.

    Args:
        job: whose they are.
        clock: time of day, for stamps.
        counters: gets each failure, by analysis.
    """

    def __init__(self, job: str, clock: Callable[[], float] = time.time, counters: Counter[str] | None = None) -> None:
        self._job = job
        self._clock = clock
        self._counters = Counter() if counters is None else counters
        self._failed: dict[str, _Failure] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Leaves out what belongs to the aggregator that the job was in."""
        return {"_job": self._job, "_failed": self._failed, "_clock": time.time, "_counters": Counter()}

    def add(self, analysis: str, error: Exception, *, stopped: bool) -> None:
        """Takes in that an analysis raised; ``stopped``: nothing more is asked of it."""
        self._counters[COUNTED + analysis] += 1
        failure = self._failed.get(analysis)
        if failure is None:
            reason = f"{type(error).__name__}: {error}"[:_LONGEST_REASON]
            failure = self._failed[analysis] = _Failure(self._clock(), reason)
            if self._counters[COUNTED + analysis] <= _MOST_LOGGED:
                _log.error("job %s: the analysis %s failed", self._job, analysis, exc_info=error)
        failure.times += 1
        failure.stopped = failure.stopped or stopped

    def stopped(self, analysis: str) -> bool:
        """Tells whether an analysis has been stopped."""
        return (failure := self._failed.get(analysis)) is not None and failure.stopped

    def check(self, analysis: str, *, ever: bool = False) -> None:
        """Raises AnalysisFailedError if the analysis has been stopped; with ``ever``, if it ever failed."""
        if self.stopped(analysis) or (ever and analysis in self._failed):
            raise self.error(analysis)

    @contextlib.contextmanager
    def taking(self, analysis: str) -> Iterator[bool]:
        """Stops an analysis that raises while it takes something in; yields whether it still goes on."""
        try:
            yield not self.stopped(analysis)
        except Exception as error:
            self.add(analysis, error, stopped=True)

    @contextlib.contextmanager
    def asking(self, analysis: str) -> Iterator[None]:
        """Turns what an analysis raises over a question into AnalysisFailedError, and takes it in."""
        try:
            yield
        except AnalysisFailedError:
            raise
        except Exception as error:
            self.add(analysis, error, stopped=False)
            raise self.error(analysis) from error

    def error(self, analysis: str) -> AnalysisFailedError:
        """Returns what says of a failed analysis when and why it failed."""
        failure = self._failed[analysis]
        at = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(failure.at_s))
        return AnalysisFailedError(f"the analysis {analysis} of job {self._job!r} failed at {at}: {failure.reason}")

    def told(self) -> list[AnalysisFailure]:
        """Returns the first failure of each analysis."""
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
