"""``iotide layers``: use of each layer of an I/O stack. It reads finished traces and running jobs."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from ..common.arguments.grouped_help import SectionCommand, SectionOption
from ..common.arguments.options import trace_files
from ..common.arguments.targets import check_target

if TYPE_CHECKING:
    from ...results.layers import LayersReport

_HELP = """Break down a program's I/O by software layer: HDF5, NetCDF, MPI-IO, the C library, POSIX.

Reports the time of each layer (exclusive and inclusive), the changes of a file's requests from layer to layer, the
tree of handles, files that a layer uses internally, ranks that move the data of a collective call while the others
wait, and notable findings. All FILEs form one report, in any format that `iotide detect` reads; traces of `iotide
run` and of OTF2 have all of this information, those of strace only the lowest layer. A FILE may also be a running
job, http://HOST:9788/jobs/JOB of its aggregator. docs/layers.md explains every number.

\b
Examples:
  iotide layers iotide-app/app-20250101T120000.iotide          tables
  iotide layers -o layers.html app.iotide                      a page: tree, timeline, files
  iotide layers --filter 'path=/scratch/*' app.iotide          only files below /scratch
  iotide layers --filter rank=0 app.iotide                     the tree and the timeline of one process
  iotide layers --json app.iotide | jq '.layers.findings[].text'
  iotide layers http://127.0.0.1:9788/jobs/4711                a running job as it is now

Exit status: 0 done, 1 the work failed, 2 bad usage or nothing could be read. Unreadable parts of the input are listed
and skipped; this is not a failure.
"""
_TOP: Final = 20
_input_option = partial(click.option, cls=SectionOption, section="Input")
_output_option = partial(click.option, cls=SectionOption, section="Output")


@click.command("layers", cls=SectionCommand, help=_HELP)
@trace_files()
@_input_option(
    "--format", "format_name", metavar="NAME", help="Format of all FILEs. Default: detected from the content of each."
)
@_input_option(
    "--filter",
    "filters",
    metavar="TERMS",
    multiple=True,
    help="Selected events: terms such as path=/scratch/*, call=H5*, layer=POSIX, rank=0-3, "
    "time=10..20; != and !~ negate. All terms must hold. Repeatable. Events that are left out no "
    "longer enclose others.",
)
@_input_option(
    "--data",
    "data_paths",
    metavar="PREFIX",
    multiple=True,
    help="Path prefix of the program's data, also below system folders (/usr, /opt, /var/lib ...). Repeatable.",
)
@_output_option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Write a page (.html) or .json."
)
@_output_option(
    "--top",
    metavar="N",
    type=click.IntRange(1, 10_000),
    default=_TOP,
    show_default=True,
    help="Maximum number of rows per table.",
)
@_output_option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    files: tuple[str, ...],
    format_name: str | None,
    filters: tuple[str, ...],
    data_paths: tuple[str, ...],
    output: Path | None,
    top: int,
    as_json: bool,
) -> None:
    """Run the command."""
    from ...clients.job_fetch import is_address

    _check_output(output, files)
    live = [name for name in files if is_address(name)]
    if live and (len(files) > 1 or filters or format_name or data_paths):
        raise click.UsageError(f"{live[0]} is a running job: give it alone, without --filter, --data and --format")
    report = _of_job(live[0]) if live else _of_traces(files, format_name, filters, data_paths, top)
    if output is not None:
        _write(output, report)
    if as_json:
        click.echo(report.model_dump_json(indent=2))
    elif output is None:
        from ...clients.layers.text import print_layers

        print_layers(report, sys.stdout, top)


def _of_traces(
    files: tuple[str, ...], format_name: str | None, filters: tuple[str, ...], data_paths: tuple[str, ...], top: int
) -> LayersReport:
    from ...analyzers.dfg.spec.filters import Filter
    from ...analyzers.layers.report.report import Cut
    from ..traces.trace_reading import name_of, read_and_report
    from .from_traces import report_of

    chosen = Filter.parse(" ".join(filters))
    paths = [Path(name) for name in files]
    trace = read_and_report(paths, format_name)
    cut = Cut(handles=max(200, top), files=max(200, top))
    report = report_of(trace, paths, chosen, name_of(paths), cut, data_paths)
    if not report.layers.events:
        raise click.UsageError(f"--filter matches none of the {trace.events:,} events")
    return report


def _of_job(address: str) -> LayersReport:
    from ...clients.job_fetch import fetch
    from ...results.layers import Layers, LayersReport

    layers = fetch(address, "layers", Layers)
    return LayersReport(files=[address], source="job of an aggregator", wall_clock=True, layers=layers)


def _check_output(output: Path | None, files: tuple[str, ...]) -> None:
    if output is None:
        return
    if output.suffix.lower() not in (".html", ".json"):
        raise click.UsageError(f"--output {output}: expected a name that ends in .html or .json")
    check_target("--output", output, files)


def _write(target: Path, report: LayersReport) -> None:
    if target.suffix.lower() == ".json":
        text = report.model_dump_json(indent=2) + "\n"
    else:
        from ...clients.layers.page import page_of

        text = page_of(report)
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"{target} cannot be written: {error.strerror or error}") from error
    click.echo(f"iotide: {'result' if target.suffix.lower() == '.json' else 'page'}: {target}", err=True)
