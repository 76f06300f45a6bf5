"""A prediction in one line, for terminals without cursor control, logs and pipes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..events.models import Prediction
from .headline import headline_text
from .units import byte_text, clock_text, duration_text

BLOCKS: Final = " ▁▂▃▄▅▆▇█"


def prediction_line(prediction: Prediction, *, with_job: bool = True) -> str:
    """Writes what a person wants to know of a prediction, in one line."""
    parts = [clock_text(prediction.made_at_s)]
    if with_job:
        parts.append(prediction.job)
    parts.append(headline_text(prediction))
    if upcoming := next_phase_text(prediction, prediction.made_at_s):
        parts.append(upcoming)
    return "  ".join(parts)


def next_phase_text(prediction: Prediction, now_s: float) -> str:
    """Writes when the next phase comes, seen from ``now_s``, and how large it will be; "" where it is not known."""
    phase = prediction.next_phase
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
