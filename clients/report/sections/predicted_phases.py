"""Comparison of phases with the last prediction that was made before each began."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from ....results.jobs.file_systems import IoPhase, JobFileSystems
from ....results.prediction import Prediction
from ...text.units import byte_text, clock_text, duration_text
from ..markup import Lines, heading, paragraph, table

_MAX_PHASES: Final = 12
_SUBSTANTIAL: Final = 0.25
"""Least share of the predicted volume for which I/O counts as the phase."""
_PIECE: Final = 0.5
"""Share of a period. I/O that begins sooner after a phase's start is a part of that phase."""
_ON_TIME: Final = 0.2
"""Largest deviation of a start that counts as on time, as a share of the period. It is that of
``NextPhase.confidence``."""


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
