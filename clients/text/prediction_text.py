"""A prediction as one or a few lines. It is for terminals without cursor control, logs and pipes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...results.prediction import LastCheckpoint, NextPhase, Prediction, TimeLimit
from .headline import group_period_text, headline_text
from .units import byte_text, clock_text, duration_text, rate_text

_FEW_BINS: Final = 2.5
BLOCKS: Final = " ▁▂▃▄▅▆▇█"


def prediction_line(prediction: Prediction, *, with_job: bool = True) -> str:
    """Return the main period of a job in one line."""
    return _line(prediction, headline_text(prediction), prediction.next_phase, with_job=with_job)


def prediction_lines(prediction: Prediction, *, with_job: bool = True) -> list[str]:
    """Return that line, and one line per group of members with another period. A line for the time limit follows."""
    others = [other for other in prediction.others if other.relation == "beside"]
    return [
        prediction_line(prediction, with_job=with_job),
        *(_line(prediction, group_period_text(other), other.next_phase, with_job=with_job) for other in others),
        *(_end_line(prediction, prediction.time_limit, with_job=with_job) if prediction.time_limit else ()),
    ]


def io_share_text(prediction: Prediction) -> str:
    """Return share of the time and rate of I/O in phases; "" without scores.

    The signal has bins. If a phase has the length of one or two, share and rate of the I/O in it are only bounded.
    """
    if (scores := prediction.scores) is None:
        return ""
    share, rate = f"{scores.time_ratio:.0%}".replace("%", " %"), rate_text(scores.bandwidth)
    if scores.burst_width_s * prediction.sampling_frequency_hz < _FEW_BINS:
        return f"at most {share} of the time, at least {rate}"
    return f"{share} of the time at {rate}"


def _end_line(prediction: Prediction, limit: TimeLimit, *, with_job: bool) -> list[str]:
    if not prediction.periodic:  # the line above reports this
        return []
    parts = [clock_text(prediction.made_at_s), _job_text(prediction) if with_job else "", time_limit_text(limit)]
    return ["  ".join(part for part in parts if part)]


def _line(prediction: Prediction, periodicity: str, upcoming: NextPhase | None, *, with_job: bool) -> str:
    parts = [clock_text(prediction.made_at_s), _job_text(prediction) if with_job else "", periodicity]
    return "  ".join(part for part in (*parts, next_phase_text(upcoming, prediction.made_at_s)) if part)


def _job_text(prediction: Prediction) -> str:
    """Format a job's id, and the name that its user gave it."""
    name = "".join(character if character.isprintable() else "?" for character in prediction.name)
    return f"{prediction.job} ({name})" if name else prediction.job


def next_phase_text(phase: NextPhase | None, now_s: float) -> str:
    """Format start (relative to ``now_s``) and size of the next phase; "" if unknown."""
    if phase is None:
        return ""
    wait = phase.start_s.value - now_s
    when = f"in {duration_text(wait)}" if wait > 0 else "now"
    return (
        f"next phase {when} (at {clock_text(phase.start_s.value)}, {phase.confidence:.0%} sure):"
        f" {byte_text(phase.volume_bytes.value)} in {duration_text(phase.duration_s.value)}"
    )


def time_limit_text(limit: TimeLimit) -> str:
    """Format the time limit of a job. The text has its last checkpoint that fits, and the lost work."""
    sentences = [f"ends in {duration_text(max(limit.left_s, 0.0))} (at {clock_text(limit.ends_at_s)})"]
    if (last := limit.last_checkpoint) is not None:
        sentences.append(f"last whole checkpoint {_ahead_text(last)}, {last.fits:.0%} sure")
    elif limit.lost_s is not None and not limit.unknown:
        sentences.append("no further checkpoint fits")
    if limit.lost_s is not None:
        low, high = duration_text(limit.lost_s.low), duration_text(limit.lost_s.high)
        sentences.append(f"a kill at the limit loses {duration_text(limit.lost_s.value)} of work ({low} to {high})")
    if limit.begin_by_s is not None and limit.cut_off:
        sentences.append(f"a checkpoint on request must start by {clock_text(limit.begin_by_s)}")
    if limit.unknown:
        sentences.append(limit.unknown)
    return "; ".join(sentences)


def _ahead_text(last: LastCheckpoint) -> str:
    starts = clock_text(last.start_s.value)
    return f"began at {starts}" if last.ahead == 0 else f"begins at {starts} (number {last.ahead} from now)"


def sparkline(values: Sequence[float], width: int) -> str:
    """Draw values as a line of block characters. Each is the largest value of its column, newest at the right.

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
