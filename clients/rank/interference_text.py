"""Text output of jobs that disturb a job."""

from __future__ import annotations

from typing import TextIO

from rich.console import Console

from ...results.interaction import Culprit, Culprits
from ..text.tables import number_table, plain_name, print_table
from ..text.units import byte_text, duration_text


def print_interference(found: Culprits, stream: TextIO) -> None:
    """Print which jobs moved data during the job's I/O. Also print the files that they share with it."""
    console = Console(file=stream, highlight=False)
    console.print(
        f"[bold]{plain_name(found.job)}[/bold] did I/O for {duration_text(found.active_s)} of "
        f"{duration_text(max(found.end_s - found.start_s, 0.0))}; of what was moved meanwhile "
        f"{found.share:.1%} was its own",
        soft_wrap=True,
    )
    if not found.culprits:
        console.print("no other job moved anything on its file systems meanwhile, or shares a file with it")
        return
    table = number_table("", "share", "moved", "together", "interactions")
    for title in ("job", "user", "where"):
        table.add_column(title, no_wrap=True)
    for row in found.culprits:
        table.add_row(
            f"{row.share:.1%}",
            byte_text(row.bytes),
            duration_text(row.together_s),
            f"{row.interactions:,}" if row.interactions else "",
            plain_name(row.job),
            plain_name(row.user),
            plain_name(_places_text(row)),
        )
    print_table(console, table)


def _places_text(row: Culprit) -> str:
    places = row.file_systems + [path for path in row.files[:3] if path not in row.file_systems]
    more = len(row.files) - 3
    return ", ".join(places) + (f" and {more} more files" if more > 0 else "")
