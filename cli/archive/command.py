"""``iotide archive``: write, inspect and read the compressed record of all calls."""

from __future__ import annotations

import glob
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...events.counted_text import counted
from ..common.arguments.options import archives_of_run, trace_files
from ..common.arguments.parameter_types import ReadableText
from ..common.arguments.targets import check_target
from ..common.atomic_files import private_file
from ..common.job_names import default_job
from .conversion import convert

if TYPE_CHECKING:
    from ...archive.file.reader import ArchivedStream, ArchiveReader

_HELP = """Store every call of a job, with all its parameters and times, in a compact file.

An archive is one file, also named by the folder of `iotide run`. Its format is described in docs/archive-format.md.

\b
Examples:
  iotide archive create -o job.iotide trace.jsonl
  iotide archive create --no-times -o small.iotide job.iotide
  iotide archive info job.iotide
  iotide archive dump job.iotide | head
  iotide archive verify job.iotide
  iotide archive convert -o job.json job.iotide     # open it in Perfetto

Exit status: 0 done, 1 the work failed or a part of the input was unreadable (the rest was used), 2 bad usage or
nothing could be read.
"""


def _only_archive(ctx: click.Context, param: click.Parameter, path: Path) -> Path:
    """Return the archive in the report folder of ``iotide run``, and any other path unchanged."""
    found = archives_of_run(Path(path))
    if len(found) > 1:
        raise click.BadParameter(f"{path} has {len(found)} archives; name one of them, such as {found[0]}", ctx, param)
    return found[0]


_archive = click.argument("file", metavar="ARCHIVE", type=click.Path(path_type=Path), callback=_only_archive)


@click.group("archive", help=_HELP)
def command() -> None:
    """Group the sub-commands."""


command.add_command(convert)


@command.command()
@trace_files(type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="ARCHIVE",
    help="The archive; an existing file is replaced.",
)
@click.option(
    "--format", "format_name", metavar="NAME", help="Format of all FILEs. Default: detected from the content."
)
@click.option(
    "--job",
    type=ReadableText(),
    metavar="NAME",
    help="Job id for traces that contain none. Default: the first file's name.",
)
@click.option("--no-times", is_flag=True, help="Omit start times and durations of calls; their order is kept. Lossy.")
@click.option(
    "--tick-ns",
    type=click.IntRange(1, 10**9),
    default=1,
    metavar="N",
    help="Resolution of times, ns. Default: 1. Lossy.",
)
def create(
    files: tuple[Path, ...], output: Path, format_name: str | None, job: str | None, no_times: bool, tick_ns: int
) -> None:
    """Write the calls of finished traces to an archive.

    The archive is readable only by you. Contents of a trace other than calls are listed and left out.

    Times take most of the space, as they differ between processes; all other data is merged over the ranks. With
    --no-times an archive of many ranks is hardly larger than that of two; all its calls start at 0 with duration 0.
    With --tick-ns 100, the resolution of other tools, times take a third to a half of the space.

    \b
    Examples:
      iotide archive create -o job.iotide *.st
      iotide archive create --no-times -o small.iotide job.iotide

    Exit status: 0 done, 1 the archive cannot be written, or parts of the input were unreadable, 2 bad usage or nothing
    could be read.
    """
    from ...archive.file.writer import ArchiveWriter
    from ...collectors.source import Origin
    from ...collectors.sources.registry import open_file, read_all
    from ...events import ConfigError, InputError
    from ...events.files import readable
    from ..common.console.input_problems import print_problems
    from ..common.console.progress import reading_progress
    from ..traces.trace_reading import report_empty
    from .source_items import with_progress, write_items

    check_target("--output", output, files)
    origin = Origin(job=job or default_job((files[0].name,), {}))
    writer = ArchiveWriter(times=not no_times, tick_ns=tick_ns)
    calls = problems = 0
    try:
        sources = [open_file(path, origin, format=format_name) for path in files]
        with private_file(output) as out, reading_progress(files) as progress:
            out.write(writer.begin({"job": origin.job, "traces": [readable(path.name) for path in files]}))
            for path, source in zip(files, sources, strict=True):
                calls += write_items(writer, with_progress(read_all(source), path, source.counters, progress), out)
                report_empty(source, path)
                problems += source.problems.total
                print_problems(source.problems, source.unsupported)
            if not calls:
                raise InputError(str(files[0]), None, "no event was read", "at least one I/O call")
            out.write(writer.end())
    except (InputError, ConfigError) as error:
        click.echo(f"iotide: {error}", err=True)
        sys.exit(2)
    except OSError as error:
        click.echo(f"iotide: cannot write {output}: {error.strerror}", err=True)
        sys.exit(1)
    more = f"; incomplete, see above: {counted(problems, 'problems')} of the input" if problems else ""
    click.echo(f"{output}: {counted(calls, 'calls')} in {output.stat().st_size:,} bytes{more}", err=True)
    sys.exit(1 if problems else 0)


@command.command(short_help="List the contents of an archive and their sizes.")
@_archive
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def info(file: Path, as_json: bool) -> None:
    """List the contents of an archive and their sizes: streams, calls, signatures.

    Damaged parts are reported, and the rest is listed.

    Exit status: 0 done, 1 the archive is damaged and its rest was listed, 2 not an archive.
    """
    from .report import print_report, report_of

    with _opened(file) as reader:
        report, broken = report_of(reader, file.stat().st_size)
        if as_json:
            click.echo(json.dumps(report, indent=2))
        else:
            print_report(report)
        for problem in broken:
            click.echo(f"iotide: {problem}", err=True)
    if broken:
        sys.exit(1)


@command.command(short_help="Print the calls as JSON lines.")
@_archive
@click.option("--stream", metavar="TEXT", help="Only streams with this name, command or rank.")
@click.option("-n", "--calls", type=click.IntRange(min=1), metavar="N", help="Maximum number of calls.")
def dump(file: Path, stream: str | None, calls: int | None) -> None:
    """Print the calls as JSON lines, one call per line, which iotide can read.

    \b
    Examples:
      iotide archive dump job.iotide | head
      iotide archive dump --stream 0 -n 100 job.iotide | jq -r .signature      # of rank 0

    Exit status: 0 done, 1 the archive is damaged and its rest was printed, 2 not an archive, or it has no such stream.
    """
    from ...clients.traces.json_lines import json_lines
    from ...events import InputError
    from ..common.console.progress import calls_progress

    with _opened(file) as reader, calls_progress("printing", len(reader.streams), quiet=sys.stdout.isatty()) as show:
        left, damaged = calls, False
        streams = reader.streams.items()
        numbers = [number for number, archived in streams if stream is None or _is_called(archived, stream)]
        if stream is not None and not numbers:
            click.echo(f"iotide: {reader.where} has no stream {stream!r}; `iotide archive info` lists them", err=True)
            sys.exit(2)
        for done, number in enumerate(numbers):
            try:
                for lines in json_lines(reader, number):
                    click.echo("".join(lines[:left]), nl=False)
                    show(done, len(lines))
                    if left is not None:
                        left -= len(lines)
                        if left <= 0:
                            return
            except InputError as error:
                damaged = True
                click.echo(f"iotide: {error}", err=True)
        _name_problems(reader)
    if damaged or reader.problems:
        sys.exit(1)


@command.command(short_help="Check every checksum and unpack every call.")
@_archive
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def verify(file: Path, as_json: bool) -> None:
    """Check every checksum, unpack every call, and report whether the archive is intact.

    An archive whose writer was killed is intact up to its end: only the end mark is missing. Calls that were lost
    before they were archived are named.

    Exit status: 0 intact, 1 damaged, 2 not an archive.
    """
    from ...events import InputError
    from ...events.files import readable
    from ..common.console.progress import calls_progress
    from .report import missing_lines

    calls = 0
    with _opened(file) as reader:
        problems: list[InputError] = []
        with calls_progress("checking", len(reader.streams)) as show:
            for done, number in enumerate(reader.streams):
                try:
                    for each in reader.calls(number):
                        calls += len(each.batch)
                        show(done, len(each.batch))
                except InputError as error:
                    problems.append(error)
        problems += reader.problems
        for problem in problems:
            click.echo(f"iotide: {problem}", err=True)
        missing = list(missing_lines(stream.losses for stream in reader.streams.values()))
        if as_json:
            result = {"archive": readable(file), "whole": not problems, "complete": reader.complete, "calls": calls}
            result |= {"streams": len(reader.streams), "problems": [str(problem) for problem in problems]}
            result["missing"] = missing
            click.echo(json.dumps(result, indent=2))
        elif problems:
            click.echo(f"{file}: damaged; {calls} calls can be read")
        else:
            end = (
                "intact to its end"
                if reader.complete
                else "intact as far as it goes: its writer did not come to the end"
            )
            click.echo(f"{file}: {counted(calls, 'calls')} of {counted(len(reader.streams), 'streams')}, {end}")
            for line in missing:
                click.echo(line)
    if problems:
        sys.exit(1)


def _is_called(archived: ArchivedStream, name: str) -> bool:
    return name in (archived.name, archived.info.command, str(archived.info.rank))


def _report_missing_end(reader: ArchiveReader) -> None:
    """Print from when on calls may be missing, as the writer did not come to the end of the archive."""
    from ...clients.text.units import clock_text

    since = "" if reader.last_ns is None else f" after about {clock_text(reader.last_ns / 1e9)}"
    click.echo(f"iotide: {reader.where}: its writer was killed, or still writes: calls{since} may be missing", err=True)


def _name_copies(archive: Path) -> None:
    """Name the files beside an archive with calls that its killed ``iotide run`` may not have archived."""
    job = archive.stem.rpartition("-")[0]  # without the time
    for path in sorted(archive.parent.glob(f"{glob.escape(job)}-*.spool")):
        click.echo(
            f"iotide: {path} has what its killed run recorded: iotide archive create -o FILE.iotide {path}",
            err=True,
        )


@contextmanager
def _opened(file: Path) -> Iterator[ArchiveReader]:
    from ...archive.file.reader import ArchiveReader
    from ...events import InputError
    from ...events.files import open_regular, readable

    try:
        with open_regular(file) as opened:
            reader = ArchiveReader(opened, readable(file))
            yield reader
            if not reader.complete:
                _report_missing_end(reader)
                _name_copies(file)
    except InputError as error:
        click.echo(f"iotide: {error}", err=True)
        sys.exit(2)
    except IsADirectoryError:
        click.echo(f"iotide: {file}: is a folder; expected an archive, or the folder of one iotide run", err=True)
        sys.exit(2)
    except OSError as error:
        click.echo(f"iotide: cannot read {file}: {error.strerror}", err=True)
        sys.exit(2)


def _name_problems(reader: ArchiveReader) -> None:
    for problem in reader.problems:
        click.echo(f"iotide: {problem}", err=True)
