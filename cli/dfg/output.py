"""File output of ``iotide dfg``: graphics and event logs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Literal

import click
import numpy as np
import numpy.typing as npt

from ...clients.eventlog.log import EventLog, LogCase
from ...events import concatenate
from ...events.summaries import sizes_of
from ..common.arguments.targets import check_target
from ..common.atomic_files import complete_file
from ..common.job_names import safe_name, unique_name
from .from_traces import Part, Selection, numbered_activities

if TYPE_CHECKING:
    from ...results.dfg import GraphReport

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
        from ...clients.dfg.graph_output import format_of

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
    from ...clients.dfg.graph_output import draw, format_of

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

    log = _log_of(selection)
    with complete_file(target) as partial:
        write(partial, target.name, log)
    click.echo(f"iotide: event log: {target}", err=True)


def _log_of(selection: Selection) -> EventLog:
    """Return the events of each case, in order of time. Cases ordered by their first event."""
    gathered: dict[int, list[tuple[Part, npt.NDArray[np.intp], npt.NDArray[np.int32]]]] = {}
    for part, activity in numbered_activities(selection):
        order = np.argsort(part.case, kind="stable")
        found, begins = np.unique(part.case[order], return_index=True)
        for case, rows in zip(found.tolist(), np.split(order, begins[1:]), strict=True):
            gathered.setdefault(case, []).append((part, rows, activity))
    taken: set[str] = set()
    cases = [_case(selection, case, pieces, taken) for case, pieces in gathered.items()]
    cases.sort(key=lambda case: int(case.start[0]))
    files = [info.path for info in selection.names.files]
    return EventLog(selection.names.calls, files, selection.mapper.names, cases)


def _case(
    selection: Selection,
    number: int,
    pieces: list[tuple[Part, npt.NDArray[np.intp], npt.NDArray[np.int32]]],
    taken: set[str],
) -> LogCase:
    batch = concatenate([part.batch.select(rows) for part, rows, _ in pieces])
    activity = np.concatenate([activity[rows] for _, rows, activity in pieces])
    order = np.argsort(batch.start, kind="stable")
    batch, activity = batch.select(order), activity[order]
    infos = [part.stream.info for part, _, _ in pieces]
    known = {(info.command, info.host) for info in infos}
    command, host = known.pop() if len(known) == 1 else ("", "")
    rank = int(batch.rank[0]) if (batch.rank == batch.rank[0]).all() else -1
    if rank < 0 and len({info.rank for info in infos}) == 1:
        rank = infos[0].rank
    label = selection.cases.label(number, selection.names)
    if selection.cases.case == "stream":
        label = f"{command}_{host}_{rank}" if command and host and rank >= 0 else PurePath(label).name
    return LogCase(
        name=unique_name(safe_name(label), taken),
        command=command,
        host=host,
        rank=rank,
        clock=all(info.clock_offset_ns is not None for info in infos),
        pid=batch.pid,
        tid=batch.tid,
        ranks=np.where(batch.rank < 0, rank, batch.rank),
        call=batch.call,
        start=batch.start,
        duration=batch.duration,
        file=batch.file,
        size=sizes_of(batch),
        activity=activity,
        depth=batch.depth,
    )
