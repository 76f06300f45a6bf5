"""What commands say of traces on standard error: what was wrong with them, and what of them is lost."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from ....collectors.source import Problems, UnsupportedData
    from ....results.traces.analysis import InputProblem, NotCarried

_MOST_ALIKE: Final = 3  # lines of one file with the same problem; the others are a count


def tell(problems: Problems, unsupported: UnsupportedData) -> None:
    """Names the malformed pieces that were skipped, and what events have no place for."""
    for line in _in_kinds(problems):
        click.echo(f"iotide: {line}", err=True)
    if problems.total > len(problems.first):
        click.echo(f"iotide: {problems.total - len(problems.first)} further problems", err=True)
    for what, count in unsupported.counts.most_common():
        click.echo(f"iotide: not imported: {count:,} {what}", err=True)


def _in_kinds(problems: Problems) -> Iterator[str]:
    """Yields the first lines with each problem, and how many more of a file have it."""
    seen: Counter[tuple[str, str]] = Counter()
    for problem in problems.first:
        kind = problem.where, re.sub(r"\d+", "N", problem.problem)
        seen[kind] += 1
        if seen[kind] <= _MOST_ALIKE:
            yield str(problem)
    for (where, what), count in seen.items():
        if count > _MOST_ALIKE:
            yield f"{where}: {count - _MOST_ALIKE:,} more: {what}"


def listed(problems: Problems) -> list[InputProblem]:
    """Returns the malformed pieces for a report."""
    from ....results.traces.analysis import InputProblem

    return [
        InputProblem(where=row.where, line=row.line, problem=row.problem, expected=row.expected)
        for row in problems.first
    ]


def not_carried(unsupported: UnsupportedData) -> list[NotCarried]:
    """Returns what events have no place for, most frequent first, for a report."""
    from ....results.traces.analysis import NotCarried

    return [NotCarried(what=what, count=count) for what, count in unsupported.counts.most_common()]
