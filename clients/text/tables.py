"""Tables and names on a terminal: what the answers of all commands look alike by."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table

_UNBROKEN: Final = 10_000  # a terminal breaks lines; a table that is squeezed loses digits
_UNPRINTABLE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def shown(name: str) -> str:
    """Returns a name of a file or program so that it can neither style nor break what is printed."""
    return escape(_UNPRINTABLE.sub("?", name))


def shown_files(names: Sequence[str]) -> str:
    """Returns the first of several files, and how many more there are."""
    return shown(names[0]) if len(names) == 1 else f"{shown(names[0])} and {len(names) - 1} more"


def counted(number: int, one: str, several: str = "") -> str:
    """Writes a number of things.

    >>> counted(1, "case"), counted(1200, "case"), counted(2, "activity", "activities")
    ('1 case', '1,200 cases', '2 activities')
    """
    return f"{number:,} {one if number == 1 else several or one + 's'}"


def table_of(title: str, *headings: str) -> Table:
    """Returns an empty table of numbers; columns of names are added by who makes it."""
    table = Table(box=None, padding=(0, 2, 0, 0), title=title, title_justify="left", title_style="italic")
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def print_table(console: Console, table: Table, *, gap: bool = True) -> None:
    """Prints a table, below an empty line or without; rows that are wider than the terminal go on in its next line."""
    if gap:
        console.print()
    Console(file=console.file, highlight=False, width=max(console.width, _UNBROKEN)).print(table, soft_wrap=True)
