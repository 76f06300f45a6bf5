"""Text output of ``iotide layers``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TextIO

from rich.console import Console
from rich.table import Table

from ...events.counted_text import counted
from ...results.layers import Account, FileLayers, HandleNode, Layers, LayersReport
from ..text.tables import file_list, number_table, plain_name, print_table
from ..text.units import byte_text, caller_name, layer_name, time_text
from .labels import fate_text, most_important, nesting_text, note_lines, scope_text


def print_layers(report: LayersReport, stream: TextIO, top: int) -> None:
    """Print the findings, then the tables.

    Args:
        report: the report.
        stream: output stream.
        top: maximum number of rows per table.
    """
    console = Console(file=stream, highlight=False)
    layers = report.layers
    what = "events" if layers.summaries else "calls"
    console.print(
        f"[bold]{file_list(report.files)}[/bold]  {report.source}, {counted(layers.events, what)} of "
        f"{counted(layers.processes, 'processes')} over {time_text(layers.last_s - layers.first_s)}; "
        f"{nesting_text(layers)}",
        soft_wrap=True,
    )
    for line in _left_out(report):
        console.print(line, soft_wrap=True)
    if layers.events:
        _print_findings(console, layers, top)
        _print_tables(console, layers, top)
        if report.problems_total:
            console.print(
                f"left out: {counted(report.problems_total, 'malformed pieces of input')} (see standard error)"
            )


def _print_findings(console: Console, layers: Layers, top: int) -> None:
    if layers.findings:
        console.print()
        for finding in layers.findings[:top]:
            console.print(f"[bold]-[/bold] {plain_name(finding.text)}", soft_wrap=True)
        _more(console, len(layers.findings) - top, "findings")


def _print_tables(console: Console, layers: Layers, top: int) -> None:
    _show(console, _layers(layers), 0, "")
    if layers.accounts:
        _show(console, _print_time(layers.accounts), 0, "")
        _show(console, _fates(layers), 0, "")
    _show(console, _steps(layers, top), len(layers.steps) - top, "steps")
    if layers.collectives:
        _show(console, _collectives(layers, top), len(layers.collectives) - top, "collective calls")
    if len({row.host for row in layers.host_layers}) > 1:
        _show(console, _hosts(layers, top), len(layers.host_layers) - top + layers.host_layers_left_out, "rows")
    if layers.own_files:
        _show(console, _own_files(layers), 0, "")
    _show(console, _handles(layers.handles, top), len(layers.handles) - top + layers.handles_left_out, "handles")
    files = most_important(layers.files, top)
    _show(console, _files(files), len(layers.files) - len(files) + layers.files_left_out, "files")
    _show(console, _mounts(layers, top), len(layers.mounts) - top, "file systems")


def _left_out(report: LayersReport) -> Iterator[str]:
    if report.filtered_out:
        yield f"{report.filtered_out:,} events were filtered out"
    yield from note_lines(report.layers)


def _layers(layers: Layers) -> Table:
    table = number_table(
        "layers", "own time", "share", "on data", "on pipes ...", "on system", "with below", "data calls",
        "other calls", "read", "written", "procs",
    )  # fmt: skip
    table.add_column("layer")
    for row in layers.layers:
        share = row.exclusive_seconds / layers.threads_seconds if layers.threads_seconds else 0.0
        table.add_row(
            time_text(row.exclusive_seconds),
            f"{share:.1%}",
            time_text(row.data_seconds),
            time_text(row.channel_seconds),
            time_text(row.system_seconds),
            time_text(row.seconds),
            f"{row.reads + row.writes:,}",
            f"{row.opens + row.closes + row.others:,}",
            byte_text(row.bytes_read),
            byte_text(row.bytes_written),
            f"{row.processes:,}",
            layer_name(row.layer),
        )
    table.add_section()
    parts = ("data_seconds", "channel_seconds", "system_seconds")
    sums = [time_text(sum(getattr(row, part) for row in layers.layers)) for part in parts]
    table.add_row(time_text(layers.threads_seconds), "100.0%", *sums, *[""] * 6, "all that the program called")
    return table


def _print_time(accounts: Sequence[Account]) -> Table:
    table = number_table("bytes through layers", "in", "calls", "out", "calls", "out by others", "calls", "ratio")
    table.add_column("layer")
    for row in accounts:
        out = row.below_bytes + row.other_bytes
        table.add_row(
            byte_text(row.bytes),
            f"{row.calls:,}",
            byte_text(row.below_bytes),
            f"{row.below_calls:,}",
            byte_text(row.other_bytes),
            f"{row.other_calls:,}",
            f"{out / row.bytes:.3f}" if row.bytes else "",
            f"{layer_name(row.layer)} {row.way}",
        )
    return table


def _fates(layers: Layers) -> Table:
    table = number_table("requests one layer down", "calls", "asked", "calls below", "moved below", "time")
    table.add_column("what became of them")
    for row in layers.fates:
        table.add_row(
            f"{row.calls:,}",
            byte_text(row.bytes),
            f"{row.below:,}",
            byte_text(row.below_bytes),
            time_text(row.seconds),
            f"{layer_name(row.layer)} {row.way}: {fate_text(row.fate)}",
        )
    return table


def _steps(layers: Layers, top: int) -> Table:
    table = number_table("who calls whom", "time", "calls", "moved")
    table.add_column("caller")
    table.add_column("calls")
    for row in layers.steps[:top]:
        table.add_row(
            time_text(row.seconds),
            f"{row.calls:,}",
            byte_text(row.bytes) if row.way != "other" else "",
            f"{caller_name(row.caller)}{f' {row.caller_way}' if row.caller else ''}",
            f"{layer_name(row.layer)} {row.way}",
        )
    return table


def _collectives(layers: Layers, top: int) -> Table:
    table = number_table(
        "collective calls", "time", "moving", "till all came", "others wait", "movers", "of", "bytes", "calls"
    )
    table.add_column("call", no_wrap=True)
    for row in layers.collectives[:top]:
        table.add_row(
            time_text(row.seconds),
            time_text(row.moving_seconds),
            time_text(row.late_seconds),
            time_text(row.waiting_seconds) if row.movers else "",
            f"{row.movers:,}",
            f"{row.processes:,}",
            byte_text(row.moved_bytes),
            f"{row.calls:,}",
            plain_name(f"{row.call} {row.file}"),
        )
    return table


def _hosts(layers: Layers, top: int) -> Table:
    table = number_table("machines", "own time", "on data", "calls", "read", "written", "procs")
    table.add_column("layer")
    table.add_column("machine", no_wrap=True)
    for row in layers.host_layers[:top]:
        table.add_row(
            time_text(row.exclusive_seconds),
            time_text(row.data_seconds),
            f"{row.calls:,}",
            byte_text(row.bytes_read),
            byte_text(row.bytes_written),
            f"{row.processes:,}",
            layer_name(row.layer),
            plain_name(row.host),
        )
    return table


def _own_files(layers: Layers) -> Table:
    table = number_table("files of a layer's own", "time", "calls", "files")
    table.add_column("layer")
    table.add_column("such as", no_wrap=True)
    for row in layers.own_files:
        who = f"{layer_name(row.layer)} in {layer_name(row.below)}"
        table.add_row(
            time_text(row.seconds), f"{row.calls:,}", f"{row.files:,}", who, plain_name(", ".join(row.examples[:2]))
        )
    return table


def _handles(nodes: Sequence[HandleNode], top: int) -> Table:
    table = number_table("handles", "time", "own time", "reads", "writes", "read", "written", "opens", "procs")
    table.add_column("handle", no_wrap=True)
    for row in nodes[:top]:
        table.add_row(
            time_text(row.seconds),
            time_text(row.exclusive_seconds),
            f"{row.reads:,}",
            f"{row.writes:,}",
            byte_text(row.bytes_read),
            byte_text(row.bytes_written),
            f"{row.opens:,}",
            f"{row.processes:,}",
            f"{'  ' * row.depth}[bold]{layer_name(row.layer)}[/bold] {plain_name(row.call or '')}"
            f"{' ' if row.call else ''}{plain_name(row.file or '(no file)')}",
        )
    return table


def _files(files: Sequence[FileLayers]) -> Table:
    table = number_table("files on their way down", "own time", "reads", "writes", "read", "written", "opens")
    table.add_column("layer")
    table.add_column("for")
    table.add_column("file", no_wrap=True)
    for row in files:
        path = f"{plain_name(row.path)}{f' on {plain_name(row.host)}' if row.host else ''}"
        for access in row.accesses:
            table.add_row(
                time_text(access.exclusive_seconds),
                f"{access.reads:,}",
                f"{access.writes:,}",
                byte_text(access.bytes_read),
                byte_text(access.bytes_written),
                f"{access.opens:,}",
                layer_name(access.layer),
                caller_name(access.caller),
                path,
            )
            path = ""
        table.add_section()
    return table


def _mounts(layers: Layers, top: int) -> Table:
    table = number_table("file systems", "read", "written", "time", "calls", "files")
    table.add_column("of")
    table.add_column("mounted on", no_wrap=True)
    for row in layers.mounts[:top]:
        table.add_row(
            byte_text(row.bytes_read),
            byte_text(row.bytes_written),
            time_text(row.seconds),
            f"{row.calls:,}",
            f"{row.files:,}",
            scope_text(row),
            plain_name(f"{row.mount_point} ({row.filesystem})") if row.mount_point else "(not known)",
        )
    return table


def _show(console: Console, table: Table, beyond: int, what: str) -> None:
    if not table.row_count:
        return
    print_table(console, table)
    _more(console, beyond, what)


def _more(console: Console, beyond: int, what: str) -> None:
    if beyond > 0:
        console.print(f"[dim]and {beyond:,} more {what} (--top, --json)[/dim]")
