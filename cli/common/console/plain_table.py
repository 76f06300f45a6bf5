"""A terminal table without a library, for commands that run on nodes."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Sequence

_GAP = "  "
_MIN_LAST_WIDTH = 30
"""Least width of the last column."""


def table_text(rows: Sequence[Sequence[str]]) -> str:
    """Return rows of equal length in columns. The last column is wrapped to the width of the terminal.

    >>> print(table_text([["ok", "kernel", "6.1"], ["FAIL", "Python", "3.9"]]))
    ok    kernel  6.1
    FAIL  Python  3.9
    """
    if not rows:
        return ""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    before = sum(widths) + len(_GAP) * len(widths)
    room = max(shutil.get_terminal_size().columns - before, _MIN_LAST_WIDTH)
    lines = []
    for row in rows:
        head = "".join(f"{text:<{width}}{_GAP}" for text, width in zip(row, widths, strict=False))
        wrapped = textwrap.wrap(row[-1], room) or [""]
        lines += [head + wrapped[0], *(" " * before + line for line in wrapped[1:])]
    return "\n".join(line.rstrip() for line in lines)
