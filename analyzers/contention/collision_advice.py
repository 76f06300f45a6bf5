"""Cost of collisions with other jobs, as a finding of a job's advice. It is computed from measured slowdowns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ...results.advice import Advice, AdviceFinding
from ...results.contention import Slowdown

_FLOOR_S: Final = 0.02  # minimum loss of a finding, s
_NAMED: Final = 3  # maximum number of named culprits
_UNKNOWN: Final = "jobs that cannot be told apart"


def with_collisions(advice: Advice, slowdowns: Sequence[Slowdown]) -> Advice:
    """Add the cost of other jobs' simultaneous I/O to the advice.

    The loss is the time of simultaneous I/O less the time that the phases would take alone. With several simultaneous
    culprits the loss counts once, so that it never exceeds the job's I/O time.

    Args:
        advice: advice for the job.
        slowdowns: slowdowns of the same job; uncertain ones are ignored.
    """
    found = [row for each in slowdowns if each.verdict == "slowed" and (row := _finding(advice, each)) is not None]
    if not found:
        return advice
    findings = sorted([*advice.findings, *found], key=lambda finding: -finding.gain_s)
    return advice.model_copy(update={"findings": findings})


def _finding(advice: Advice, slowed: Slowdown) -> AdviceFinding | None:
    together_s = min(sum(each.overlap_s for each in slowed.culprits), advice.io_s)
    if slowed.slowdown is None or slowed.slowdown.value <= 1 or not advice.run_s:
        return None
    gain_s = together_s * (1.0 - 1.0 / slowed.slowdown.value)
    if gain_s < max(_FLOOR_S, advice.floor_share * advice.run_s):
        return None
    names = [each.job for each in slowed.culprits[:_NAMED] if each.job]
    culprits = ", ".join(names) or _UNKNOWN
    phases = slowed.alone_phases + slowed.shared_phases
    what = "time a byte" if slowed.measure == "data" else "time of a metadata call"
    return AdviceFinding(
        cause="collisions",
        title=f"{slowed.shared_phases:,} of {phases:,} phases on {slowed.file_system} came when {culprits} "
        f"did I/O there, "
        f"and took {slowed.slowdown.value:.2g} times as long ({what}; {slowed.slowdown.low:.2g} to "
        f"{slowed.slowdown.high:.2g})",
        why="The file system is shared: what others take, this job waits for.",
        change="Have checkpoints come at other times than theirs (another interval, or a later start), or put them on "
        "another file system; iotide schedule orders the phases of several jobs.",
        seconds=together_s,
        share=min(together_s / advice.run_s, 1.0),
        gain_s=gain_s,
        gain_share=min(gain_s / advice.run_s, 1.0),
        first_s=advice.first_s,
        last_s=slowed.last_shared_s,
        numbers={
            "slowdown": slowed.slowdown.value,
            "p_value": slowed.p_value,
            "alone_phases": float(slowed.alone_phases),
            "shared_phases": float(slowed.shared_phases),
        },
    )
