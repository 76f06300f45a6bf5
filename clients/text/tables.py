"""Tables and names on a terminal, in a format shared by all commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from .printable import printable

_UNBROKEN: Final = 10_000  # a terminal wraps lines; a squeezed table would lose digits


def plain_name(name: str) -> str:
    """Return a file or program name without markup and control characters."""
    return escape(printable(name))


def file_list(names: Sequence[str]) -> str:
    """Return the first of several files, and the number of the others."""
    return plain_name(names[0]) if len(names) == 1 else f"{plain_name(names[0])} and {len(names) - 1} more"


def number_table(title: str, *headings: str) -> Table:
    """Return an empty table of numbers; the caller adds columns of names."""
    table = Table(box=None, padding=(0, 2, 0, 0), title=title, title_justify="left", title_style="italic")
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def print_table(console: Console, table: Table, *, gap: bool = True) -> None:
    """Print a table, optionally below an empty line. Rows wider than the terminal are wrapped by it."""
    if gap:
        console.print()
    Console(file=console.file, highlight=False, width=max(console.width, _UNBROKEN)).print(table, soft_wrap=True)
