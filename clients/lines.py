"""A prediction in a line or a few, for terminals without cursor control, logs and pipes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..results.models import NextPhase, Prediction
from .headline import beside_text, headline_text
from .units import byte_text, clock_text, duration_text

BLOCKS: Final = " ▁▂▃▄▅▆▇█"


def prediction_line(prediction: Prediction, *, with_job: bool = True) -> str:
    """Writes what a person wants to know of a job's main rhythm, in one line."""
    return _line(prediction, headline_text(prediction), prediction.next_phase, with_job=with_job)


def prediction_lines(prediction: Prediction, *, with_job: bool = True) -> list[str]:
    """Writes the same, and a line for each group of the job's members that has a rhythm beside the main one."""
    others = [other for other in prediction.others if other.relation == "beside"]
    return [
        prediction_line(prediction, with_job=with_job),
        *(_line(prediction, beside_text(other), other.next_phase, with_job=with_job) for other in others),
    ]


def _line(prediction: Prediction, rhythm: str, upcoming: NextPhase | None, *, with_job: bool) -> str:
    parts = [clock_text(prediction.made_at_s), prediction.job if with_job else "", rhythm]
    return "  ".join(part for part in (*parts, next_phase_text(upcoming, prediction.made_at_s)) if part)


def next_phase_text(phase: NextPhase | None, now_s: float) -> str:
    """Writes when the next phase comes, seen from ``now_s``, and how large it will be; "" where it is not known."""
    if phase is None:
        return ""
    wait = phase.start_s.value - now_s
    when = f"in {duration_text(wait)}" if wait > 0 else "now"
    return (
        f"next phase {when} (at {clock_text(phase.start_s.value)}, {phase.confidence:.0%} sure):"
        f" {byte_text(phase.volume_bytes.value)} in {duration_text(phase.duration_s.value)}"
    )


def sparkline(values: Sequence[float], width: int) -> str:
    """Draws values as a line of block characters, the largest of each column shown, newest at the right.

    >>> sparkline([0, 0, 4, 8, 0, 0, 2, 8], 8)
    '  ▄█  ▂█'
    """
    if not values or width < 1:
        return ""
    step = max(1, -(-len(values) // width))
    head = len(values) % step
    columns = [max(values[:head])] if head else []
    columns += [max(values[at : at + step]) for at in range(head, len(values), step)]
    top = max(columns)
    if top <= 0:
        return " " * len(columns)
    return "".join(BLOCKS[0] if value <= 0 else BLOCKS[max(1, round(value / top * 8))] for value in columns)
