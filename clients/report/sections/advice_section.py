"""Advice in a report: largest savings first, each with evidence, reason and change."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Final

from ....events.counted_text import counted
from ....results.advice import Advice, AdviceFinding
from ...text.advice_text import floor_text, saving_text
from ...text.units import byte_text, duration_text, time_text
from ..job_data import JobData
from ..markup import Lines, bullets, code, heading, paragraph, sentence
from .io_cost import share_text

if TYPE_CHECKING:
    from ....results.layers import Finding

_MAX_CHANGES: Final = 8
_HEAD: Final = "What to change"


def advice_part(subject: JobData, advice: Advice | None, findings: list[Finding]) -> Lines:
    """Yield the advice; without advice, the findings of the layers."""
    yield heading(_HEAD)
    if not subject.job.events:
        yield paragraph("No call was seen.")
    elif advice is not None:
        yield from _advice(advice, subject.started_s, partial=subject.is_partial)
    else:
        yield from _finding_lines(findings, subject.duration_s)


def _advice(advice: Advice, started_s: float, *, partial: bool) -> Lines:
    if not advice.findings:
        where = " in what was recorded" if partial else ""
        yield paragraph(f"Nothing was found{where} whose change would save {floor_text(advice)} or more.")
        return
    yield '<ol class="advice">'
    for row in advice.findings[:_MAX_CHANGES]:
        yield f"  <li>{''.join(_item(row, started_s))}</li>"
    yield "</ol>"
    if (more := len(advice.findings) - _MAX_CHANGES) > 0:
        yield paragraph(f"and {counted(more, 'further findings')} (iotide advise)", soft=True)


def _item(row: AdviceFinding, started_s: float) -> Lines:
    yield f"<b>{escape(row.title)}</b><br>{escape(row.change)} <span>{escape(row.why)}</span>"
    parts = []
    if row.seconds:
        parts.append(f"costs {time_text(row.seconds)}, {share_text(row.share)} of the run")
    if row.gain_s:
        parts.append(f"the change {saving_text(row, f'{time_text(row.gain_s)}, {share_text(row.gain_share)}')}")
    if row.calls:
        moved = f", {byte_text(row.bytes)}" if row.bytes else ""
        files = f", {row.files:,} files" if row.files > 1 else ""
        parts.append(f"{counted(row.calls, 'calls')}{moved}{files}")
    if row.slowest:
        parts.append(f"most of {row.slowest}")
    if row.last_s > row.first_s >= started_s:
        parts.append(f"from {duration_text(row.first_s - started_s)} to {duration_text(row.last_s - started_s)}")
    yield f'<br><span class="soft">{escape("; ".join(parts))}</span>' if parts else ""
    if row.examples:
        yield f"<br>{', '.join(code(path) for path in row.examples)}"


def _finding_lines(findings: list[Finding], span_s: float) -> Lines:
    if not findings:
        yield paragraph("Nothing stands out in its calls.")
        return
    lines = []
    for row in findings[:_MAX_CHANGES]:
        share = f" ({share_text(row.seconds / span_s)} of the run)" if 0 < row.seconds <= span_s else ""
        lines.append(f"{escape(sentence(row.text))}: {time_text(row.seconds)}{share}.")
    yield from bullets(lines)
    yield paragraph("Times are summed over threads and processes.", soft=True)
