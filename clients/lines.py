"""A prediction in one line, for terminals without cursor control, logs and pipes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..events.models import Estimate, ModeName, OtherRhythm, Prediction
from .units import byte_text, clock_text, duration_text

_OF_MODE: Final[dict[ModeName, str]] = {"read": " of what is read", "write": " of what is written", "both": ""}
BLOCKS: Final = " ▁▂▃▄▅▆▇█"


def prediction_line(prediction: Prediction, *, with_job: bool = True) -> str:
    """Writes what a person wants to know of a prediction, in one line."""
    parts = [clock_text(prediction.made_at_s)]
    if with_job:
        parts.append(prediction.job)
    if prediction.incomplete:
        seen = prediction.window.end_s - prediction.window.start_s
        parts.append(f"no period claimed: {incompleteness_text(prediction)} ({duration_text(seen)} seen)")
        return "  ".join(parts)
    if prediction.period_s is None:
        seen = prediction.window.end_s - prediction.window.start_s
        parts.append(f"no rhythm ({duration_text(seen)} seen)")
        return "  ".join(parts)
    of = _OF_MODE[prediction.mode]
    word = "period" if prediction.periodic else "perhaps a period of"
    parts.append(f"{word} {duration_text(prediction.period_s.value)}{interval_text(prediction.period_s)}{of}")
    parts.append(f"confidence {prediction.confidence:.0%}")
    if upcoming := next_phase_text(prediction, prediction.made_at_s):
        parts.append(upcoming)
    return "  ".join(parts)


def incompleteness_text(prediction: Prediction) -> str:
    """Writes how much of a prediction's window is missing."""
    return f"{1 - prediction.completeness:.0%} of the data is missing"


def next_phase_text(prediction: Prediction, now_s: float) -> str:
    """Writes when the next phase comes, seen from ``now_s``, and how large it will be; "" where it is not known."""
    phase = prediction.next_phase
    if phase is None:
        return ""
    wait = phase.start_s.value - now_s
    when = f"in {duration_text(wait)}" if wait > 0 else "now"
    return (
        f"next phase {when} (at {clock_text(phase.start_s.value)}): {byte_text(phase.volume_bytes.value)}"
        f" in {duration_text(phase.duration_s.value)}"
    )


def other_text(other: OtherRhythm, start_s: float) -> str:
    """Writes a further rhythm of a job; moments count from ``start_s``."""
    period = f"{duration_text(other.period_s.value)}{interval_text(other.period_s)}"
    span = f"{duration_text(max(other.start_s - start_s, 0.0))} to {duration_text(other.end_s - start_s)}"
    match other.relation:
        case "earlier":
            return f"before, from {span}: a period of {period}, {other.phases} phases"
        case "within":
            return f"within: bursts every {period}, {other.phases} of them"
        case "around":
            return f"around: a larger phase every {period}"


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


def interval_text(estimate: Estimate) -> str:
    """Writes an interval in brackets; "" where it is too narrow to matter."""
    if estimate.high - estimate.low <= 0.005 * abs(estimate.value):
        return ""
    return f" ({duration_text(estimate.low)} to {duration_text(estimate.high)})"
