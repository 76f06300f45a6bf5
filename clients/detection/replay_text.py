"""Text output of a replay."""

from __future__ import annotations

from typing import Final, TextIO

from rich.console import Console
from rich.table import Table

from ...events.counted_text import counted
from ...results.prediction import Who
from ...results.traces.replay import Replay, ReplayStep
from ..text.headline import members_text
from ..text.units import duration_text

_MAX_ROWS: Final = 40
_WIDTH: Final = 110


def replay_sentences(replay: Replay) -> list[str]:
    """Summarise a replay: time of the first prediction, errors, coverage of the intervals."""
    if not replay.steps:
        return ["nothing to replay"]
    sentences = [f"{replay.answered} of {len(replay.steps)} predictions found a period"]
    if replay.phases_until_answer is not None and replay.phases:
        sentences[0] += f", the first after {counted(replay.phases_until_answer, 'phases')} of {replay.phases}"
    if replay.median_error is not None and replay.coverage is not None:
        held = sum(step.covered is True for step in replay.steps)
        sentences.append(f"the next start was off by {replay.median_error:.1%} of the period in the median")
        sentences.append(
            f"its 90 % interval held the true start in {held} of {replay.compared} cases ({replay.coverage:.0%})"
        )
    elif replay.period_s is None:
        sentences.append("the whole trace has no period to compare with")
    else:
        sentences.append("no predicted start could be compared with a phase that came")
    return sentences


def print_replay(replay: Replay, stream: TextIO, who: Who | None = None) -> None:
    """Print a table of the predictions, evenly thinned if there are many, and the summary.

    Args:
        replay: the predictions and what followed.
        stream: output stream.
        who: members whose events were replayed; None for all.
    """
    console = Console(file=stream, highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, _WIDTH)
    step = max(-(-len(replay.steps) // _MAX_ROWS), 1)
    if shown := replay.steps[::step]:
        title = "replayed as if live" if who is None else f"{members_text(who)}, replayed as if live"
        title += f", each {step}th prediction" if step > 1 else ""
        table = Table(box=None, padding=(0, 2, 0, 0), title=title, title_justify="left")
        for heading in ("after", "phases", "window", "period", "confidence", "next start in", "error", "interval"):
            table.add_column(heading, justify="right")
        zero = min(row.prediction.window.start_s for row in replay.steps)
        for row in shown:
            table.add_row(*_cells(row, zero))
        console.print()
        console.print(table)
    for sentence in replay_sentences(replay):
        console.print(sentence, soft_wrap=True)


def _cells(step: ReplayStep, zero_s: float) -> tuple[str, ...]:
    made = step.prediction
    window = duration_text(made.window.end_s - made.window.start_s) + (" cut" if made.window.adapted else "")
    period = "-" if made.period_s is None else duration_text(made.period_s.value)
    trust = "-" if made.period_s is None else f"{made.confidence:.0%}"
    wait = "-" if made.next_phase is None else duration_text(made.next_phase.start_s.value - made.made_at_s)
    error = "-" if step.error is None else f"{step.error:+.1%}"
    held = {True: "held", False: "missed", None: "-"}[step.covered]
    return duration_text(made.made_at_s - zero_s), str(step.phases_seen), window, period, trust, wait, error, held
