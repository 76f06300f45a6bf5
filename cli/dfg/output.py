"""File output of ``iotide dfg``: graphics and event logs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from ..common.arguments.targets import check_target
from ..common.atomic_files import complete_file

if TYPE_CHECKING:
    from ...results.dfg import GraphReport
    from .building import Selection

Colour = Literal["load", "bytes", "rate", "none"]


def check_targets(output: Path | None, log: Path | None, inputs: Sequence[Path], *, timeline: bool) -> None:
    """Check that the output files can be written, before the work begins.

    Raises:
        click.UsageError: unknown format, missing folder, or the file is an input.
        UnavailableError: the library that writes it is missing.
    """
    for option, target in (("--output", output), ("--log", log)):
        if target is None:
            continue
        check_target(option, target, inputs)
    if output is not None:
        from ...clients.dfg.pictures import format_of

        try:
            form = format_of(output.name)
        except ValueError as error:
            raise click.UsageError(f"--output {error}") from None
        if timeline and form in ("png", "svg"):
            from ...clients.dfg import timeline as dfg_timeline  # noqa: F401
        elif timeline and form != "json":
            raise click.UsageError(f"--output {output}: a timeline is drawn as .png or .svg, or written as .json")
    if log is not None:
        from ...clients.eventlog.writing import check_log

        try:
            check_log(log.name)
        except ValueError as error:
            raise click.UsageError(f"--log {error}") from None


def write_picture(target: Path, report: GraphReport, colour: Colour) -> None:
    """Draw a report to a file, which appears when it is complete.

    Raises:
        click.ClickException: the file cannot be written.
        UnavailableError: Graphviz is missing.
    """
    from ...clients.dfg.pictures import draw, format_of

    form = format_of(target.name)
    if form == "json":
        content = report.model_dump_json(indent=2).encode() + b"\n"
    elif report.timeline is not None and form in ("png", "svg"):
        from ...clients.dfg.timeline import draw_timeline

        content = draw_timeline(report.timeline, "png" if form == "png" else "svg")
    else:
        content = draw(report.graph, form, colour=colour, comparison=report.comparison)
    with complete_file(target) as partial:
        partial.write_bytes(content)
    click.echo(f"iotide: picture: {target}" if form != "json" else f"iotide: result: {target}", err=True)


def write_log(target: Path, selection: Selection) -> None:
    """Write events as an event log, which appears when it is complete.

    Raises:
        click.ClickException: the file cannot be written.
    """
    from ...clients.eventlog.writing import write
    from .logging import log_of

    log = log_of(selection)
    with complete_file(target) as partial:
        write(partial, target.name, log)
    click.echo(f"iotide: event log: {target}", err=True)
