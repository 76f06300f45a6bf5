"""The period in a report: bandwidth with phases, predictions before each phase, further periods, candidates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Final

from msgspec import Struct

from ....results.jobs.file_systems import IoPhase, JobFileSystems
from ....results.prediction import Prediction
from ...text.headline import NO_PERIOD_NOTE, Headline, further_period_text, further_periods, weight_text
from ...text.prediction_text import prediction_line
from ...text.units import byte_text, clock_text, duration_text, not_counted_text, rate_text
from ..job_data import JobData
from ..markup import Lines, bullets, heading, paragraph, picture, sentence, table

_MAX_PHASES: Final = 12
_SUBSTANTIAL: Final = 0.25
"""Least share of the predicted volume for which I/O counts as the phase."""
_PIECE: Final = 0.5
"""Share of a period. I/O that begins sooner after a phase's start is a part of that phase."""
_ON_TIME: Final = 0.2
"""Largest deviation of a start that counts as on time, as a share of the period. It is that of
``NextPhase.confidence``."""


def periodicity(
    subject: JobData, headline: Headline, history: Sequence[Prediction], pictures: Mapping[str, str]
) -> Lines:
    """Yield the bandwidth, the expected next phase, and the development of the confidence."""
    yield heading(f"Bandwidth{', and the period found in it' if headline.found else ''}")
    yield picture(pictures.get("signal"), _nothing(subject))
    yield from _next_phase(subject.prediction)
    if drawn := pictures.get("history"):
        yield heading("How the prediction settled" if headline.found else "What was predicted meanwhile")
        yield picture(drawn, "")
    yield from _further(subject.prediction)
    yield from _frequencies(subject.prediction, headline)


def predictions(history: Sequence[Prediction]) -> Lines:
    """Yield all stored predictions in a folded section."""
    if not history:
        return
    yield f"<details><summary>All {len(history):,} predictions that were kept</summary>"
    yield f"<pre>{escape(''.join(prediction_line(row) + chr(10) for row in history))}</pre></details>"


def _nothing(subject: JobData) -> str:
    """Return why there is no signal to draw."""
    if not subject.job.events:
        return "no call was seen"
    left = not_counted_text(subject.job.not_counted)
    return "no byte that counts was read or written" + (f" ({left})" if left else "")


def _next_phase(prediction: Prediction | None) -> Lines:
    if prediction is None or prediction.period_s is None or (phase := prediction.next_phase) is None:
        return
    start = phase.start_s
    yield paragraph(
        f"The next phase is expected at {clock_text(start.value)} ({clock_text(start.low)} to "
        f"{clock_text(start.high)}, {phase.confidence:.0%} sure): {byte_text(phase.volume_bytes.value)} in "
        f"{duration_text(phase.duration_s.value)}."
    )
    if prediction.shifts is not None and (shift := prediction.shifts.next_start_s) is not None:
        span = f"{clock_text(shift.low)} to {clock_text(shift.high)}"
        yield paragraph(
            f"The next shift of {prediction.shifts.phases} phases begins at {clock_text(shift.value)} ({span})."
        )


def _further(prediction: Prediction | None) -> Lines:
    if prediction is not None and (further := further_periods(prediction)):
        yield heading("Further periods")
        yield from bullets(escape(further_period_text(row, prediction.window.start_s)) for row in further)


def _frequencies(prediction: Prediction | None, headline: Headline) -> Lines:
    if prediction is None or not prediction.dominant:
        return
    yield "<details><summary>Strongest frequencies of the spectrum</summary>"
    heads = ("Frequency", "Period", "Amplitude", "Z-score", "Weight")
    rows = (
        (
            f"{row.frequency_hz:.4g} Hz",
            duration_text(row.period_s),
            rate_text(row.amplitude),
            f"{row.z_score:.1f}",
            weight_text(prediction, row),
        )
        for row in prediction.dominant
    )
    yield from table(heads, rows)
    if not headline.found:
        yield paragraph(f"{sentence(NO_PERIOD_NOTE)}.", soft=True)
    yield "</details>"


class PredictedPhase(Struct, frozen=True):
    """A phase and its prediction.

    Attributes:
        start_s: actual start.
        moved: bytes.
        predicted_s: predicted start.
        predicted_volume: predicted bytes.
        made_s: time of the prediction.
        on_time: whether it began within a fifth of a period of the predicted start.
    """

    start_s: float
    moved: int
    predicted_s: float
    predicted_volume: float
    made_s: float
    on_time: bool


def pair_predictions(history: Sequence[Prediction], systems: JobFileSystems | None) -> list[PredictedPhase]:
    """Pair the latest phases, newest first, with the last prediction before each.

    If several phases follow one prediction, the first is compared with its next phase, and the others with the phases
    following it. Phases without a prediction, such as those before the first one, are omitted.

    Args:
        history: predictions, oldest first.
        systems: phases of the job, by file system; those of the one with the most bytes count.
    """
    with_phase = [row for row in history if row.period_s is not None and row.next_phase is not None]
    if not with_phase or systems is None or not systems.file_systems or systems.own_clock:
        return []
    made: list[PredictedPhase] = []
    begun_s = -math.inf
    latest, after = -1, 0
    for phase in _join_continued(systems.file_systems[0].phases):
        while latest + 1 < len(with_phase) and with_phase[latest + 1].made_at_s < phase.start_s:
            latest, after = latest + 1, 0
        if latest < 0:
            continue
        one = with_phase[latest]
        if one.next_phase is None or one.period_s is None:
            continue
        expected, period_s = one.next_phase.volume_bytes.value, one.period_s.value
        if phase.moved < _SUBSTANTIAL * expected or phase.start_s - begun_s < _PIECE * period_s:
            continue
        begun_s = phase.start_s
        starts = [one.next_phase.start_s, *(each.start_s for each in one.next_phase.following)]
        if after < len(starts):
            start_s = starts[after].value
            made.append(
                PredictedPhase(
                    start_s=phase.start_s,
                    moved=phase.moved,
                    predicted_s=start_s,
                    predicted_volume=expected,
                    made_s=one.made_at_s,
                    on_time=abs(start_s - phase.start_s) <= _ON_TIME * period_s,
                )
            )
        after += 1
    return made[: -_MAX_PHASES - 1 : -1]


def predicted_phases_part(history: Sequence[Prediction], systems: JobFileSystems | None) -> Lines:
    """Yield a row for each of the latest phases."""
    rows = pair_predictions(history, systems)
    if not rows:
        return
    yield heading("Predictions against what came")
    right = sum(row.on_time for row in rows)
    yield paragraph(
        f"{right} of the last {len(rows)} phases began within a fifth of a period of when they were predicted."
    )
    heads = ("Began at", "Predicted for", "Off by", "Said before", "Moved", "Predicted", "On time")
    cells = (
        (
            clock_text(row.start_s),
            clock_text(row.predicted_s),
            duration_text(row.start_s - row.predicted_s),
            duration_text(row.start_s - row.made_s),
            byte_text(row.moved),
            byte_text(row.predicted_volume),
            "yes" if row.on_time else "no",
        )
        for row in rows
    )
    yield from table(heads, cells)


def _join_continued(phases: Sequence[IoPhase]) -> list[IoPhase]:
    """Return the phases, each joined with the pieces that continue it."""
    whole: list[IoPhase] = []
    for phase in phases:
        if phase.continues and whole:
            before = whole[-1]
            whole[-1] = before.model_copy(
                update={
                    "end_s": phase.end_s,
                    "bytes_read": before.bytes_read + phase.bytes_read,
                    "bytes_written": before.bytes_written + phase.bytes_written,
                }
            )
        else:
            whole.append(phase)
    return whole
