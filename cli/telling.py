"""What commands say of traces on standard error: what was wrong with them, and what of them is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ..collectors.source import Omissions, Problems
    from ..events.analysis import InputProblem, NotCarried


def tell(problems: Problems, omissions: Omissions) -> None:
    """Names the malformed pieces that were skipped, and what events have no place for."""
    for problem in problems.first:
        click.echo(f"iotide: {problem}", err=True)
    if problems.total > len(problems.first):
        click.echo(f"iotide: {problems.total - len(problems.first)} further problems", err=True)
    for what, count in omissions.counts.most_common():
        click.echo(f"iotide: could not carry over: {count:,} {what}", err=True)


def listed(problems: Problems) -> list[InputProblem]:
    """Returns the malformed pieces for a report."""
    from ..events.analysis import InputProblem

    return [
        InputProblem(where=row.where, line=row.line, problem=row.problem, expected=row.expected)
        for row in problems.first
    ]


def not_carried(omissions: Omissions) -> list[NotCarried]:
    """Returns what events have no place for, most frequent first, for a report."""
    from ..events.analysis import NotCarried

    return [NotCarried(what=what, count=count) for what, count in omissions.counts.most_common()]
