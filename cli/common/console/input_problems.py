"""Messages on standard error about traces: malformed and unsupported parts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from ....events.counted_text import counted

if TYPE_CHECKING:
    from ....collectors.source import Problems, UnsupportedData
    from ....results.traces.analysis import InputProblem, NotCarried

_MAX_LINES: Final = 3  # printed lines per file and problem; the others are counted


def print_problems(problems: Problems, unsupported: UnsupportedData) -> None:
    """Print the malformed pieces that were skipped, and the data of the input that events cannot represent."""
    for line in _group_problems(problems):
        click.echo(f"iotide: {line}", err=True)
    if problems.total > len(problems.first):
        click.echo(f"iotide: {counted(problems.total - len(problems.first), 'further problems')}", err=True)
    for what, count in unsupported.counts.most_common():
        click.echo(f"iotide: not imported: {counted(count, what)}", err=True)


def print_not_written(lost: Mapping[str, int], output: Path) -> None:
    """Print the data that an output's format cannot represent."""
    for what, count in sorted(lost.items(), key=lambda row: -row[1]):
        click.echo(f"iotide: not in {output.name}, as its format has no place for it: {counted(count, what)}", err=True)


def _group_problems(problems: Problems) -> Iterator[str]:
    """Yield the first lines of each problem, and the number of further ones per file."""
    seen: Counter[tuple[str, str]] = Counter()
    for problem in problems.first:
        kind = problem.where, re.sub(r"\d+", "N", problem.problem)
        seen[kind] += 1
        if seen[kind] <= _MAX_LINES:
            yield str(problem)
    for (where, what), count in seen.items():
        if count > _MAX_LINES:
            yield f"{where}: {count - _MAX_LINES:,} more: {what}"


def problem_list(problems: Problems) -> list[InputProblem]:
    """Return the malformed pieces for a report."""
    from ....results.traces.analysis import InputProblem

    return [
        InputProblem(where=row.where, line=row.line, problem=row.problem, expected=row.expected)
        for row in problems.first
    ]


def unsupported_list(unsupported: UnsupportedData) -> list[NotCarried]:
    """Return the data that events cannot represent, most frequent first, for a report."""
    from ....results.traces.analysis import NotCarried

    return [NotCarried(what=what, count=count) for what, count in unsupported.counts.most_common()]
