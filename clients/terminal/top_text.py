"""Text of ``iotide top``: all jobs in a table, and one job."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...events.counted_text import counted
from ...results.jobs.fleet import Fleet, FleetJob, FleetOrder
from ...results.jobs.job import JobDetail
from ...results.prediction import Prediction
from ..text.headline import headline_text
from ..text.prediction_text import sparkline
from ..text.printable import padded, width_of
from ..text.units import byte_text, clock_lines, clock_text, duration_text, rate_text

ORDERS: Final[tuple[FleetOrder, ...]] = ("bandwidth", "job", "user", "period", "next", "written", "read", "last")
ASCENDING: Final = frozenset({"job", "user", "period", "next"})
_FIXED: Final = 62  # columns beside the job's name, each with a leading blank
_SPARK: Final = 14
_WIDE: Final = 100
_MIN_NAME: Final = 8


def strip_control(text: str) -> str:
    """Return a text without terminal control characters.

    >>> strip_control("a\\x1b[2Jb\\n")
    'a?[2Jb?'
    """
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def total_line(fleet: Fleet) -> str:
    """Return the number of jobs and their total bandwidth."""
    states = ", ".join(f"{count:,} {state}" for state, count in fleet.states.items()) or "none yet"
    alerts = f"; {counted(fleet.alerts, 'alerts')}" if fleet.alerts else ""
    return f"{counted(fleet.total, 'jobs')}: {states}; {rate_text(fleet.bandwidth)}{alerts}"


def header_line(width: int, order: FleetOrder) -> str:
    """Return the column names; that of the sort column is in capitals."""
    heads = {"job": "job", "user": "user", "state": "state", "bandwidth": "bandwidth", "period": "period"}
    heads |= {"next": "next", "written": "written"}
    titles = {key: name.upper() if key == order else name for key, name in heads.items()}
    more = f" {'last 2 min':<{_SPARK}}" if width >= _WIDE else ""
    return _row(width, titles["job"], titles["user"], titles["state"], *(titles[key] for key in _RIGHT)) + more


def job_line(job: FleetJob, now_s: float, width: int) -> str:
    """Return a job's line.

    Args:
        job: the job.
        now_s: the aggregator's time of day.
        width: width of the terminal.
    """
    left = None if job.next_start_s is None else job.next_start_s - now_s
    period = "" if job.period_s is None else duration_text(job.period_s)
    due = "" if left is None else "now" if abs(left) < 1 else duration_text(left) if left > 0 else "late"
    rate = rate_text(job.bandwidth) if job.bandwidth else ""
    mark = "!" if job.alerts or job.failures or not job.complete else ""
    cells = (rate, period, due, byte_text(job.bytes_written))
    line = _row(width, strip_control(job.job), strip_control(job.user), f"{job.state}{mark}", *cells)
    return padded(f"{line} {sparkline(job.recent, _SPARK):<{_SPARK}}" if width >= _WIDE else line, width)


def detail_lines(detail: JobDetail, prediction: Prediction | None, width: int) -> Iterator[str]:
    """Yield the lines of one job.

    Args:
        detail: its totals, files and calls.
        prediction: the last one.
        width: width of the terminal.
    """
    yield strip_control(f"{detail.job}  {detail.user}  {detail.state}")
    if detail.command:
        yield strip_control(detail.command)
    yield f"{counted(len(detail.hosts), 'nodes')}, {counted(detail.ranks, 'ranks')}, {counted(detail.events, 'calls')}"
    read, written = byte_text(detail.bytes_read), byte_text(detail.bytes_written)
    yield f"read {read}, written {written}, now {rate_text(detail.bandwidth)}"
    if prediction is not None:
        yield strip_control(headline_text(prediction))
        if (phase := prediction.next_phase) is not None:
            volume = byte_text(phase.volume_bytes.value)
            yield f"next phase at {clock_text(phase.start_s.value)} ({phase.confidence:.0%} sure): {volume}"
    for line in clock_lines(detail.clocks_off_s):
        yield strip_control(line)
    if detail.losses:
        yield strip_control("lost: " + ", ".join(f"{count:,} {reason}" for reason, count in detail.losses.items()))
    for failure in detail.failures:
        yield strip_control(f"the analysis {failure.analysis} failed: {failure.reason}")
    yield ""
    yield f"{'written':>10} {'read':>10} {'calls':>9}  file"
    for file in detail.files:
        moved = f"{byte_text(file.bytes_written):>10} {byte_text(file.bytes_read):>10}"
        yield strip_control(_path_end(f"{moved} {file.calls:>9,}  ", file.path, width))


_RIGHT: Final = ("bandwidth", "period", "next", "written")


def _row(width: int, job: str, user: str, state: str, rate: str, period: str, due: str, written: str) -> str:
    """Return cells side by side; long cells are cut at their end."""
    room = max(width - _FIXED - (_SPARK + 1 if width >= _WIDE else 0), _MIN_NAME)
    names = f"{padded(job, room)} {padded(user, 8)} {padded(state, 8)}"
    return f"{names} {rate:>10} {period:>11} {due:>11} {written:>8}"


def _path_end(before: str, path: str, width: int) -> str:
    """Return a line with the end of a path, which is the most informative part."""
    room = max(width - len(before), _MIN_NAME)
    if width_of(path) <= room:
        return before + path
    end = next(end for at in range(max(len(path) - room, 0), len(path) + 1) if width_of(end := path[at:]) <= room - 3)
    return f"{before}...{end}"
