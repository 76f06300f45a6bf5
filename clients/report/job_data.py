"""The subject of a report: a run, finished traces, or a running job."""

from __future__ import annotations

from msgspec import Struct

from ...results.jobs.job import JobDetail
from ...results.jobs.run import RunSummary, UnseenProgram
from ...results.prediction import Prediction


class JobData(Struct, frozen=True):
    """Data of a job, independent of its source.

    Attributes:
        job: totals, largest files and calls.
        prediction: the last one.
        predictions: number of predictions.
        started_s: start of the job, Unix time or on the trace's own clock.
        ended_s: end of the job or of its observation.
        wall_clock: whether these times are Unix time.
        command: words of the command; empty if unknown.
        exit_status: exit status of an ended command.
        unseen: programs whose calls are missing.
        notes: sentences on the source of the report.
        missing_parts: missing or omitted input, one line each.
        is_run: made by ``iotide run``: the data files are in the same folder.
    """

    job: JobDetail
    prediction: Prediction | None
    predictions: int
    started_s: float
    ended_s: float
    wall_clock: bool = True
    command: tuple[str, ...] = ()
    exit_status: int | None = None
    unseen: tuple[UnseenProgram, ...] = ()
    notes: tuple[str, ...] = ()
    missing_parts: tuple[str, ...] = ()
    is_run: bool = False

    @property
    def is_partial(self) -> bool:
        """Whether I/O of the job is known to be missing."""
        return bool(self.job.losses or self.unseen or self.job.not_counted.any_mapped)

    @property
    def duration_s(self) -> float:
        """Observed duration, s."""
        return self.ended_s - self.started_s


def subject_of(summary: RunSummary) -> JobData:
    """Return the subject of a run's report."""
    return JobData(
        job=summary.job,
        prediction=summary.prediction,
        predictions=summary.predictions,
        started_s=summary.started_at_s,
        ended_s=summary.ended_at_s,
        command=tuple(summary.command),
        exit_status=summary.exit_status,
        unseen=tuple(summary.unseen),
        is_run=True,
    )
