"""The ledger of a job in its report. It has the numbers of events at each place on their way."""

from __future__ import annotations

from ....results.jobs.ledger import JobLedger
from ..markup import Lines, heading, paragraph, table


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
