"""What a report is about: a run, finished traces, or a running job."""

from __future__ import annotations

from msgspec import Struct

from ...results.jobs.job import JobDetail
from ...results.jobs.run import RunSummary, UnseenProgram
from ...results.prediction import Prediction


class Subject(Struct, frozen=True):
    """What is known of a job, wherever it was learnt.

    Attributes:
        job: sums, largest files and calls.
        prediction: the last one.
        predictions: how many there were.
        started_s: when the job began, Unix time or on the trace's own clock.
        ended_s: when it ended, or what was seen of it did.
        wall_clock: whether these are Unix time.
        command: words of the command; empty where it is not known.
        exit_status: of a command that has ended.
        unseen: programs that are missing in all this.
        notes: sentences on where the report comes from.
        lacks: what the input does not say or is left out, a line each.
        is_run: ``iotide run`` made it: the same as data lies beside it.
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
    lacks: tuple[str, ...] = ()
    is_run: bool = False

    @property
    def lasted_s(self) -> float:
        """How long it was seen."""
        return self.ended_s - self.started_s


def subject_of(summary: RunSummary) -> Subject:
    """Returns what a report of a run is about."""
    return Subject(
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
