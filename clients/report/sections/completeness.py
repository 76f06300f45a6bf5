"""Certainty and completeness of a report: uncounted, lost and unseen data, failed analyses, and the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Final

from ....events.counted_text import counted
from ....events.losses import loss_lines
from ....results.jobs.ledger import JobLedger
from ....results.jobs.run import UnseenProgram
from ....results.prediction import Prediction
from ...text.units import clock_lines, mapped_text, not_counted_text
from ..job_data import JobData
from ..markup import Lines, bullets, code, heading, paragraph, sentence, table

_MAX_UNSEEN: Final = 20


def completeness_part(subject: JobData, calls: int) -> Lines:
    """Yield the missing data, or that none is known to be missing."""
    job = subject.job
    yield heading("Confidence and completeness")
    yield from _period_share(subject.prediction)
    if left := not_counted_text(job.not_counted):
        yield f'<p class="soft">{escape(sentence(left))}.\n  What counts is the program\'s data.</p>'
    if mapped := mapped_text(job.not_counted):
        yield paragraph(f"{sentence(mapped)}.", soft=True)
    if job.clocks_off_s:
        yield paragraph("Clocks that were off, and whose calls are shown at the time that the aggregator's clock had:")
        yield from bullets(escape(line) for line in clock_lines(job.clocks_off_s))
    if job.losses:
        yield paragraph("Lost on the way, and missing here:")
        yield from bullets(escape(line) for line in loss_lines(job.losses))
    if job.failures:
        yield paragraph("Analyses that failed, and whose results are missing here:")
        yield from bullets(escape(f"{row.analysis}: {row.reason}") for row in job.failures)
    if subject.missing_parts:
        yield paragraph("What the input does not say, or is left out:")
        yield from bullets(escape(line) for line in subject.missing_parts)
    yield from _unseen_lines(subject.unseen)
    missing = subject.is_partial or job.failures or subject.missing_parts
    if job.events and not missing:
        yield paragraph(f"Nothing is known to be missing: all {calls:,} calls that were recorded are in this report.")


def _period_share(prediction: Prediction | None) -> Lines:
    if prediction is None or prediction.period_s is None:
        return
    text = f"The period is right to 5 % with a probability of {prediction.confidence:.0%}."
    if prediction.completeness < 1:
        text += f" {prediction.completeness:.1%} of the calls that it rests on arrived."
    yield paragraph(text)


def _unseen_lines(rows: Sequence[UnseenProgram]) -> Lines:
    if not rows:
        return
    lines = []
    for row in rows[:_MAX_UNSEEN]:
        often = f" ({row.times:,} times)" if row.times > 1 else ""
        lines.append(f"{code(row.program or 'another program')}{often},\n    which {escape(row.reason)}")
    if (more := len(rows) - _MAX_UNSEEN) > 0:
        lines.append(f"{counted(more, 'further programs')}")
    yield paragraph("Not seen, and missing here:")
    yield from bullets(lines)


def ledger_part(ledger: JobLedger | None) -> Lines:
    """Yield the numbers of events by place, and whether they balance."""
    if ledger is None:
        return
    yield heading("Ledger")
    total = ledger.total
    rows = [
        ("recorded by the collectors", f"{total.made:,}"),
        ("dropped by them", f"{total.dropped:,}"),
        ("received", f"{total.received:,}"),
        ("on the way", f"{total.on_the_way:,}"),
        ("analysed", f"{ledger.analysed:,}"),
    ]
    if ledger.archived is not None:
        rows.append(("in the archive", f"{ledger.archived:,}"))
    rows += [(f"not analysed: {reason}", f"{count:,}") for reason, count in ledger.not_analysed.items()]
    rows += [(f"dropped before: {reason}", f"{count:,}") for reason, count in ledger.dropped_before.items()]
    rows += [(f"not accounted for: {place}", f"{count:,}") for place, count in ledger.unaccounted.items()]
    yield from table(("Events", "Number"), rows)
    yield paragraph("All adds up." if ledger.balanced else "Not all adds up.")
