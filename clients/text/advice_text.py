"""Advice as text. It makes the lines for the end of a run, and the output of ``iotide advise``."""

from __future__ import annotations

from typing import Final, TextIO

from ...events.counted_text import counted
from ...results.advice import Advice, AdviceFinding
from .printable import printable
from .units import byte_text, duration_text, rate_text

_PLACES: Final = 2
_PARTS: Final = (
    ("read_s", "reading"),
    ("write_s", "writing"),
    ("sync_s", "flushing"),
    ("opening_s", "opening and closing"),
    ("lookup_s", "looking up names"),
    ("names_s", "renaming, removing and making names"),
    ("other_s", "seeking, locking and the like"),
)
_MIN_PART: Final = 0.05
_SLIGHT: Final = 0.001
_SMALL_SHARE: Final = 0.1
_WIDE: Final = 1.2
"""Ratio of the bounds of a saving from which they are printed."""
_CHANGED: Final = 0.1
"""Share by which bytes in files differ from those in the program's calls. Above it a library is named as the cause."""
_MIN_MOVED: Final = 0.01
"""Least share of the bytes for which a place is named."""


def percent(share: float) -> str:
    """Format a share of a run.

    >>> percent(0.414), percent(0.0041), percent(0.0001), percent(0)
    ('41 %', '0.4 %', 'under 0.1 %', '0 %')
    """
    if 0 < share < _SLIGHT:
        return "under 0.1 %"
    return f"{share * 100:.1f} %".replace(".0 %", " %") if share < _SMALL_SHARE else f"{share * 100:.0f} %"


def io_time_line(advice: Advice) -> str:
    """Return the share of the run in I/O, by kind, of the slowest member."""
    if not advice.slowest and not advice.io_s:
        return "I/O: no call on the program's data was seen"
    parts = [
        f"{duration_text(seconds)} {what}"
        for name, what in _PARTS
        if (seconds := getattr(advice.spent, name)) >= _MIN_PART * advice.io_s and seconds > 0
    ]
    who = f" in {advice.slowest}" if advice.slowest else ""
    lanes = f", the slowest of {advice.lanes:,} at once" if advice.lanes > 1 else ""
    on = f": {', '.join(parts)}" if parts else ""
    if advice.overlaps:
        return f"I/O takes {duration_text(advice.io_s)}{who} in calls that overlap, in a run of " + (
            f"{duration_text(advice.run_s)}{on}"
        )
    beside = ""
    if advice.run_s and advice.system_s >= _MIN_PART * advice.run_s:
        beside = f"; {percent(advice.system_s / advice.run_s)} more on imports and system files"
    return f"I/O takes {percent(advice.io_share)} of the run{who}{lanes}{on}{beside}"


def moved_line(advice: Advice, *, partial: bool = False) -> str:
    """Return the moved data, its destinations and rates. ``partial``: not all I/O of the job was recorded."""
    if not advice.destinations:
        return "no data moved by recorded calls" if partial else "no data moved"
    parts = []
    moved = sum(place.bytes_read + place.bytes_written for place in advice.destinations)
    places = [row for row in advice.destinations if row.bytes_read + row.bytes_written >= _MIN_MOVED * moved]
    for place in places[:_PLACES]:
        ways = [
            f"{byte_text(size)} {way}"
            for size, way in ((place.bytes_read, "read from"), (place.bytes_written, "written to"))
            if size
        ]
        kind = f" ({place.type})" if place.type else ""
        rate = f" at {rate_text(place.rate)}" if place.rate else ""
        parts.append(f"{' and '.join(ways)} {place.place or 'files without a name'}{kind}{rate}")
    more = len(places) - _PLACES
    return "; ".join(parts) + (f"; {counted(more, 'more places')}" if more > 0 else "") + _changed_below(advice, moved)


def _changed_below(advice: Advice, moved: int) -> str:
    """Return the bytes that the program asked a library for.

    This is for the case that clearly other ones reached the file systems.
    """
    asked = advice.bytes_read + advice.bytes_written
    if abs(moved - asked) <= _CHANGED * max(moved, asked):
        return ""
    return f", for {byte_text(asked)} in the program's calls: a library below converts, compresses or caches"


def floor_text(advice: Advice) -> str:
    """Return the least saving that is reported. It is a share of the run, or a time in a short run."""
    if advice.floor_s > 1.001 * advice.floor_share * advice.run_s:
        return duration_text(advice.floor_s)
    return f"{percent(advice.floor_share)} of the run"


def first_line(advice: Advice, *, partial: bool = False) -> str:
    """Return the first recommended change and its saving. ``partial``: not all I/O of the job was recorded."""
    if not advice.findings:
        return f"{nothing_to_change(partial)}: no cause was found that costs {floor_text(advice)} or more"
    first = advice.findings[0]
    if not first.gain_s:
        return f"data at risk: {first.title}. {first.change}"
    more = f" (and {len(advice.findings) - 1} more: iotide advise)" if len(advice.findings) > 1 else ""
    return f"change first, {_saving_text(first)}: {first.title}. {first.change}{more}"


def nothing_to_change(partial: bool) -> str:
    """Return the statement on a job without a finding."""
    return "nothing to change in what was recorded" if partial else "nothing to change"


def _saving_text(finding: AdviceFinding) -> str:
    return saving_text(finding, f"{duration_text(finding.gain_s)} ({percent(finding.gain_share)} of the run)")


def saving_text(finding: AdviceFinding, amount: str) -> str:
    """Return the expected saving; of a thread beside others, which may not wait for its calls, an upper bound."""
    if finding.gain_at_most:
        return f"saves at most {amount}, if no thread computes meanwhile"
    return f"saves about {amount}"


def print_advice(advice: Advice, stream: TextIO) -> None:
    """Print advice.

    Args:
        advice: the advice.
        stream: output stream.
    """

    def write_line(text: str = "") -> None:
        stream.write(printable(text) + "\n")

    write_line(f"{advice.job}: {counted(advice.events, 'calls')} over {duration_text(advice.run_s)}")
    write_line(io_time_line(advice))
    write_line(moved_line(advice))
    if not advice.findings:
        write_line(first_line(advice))
    for number, finding in enumerate(advice.findings, 1):
        write_line()
        write_line(f"{number}. {finding.title}")
        write_line(f"   {finding.cause.replace('_', ' ')}: {_cost_text(finding)}")
        write_line(f"   why     {finding.why}")
        write_line(f"   change  {finding.change}")
        begin, end = finding.first_s - advice.first_s, finding.last_s - advice.first_s
        write_line(f"   when    from {duration_text(begin)} to {duration_text(end)} after the first call")
        for path in finding.examples:
            write_line(f"   file    {path}")
    for reason, count in advice.losses.items():
        write_line(f"left out: {count:,} {reason.replace('_', ' ')}")


def _cost_text(finding: AdviceFinding) -> str:
    if not finding.gain_s:
        return "costs no time, but endangers data"
    costs = f"costs {duration_text(finding.seconds)} ({percent(finding.share)} of the run){_slowest_text(finding)}"
    return f"{costs}; the change {_saving_text(finding)}{_range_text(finding)}"


def _range_text(finding: AdviceFinding) -> str:
    """Return the bounds of the saving if the time between the calls makes them differ."""
    least, most = (duration_text(each) for each in (finding.gain_least_s, finding.gain_most_s))
    return f", between {least} and {most}" if finding.gain_most_s > _WIDE * finding.gain_least_s > 0 else ""


def _slowest_text(finding: AdviceFinding) -> str:
    if not finding.slowest:
        return ""
    return f" in {finding.slowest}" + (f", the slowest of {finding.processes:,}" if finding.processes > 1 else "")
