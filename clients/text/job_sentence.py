"""A job in one sentence. It has volume, interval and manner of its I/O, next phase, and recommended change."""

from __future__ import annotations

from typing import Final

from ...results.advice import Advice, AdviceFinding, Cause
from ...results.prediction import NextPhase, Prediction
from .advice_text import nothing_to_change
from .headline import members_text
from .units import byte_text, clock_text, duration_text

_HOUR_S: Final = 3600.0
_BOTH: Final = 0.1
"""Least share of the bytes of a direction that is named."""
_REPEATS: Final = 3
"""Least number of periods in a run for a statement of the saving per hour."""
_CHANGE: Final[dict[Cause, str]] = {
    "small_requests": "move 1 MiB or more at once",
    "small_shared": "have each rank move large blocks of its own",
    "metadata": "look at names once and remember",
    "reopened": "keep the file open",
    "many_files": "put the records into one file",
    "many_objects": "put the records into one dataset",
    "fsync": "flush once for many records",
    "random": "read in the order of the file",
    "rewritten": "write what changes once, at the end",
    "read_again": "read the file once and keep it",
    "read_back": "keep in memory what was written",
    "chunks": "give chunks the shape of the access",
    "imbalance": "spread the I/O over the ranks",
    "misaligned": "begin blocks at stripes",
    "mount": "use the faster file system",
    "checkpoints": "write checkpoints less often",
    "collisions": "do I/O when others do not",
    "conflict": "give each process bytes of its own",
}


def job_sentence(
    advice: Advice, prediction: Prediction | None, now_s: float | None = None, *, partial: bool = False
) -> str:
    """Return the sentence.

    Args:
        advice: advice of the job.
        prediction: its latest prediction.
        now_s: current time if the job still runs, for its next phase.
        partial: not all I/O of the job was recorded.

    Returns:
        A sentence without a full stop; "" if no data moved.
    """
    if not advice.bytes_read + advice.bytes_written:
        return ""
    first = advice.findings[0] if advice.findings else None
    sure = prediction if prediction is not None and prediction.periodic else None
    parts = [_moved_text(advice, sure)]
    if sure is not None and sure.next_phase is not None and now_s is not None:
        parts.append(_next_phase_text(sure.next_phase, now_s))
    parts.append(nothing_to_change(partial) if first is None else _change_text(first, advice, sure))
    return "; ".join(parts)


def _moved_text(advice: Advice, sure: Prediction | None) -> str:
    writes = advice.bytes_written >= advice.bytes_read
    if sure is not None and sure.period_s is not None and sure.scores is not None:
        least = min(advice.bytes_read, advice.bytes_written)
        if sure.mode == "both" and least >= _BOTH * (advice.bytes_read + advice.bytes_written):
            way = "reads and writes"
        else:
            way = "writes" if sure.mode == "write" or (writes and sure.mode != "read") else "reads"
        amount = f"{way} {byte_text(sure.scores.bytes_per_phase)} every {duration_text(sure.period_s.value)}"
        if sure.who is not None:  # the request size is that of the whole job
            return f"{amount} ({members_text(sure.who)})"
        if not advice.manner.endswith(way) and way != "reads and writes":
            return amount  # most bytes go the other way, and the request size is theirs
    else:
        ways = ((advice.bytes_written, "writes"), (advice.bytes_read, "reads"))
        amount = " and ".join(
            f"{way} {byte_text(size)}" for size, way in sorted(ways, key=lambda each: -each[0]) if size
        )
        amount += f" in {duration_text(advice.run_s)}"
    return f"{amount} {advice.manner}".rstrip()


def _next_phase_text(phase: NextPhase, now_s: float) -> str:
    start_s = phase.start_s.value
    return f"next at {clock_text(start_s)}" if start_s > now_s else "next now"


def _change_text(first: AdviceFinding, advice: Advice, sure: Prediction | None) -> str:
    change = first.short or _CHANGE[first.cause]
    if not first.gain_s:
        return change
    # If only some members have the period, others may do what is to be changed only once.
    at_most = "up to " if first.gain_at_most else ""
    period_s = sure.period_s.value if sure is not None and sure.period_s is not None and sure.who is None else 0.0
    if 0 < _REPEATS * period_s <= advice.run_s:
        return f"{change} and save {at_most}{duration_text(first.gain_share * _HOUR_S)} an hour"
    return f"{change} and save {at_most}{duration_text(first.gain_s)} of {duration_text(advice.run_s)}"
