"""Table of the periods of a job's member groups: members, phases and replay of each."""

from __future__ import annotations

from msgspec import Struct

from ...results.base import Estimate
from ...results.prediction import NextPhase, Who
from ...results.traces.plot_data import PhaseColumns, PlotData
from ...results.traces.replay_evaluation import Replay
from ..text.headline import members_text
from ..text.units import byte_text, duration_text


class PeriodRow(Struct, frozen=True):
    """Texts of one period; "-" where a value is unknown."""

    members: str
    share: str
    period: str
    confidence: str
    phases: str
    moved: str
    upcoming: str
    live: str


def period_rows(panels: PlotData, start_s: float) -> list[PeriodRow]:
    """Return the main period and those of other members, in the order of the prediction. [] if there is only one.

    Args:
        panels: data of the trace's charts.
        start_s: zero of the displayed times.
    """
    main = panels.prediction
    if not panels.beside or main.period_s is None:
        return []
    own = [(main.who, main.period_s, main.confidence, panels.phases, main.next_phase, panels.replay)]
    for each in panels.beside:
        other = each.other
        own.append((other.who, other.period_s, other.confidence, each.phases, other.next_phase, each.replay))
    return [_row(*each, start_s) for each in own]


def _row(
    who: Who | None,
    period: Estimate,
    confidence: float,
    phases: PhaseColumns,
    upcoming: NextPhase | None,
    replay: Replay | None,
    start_s: float,
) -> PeriodRow:
    moved = float(phases.volume_bytes.sum())
    live = "-"
    if replay is not None and replay.median_error is not None:
        live = f"{replay.median_error:.1%} off in {replay.compared} predictions"
    return PeriodRow(
        members="the whole job" if who is None else members_text(who),
        share="100%" if who is None else f"{who.share:.0%}",
        period=duration_text(period.value),
        confidence=f"{confidence:.0%}",
        phases=f"{len(phases):,}",
        moved=f"{byte_text(moved)}, {byte_text(moved / len(phases))} each" if len(phases) else "-",
        upcoming="-" if upcoming is None else f"at {duration_text(upcoming.start_s.value - start_s)}",
        live=live,
    )
