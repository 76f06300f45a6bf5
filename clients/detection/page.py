"""The page of ``iotide detect --plot``: one HTML file that needs no network."""

from __future__ import annotations

from msgspec import Struct

from ...results.base import Estimate
from ...results.prediction import NextPhase, Who
from ...results.traces.analysis import DetectionReport
from ...results.traces.plot_data import PhaseColumns, PlotData
from ...results.traces.replay import Replay
from ..templating import page_template
from ..text.headline import (
    NO_PERIOD_NOTE,
    further_period_text,
    further_periods,
    make_headline,
    members_text,
    weight_text,
)
from ..text.units import byte_text, duration_text, mapped_text, not_counted_text
from .charts_bokeh import embed, library
from .replay_text import replay_sentences


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


def render_detection(report: DetectionReport, panels: PlotData) -> str:
    """Render the page. Scripts and elements of the charts are inserted unescaped, everything else is escaped.

    Raises:
        UnavailableError: bokeh is missing.
    """
    script, divisions = embed(panels)
    of_all = panels.whole is None or panels.prediction.who is None
    return page_template(
        "detect.html", other=further_period_text, weight=lambda row: weight_text(panels.prediction, row)
    ).render(
        report=report,
        prediction=panels.prediction,
        headline=make_headline(panels.prediction, report.start_s),
        further=further_periods(panels.prediction),
        left=not_counted_text(report.not_counted),
        mapped=mapped_text(report.not_counted),
        no_line=NO_PERIOD_NOTE,
        members="" if of_all or panels.prediction.who is None else members_text(panels.prediction.who),
        periods=period_rows(panels, report.start_s),
        phases=len(panels.phases),
        replay=panels.replay,
        validity=panels.validity,
        replayed=[] if panels.replay is None else replay_sentences(panels.replay),
        notes=panels.notes,
        library=library(),
        script=script,
        panels=divisions,
    )
