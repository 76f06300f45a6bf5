"""Text output of contention between jobs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.table import Table

from ...events.counted_text import counted
from ...results.alerts import Alert
from ...results.base import Estimate
from ...results.contention import Capacity, Collision, Contention, Delayed, ExpectedPhase, Slowdown
from .headline import members_text
from .tables import number_table, plain_name
from .units import byte_text, clock_text, duration_text, rate_text

_MAX_ROWS: Final = 20
_SURE_PART: Final = 0.95  # probability from which on a job's part in a collision is not printed
_SUREST: Final = 0.999  # highest probability that is printed; none is 100 %
_KNOWN: Final = {"configured": "", "learnt": " learnt", "at_least": " at least"}


def print_contention(found: Contention, console: Console | None = None) -> None:
    """Print contention results.

    Args:
        found: the results.
        console: output console; standard output by default.
    """
    console = console or Console(highlight=False, soft_wrap=True)
    console.print(
        f"{counted(found.jobs, 'jobs')} at {clock_text(found.made_at_s)}, at least {found.completeness:.1%} complete"
    )
    if found.file_systems:
        console.print(_file_system_table(found))
    for alert in found.alerts[:_MAX_ROWS]:
        console.print(f"[bold]ALERT[/bold] {plain_name(alert_line(alert))}")
    _print_slowdowns(found, console)
    _print_collisions(found, console)
    for phase in found.next_phases[:_MAX_ROWS]:
        console.print(_next_phase_text(phase, found.made_at_s))
    for file in found.files[:_MAX_ROWS]:
        who = _join_names([plain_name(user.job) for user in file.jobs])
        console.print(f"{plain_name(file.path)} is shared by {who}, {duration_text(file.together_s)} at once")
    for one in found.abstained[:_MAX_ROWS]:
        what = {"both": "no result", "forecast": "no forecast", "slowdown": "no slowdown"}
        console.print(f"{plain_name(one.job)}: {what[one.what]}, because {one.reason}")
    more = len(found.collisions) - _MAX_ROWS
    if more > 0:
        console.print(f"{counted(more, 'further collisions')}: --json has all")


def _print_slowdowns(found: Contention, console: Console) -> None:
    slowed = [each for each in found.slowdowns if each.verdict == "slowed"]
    for each in slowed[:_MAX_ROWS]:
        console.print(_slowdown_text(each))
    if not slowed:
        console.print("No slowdown of a job by others is certain.")


def _print_collisions(found: Contention, console: Console) -> None:
    for collision in found.ongoing[:_MAX_ROWS]:
        console.print(f"Measured: {_collision_text(collision, found.made_at_s, measured=True)}")
    for collision in found.collisions[:_MAX_ROWS]:
        console.print(_collision_text(collision, found.made_at_s))
    if not found.collisions:
        console.print("No collision is predicted.")


def _file_system_table(found: Contention) -> Table:
    table = number_table("File systems", "can move", "moves", "busy", "jobs")
    table.add_column("file system")
    for state in found.file_systems[:_MAX_ROWS]:
        table.add_row(
            _capacity_text(state.capacity), rate_text(state.bandwidth), f"{state.busy:.0%}", str(len(state.jobs)),
            plain_name(state.file_system),
        )  # fmt: skip
    return table


def alert_line(alert: Alert) -> str:
    """Format an alert in one line: time, content, probability, and advice."""
    begun = f"{clock_text(alert.changed_at_s)} {alert.state}"
    since = f" (since {clock_text(alert.since_s)})" if alert.since_s != alert.changed_at_s else ""
    sure = f"{alert.sure:.1%}" if alert.sure < _SUREST else f"more than {_SUREST:.1%}"
    return f"{begun}{since}: {alert.summary} ({sure} sure). {alert.advice}"


def _capacity_text(capacity: Capacity) -> str:
    if capacity.bytes_per_s is None:
        return "?"
    return f"{rate_text(capacity.bytes_per_s.value)}{_KNOWN.get(capacity.known, '')}"


def _slowdown_text(each: Slowdown) -> str:
    slowdown = each.slowdown or Estimate(value=1.0, low=1.0, high=1.0)
    what = "a byte" if each.measure == "data" else "a metadata call"
    who = _join_names([f"{plain_name(one.job)} ({one.share:.0%} of what they do)" for one in each.culprits])
    return (
        f"{plain_name(each.job)} needs {slowdown.value:.2f} times as long for {what} on {plain_name(each.file_system)}"
        f" while others do I/O ({slowdown.low:.2f} to {slowdown.high:.2f}; {each.shared_phases} phases against"
        f" {each.alone_phases} alone, p = {each.p_value:.1g}): {who or each.no_culprit}"
    )


def _collision_text(collision: Collision, now_s: float, *, measured: bool = False) -> str:
    wait = collision.start_s.value - now_s
    when = f"in {duration_text(wait)}" if wait > 0 else "now"
    likely = "" if measured else f" ({collision.probability:.0%} likely)"
    jobs = _join_names([_delayed_text(each) for each in collision.jobs])
    size = f"{rate_text(collision.demand)} wanted" + (
        f", {collision.excess:.1f} times what there is" if collision.excess > 1 else ""
    )
    return f"{when}{likely} on {plain_name(collision.file_system)}: {jobs}; {size}"


def _delayed_text(job: Delayed) -> str:
    facts = [] if job.delay_s is None else [f"+{duration_text(job.delay_s.value)}"]
    if job.probability < _SURE_PART:
        facts.append(f"in {job.probability:.0%} of cases")
    who = "" if job.who is None else f" ({plain_name(members_text(job.who))})"
    return f"{plain_name(job.job)}{who}" + (f" ({', '.join(facts)})" if facts else "")


def _next_phase_text(phase: ExpectedPhase, now_s: float) -> str:
    low, middle, high = (max(at - now_s, 0.0) for at in (phase.start_s.low, phase.start_s.value, phase.start_s.high))
    who = "" if phase.who is None else f" ({plain_name(members_text(phase.who))})"
    when = f"in {duration_text(middle)} ({duration_text(low)} to {duration_text(high)})"
    if middle <= 0:
        when = f"now, or within {duration_text(high)}" if high > 0 else "now"
    lasting = "" if phase.duration_s is None else f", for {duration_text(phase.duration_s.value)}"
    return (
        f"Next phase of {plain_name(phase.job)}{who} on {plain_name(phase.file_system)} {when}: "
        f"{byte_text(phase.volume_bytes)}{lasting}"
    )


def _join_names(names: Sequence[str]) -> str:
    return ", ".join(names)
