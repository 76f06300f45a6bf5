"""Replay of a finished trace as if it were live. Its predictions are compared with actual phases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ...events import EventBatch, Kind, make_batch
from ...results.prediction import Prediction
from ...results.traces.plot_data import PhaseColumns
from ...results.traces.replay import Replay, ReplayStep
from ..common.sorting import Columns, Ordering, Reiterable, ordered
from ..online.predictor import Predictor
from ..settings import DetectSettings
from ..signal.selection import ALL_COUNTS, counted
from .requests import Batches

Times = npt.NDArray[np.int64]

MAX_MOMENTS: Final = 300  # maximum number of judged predictions
_USUAL_EVERY_S: Final = 1.0  # default time between predictions without phases, s
_MIN_MOMENTS: Final = 20  # minimum number of predictions without phases
_FIRST_MOMENTS: Final = 50  # number of first phases that are never skipped
_BETWEEN: Final = 4  # maximum number of predictions between two judged ones
_MAX_BETWEEN: Final = 600  # predictions, of half a millisecond or more each
_COLUMNS: Final = ("start", "duration", "bytes", "kind", "flags")


class Span(NamedTuple):
    """Start of the first and end of the last event, ns."""

    first_ns: int
    last_ns: int


def replay(
    batches: Batches,
    settings: DetectSettings,
    job: str,
    *,
    phases: PhaseColumns,
    period_s: float | None,
    bin_s: float,
    every_s: float | None = None,
    ordering: Ordering = ordered,
) -> Replay:
    """Make predictions at many times of a finished trace. Each uses the data seen by then.

    Args:
        batches: events of all streams, each batch with the mask of its stream's files.
        settings: method and limits of an online job.
        job: job name in the results.
        phases: phases of the whole trace, as the ground truth.
        period_s: period of the whole trace, s; None if it has none.
        bin_s: length of the bins in which these were found, s.
        every_s: time between predictions, s. None for one at the end of each phase, or one per second without phases.
        ordering: function that sorts events by time; in memory by default.

    Raises:
        ConfigError: the settings are suitable for finished traces only.
    """
    events = in_order(batches, ordering)
    moments = prediction_times(span_of(events), phases, every_s, bin_ns=max(1, round(bin_s * 1e9)))
    asked = _densified(moments) if every_s is None else moments
    found = predictions_at(events, settings, job, asked)
    return evaluate_predictions(job, [found[at] for at in np.searchsorted(asked, moments).tolist()], phases, period_s)


def in_order(batches: Batches, ordering: Ordering = ordered) -> Iterable[EventBatch]:
    """Return the events relevant for a predictor in order of their ends, in pieces.

    These are the events that count towards the signal. Others are included if they start earlier than all before them,
    since they move the start of the observation. Files lose their numbers: the remaining events count.
    """
    return Reiterable(partial(_relevant, ordering(_columns(batches), "end")))


def _columns(batches: Batches) -> Iterator[Columns]:
    """Yield the events that may be relevant, decided per batch."""
    for batch, left_out in batches:
        if not len(batch):
            continue
        counts = counted(batch, left_out, "both")
        columns = {name: getattr(batch, name).astype(np.int64) for name in _COLUMNS}
        columns["kind"][~counts] = int(Kind.OTHER)
        columns |= {"end": batch.end, "counts": counts.astype(np.int64)}
        order = np.argsort(columns["end"], kind="stable")
        earlier, _ = _earlier(columns["start"][order], None)
        rows = np.sort(order[counts[order] | earlier])
        yield {name: column[rows] for name, column in columns.items()}


def _relevant(pieces: Iterable[Columns]) -> Iterator[EventBatch]:
    least: int | None = None
    for piece in pieces:
        earlier, least = _earlier(piece["start"], least)
        rows = (piece["counts"] != 0) | earlier
        if rows.any():
            columns = {name: piece[name][rows] for name in _COLUMNS}
            yield make_batch(int(np.count_nonzero(rows)), columns | {"file": 0, "depth": 0})


def _earlier(start: Times, least: int | None) -> tuple[npt.NDArray[np.bool_], int | None]:
    """Return which rows start earlier than all before them, and the earliest start so far."""
    if not len(start):
        return np.zeros(0, np.bool_), least
    lowest = np.minimum.accumulate(start)
    before = np.concatenate([[start[0] + 1 if least is None else least], lowest[:-1]])
    if least is not None:
        before = np.minimum(before, least)
        lowest = np.minimum(lowest, least)
    return start < before, int(lowest[-1])


def span_of(events: Iterable[EventBatch]) -> Span | None:
    """Return the time span of events in order of their ends; None without events."""
    span: Span | None = None
    for batch in events:
        first, last = int(batch.start.min()), int(batch.end[-1])
        span = Span(first, last) if span is None else Span(min(span.first_ns, first), last)
    return span


def prediction_times(span: Span | None, phases: PhaseColumns, every_s: float | None, *, bin_ns: int) -> Times:
    """Return the times of predictions, int64 ns ascending, at most ``MAX_MOMENTS``.

    The times are the ends of phases, when a program would flush its trace: the first ones all, and the others evenly
    thinned to fit. Without phases, or if a time between predictions is requested, they are equidistant; the distance
    grows with the trace as needed.
    """
    if span is None:
        return np.zeros(0, np.int64)
    first, last = span
    if every_s is None and len(phases):
        # one bin later the phase is over in the signal, too
        found = np.rint(phases.end_s * 1e9).astype(np.int64) + bin_ns
        found = np.unique(found[found <= last + 2 * bin_ns])
        if len(found) > MAX_MOMENTS:
            later = np.linspace(_FIRST_MOMENTS, len(found) - 1, MAX_MOMENTS - _FIRST_MOMENTS)
            found = found[np.concatenate([np.arange(_FIRST_MOMENTS), np.rint(later).astype(np.int64)])]
        return found
    usual_s = min(_USUAL_EVERY_S, (last - first) / 1e9 / _MIN_MOMENTS)
    step = max(round((every_s or usual_s) * 1e9), bin_ns, -(-(last - first) // MAX_MOMENTS))
    return np.arange(first + step, max(last, first + step) + 1, step, dtype=np.int64)[:MAX_MOMENTS]


def predictions_at(
    events: Iterable[EventBatch], settings: DetectSettings, job: str, moments: Times
) -> list[Prediction]:
    """Feed events to a predictor, and make a prediction at each time.

    Args:
        events: events in order of their ends, in pieces.
        settings: method and limits.
        job: job name in the results.
        moments: times of predictions, int64 ns, ascending.
    """
    predictor = Predictor(job, settings)
    found = []
    pieces = iter(events)
    left = next(pieces, None)
    for moment in moments.tolist():
        while left is not None:
            upto = int(np.searchsorted(left.end, moment, side="right"))
            if upto:
                predictor.update(left.select(slice(0, upto)), ALL_COUNTS, moment)
            if upto < len(left):
                left = left.select(slice(upto, None))
                break
            left = next(pieces, None)
        found.append(predictor.predict(moment))
    return found


def _densified(moments: Times) -> Times:
    """Return the times with up to four evenly spaced ones between each two. Fewer if there are many.

    An aggregator also predicts between the ends of phases, and these predictions affect the next ones: a period within
    phases is discarded when they are over.
    """
    between = min(_BETWEEN, _MAX_BETWEEN // max(len(moments), 1))
    parts = np.arange(1, between + 1) / (between + 1)
    inner = moments[:-1, None] + np.diff(moments)[:, None] * parts
    return np.unique(np.concatenate([moments, np.rint(inner).astype(np.int64).ravel()]))


def evaluate_predictions(
    job: str, predictions: Sequence[Prediction], phases: PhaseColumns, period_s: float | None
) -> Replay:
    """Compare each predicted next start with the actual one.

    That is the first phase that began after the prediction was made.
    """
    made = np.array([row.made_at_s for row in predictions])
    seen = np.searchsorted(phases.start_s, made, side="right")
    steps = [_step(row, int(at), phases, period_s) for row, at in zip(predictions, seen, strict=True)]
    errors = [abs(step.error) for step in steps if step.error is not None]
    covered = [step.covered for step in steps if step.covered is not None]
    answers = [step for step in steps if step.prediction.period_s is not None]
    return Replay(
        job=job,
        period_s=period_s,
        phases=len(phases),
        steps=steps,
        answered=len(answers),
        compared=len(errors),
        median_error=float(np.median(errors)) if errors else None,
        coverage=sum(covered) / len(covered) if covered else None,
        phases_until_answer=answers[0].phases_seen if answers else None,
    )


def _step(prediction: Prediction, seen: int, phases: PhaseColumns, period_s: float | None) -> ReplayStep:
    came = float(phases.start_s[seen]) if seen < len(phases) else None
    error: float | None = None
    covered: bool | None = None
    if came is not None and period_s is not None and prediction.next_phase is not None:
        start = prediction.next_phase.start_s
        error = (start.value - came) / period_s
        covered = start.low <= came <= start.high
    return ReplayStep(prediction=prediction, phases_seen=seen, came_s=came, error=error, covered=covered)
