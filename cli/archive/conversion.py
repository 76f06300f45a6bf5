"""``iotide archive convert``: calls in the formats of other tools."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from ...events.counted_text import counted
from ..common.arguments.options import trace_files
from ..common.arguments.parameter_types import ReadableText
from ..common.atomic_files import private_file, private_folder, size_of
from ..common.console.progress import reading_progress, step_progress
from ..common.job_names import default_job

if TYPE_CHECKING:
    from collections import Counter

    from ...archive.file.reader import ArchiveReader
    from ...collectors.source import Problems, UnsupportedData
    from .targets import Writer

_HELP = """Write calls in a format of other tools.

FILE is an archive, or any trace that iotide reads; several FILEs become one job. The output is readable only by you.
Memory is bounded for traces of any length.

\b
  chrome   JSON that Perfetto (ui.perfetto.dev) and chrome://tracing open
  parquet  a table, one row per call, for DuckDB, pandas ...
  jsonl    JSON lines, one call per line, which iotide can read
  otf2     a folder that Vampir, otf2-print and the tools around Score-P
           read: open its traces.otf2. Handles have parents
  hdf5     an event log, one group per stream, as `iotide dfg` reads

A summary lists the data that the format cannot represent.

\b
Examples:
  iotide archive convert -o job.json job.iotide
  iotide archive convert -o job.otf2 job.iotide && otf2-print job.otf2/traces.otf2
  iotide archive convert -o calls.parquet --job run7 strace/*.st

Exit status: 0 done, 1 the work failed or a part of the input was unreadable (the rest was converted), 2 bad usage or
nothing could be read.
"""


@click.command(help=_HELP)
@trace_files(type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path), metavar="PATH", help="Output file or folder."
)
@click.option(
    "--to",
    "target",
    type=click.Choice(("chrome", "parquet", "jsonl", "otf2", "hdf5")),
    help="Output format. Default: by the suffix of PATH: .json, .parquet, .jsonl, .otf2, .h5.",
)
@click.option("--force", is_flag=True, help="Replace an existing PATH.")
@click.option(
    "--format", "format_name", metavar="NAME", help="Format of all FILEs. Default: detected from the content."
)
@click.option(
    "--job",
    type=ReadableText(),
    metavar="NAME",
    help="Job id for traces that contain none. Default: the first file's name.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def convert(
    files: tuple[Path, ...],
    output: Path,
    target: str | None,
    force: bool,
    format_name: str | None,
    job: str | None,
    as_json: bool,
) -> None:
    """Check the arguments, convert, and report data that the format cannot represent."""
    from ...collectors.source import Problems, UnsupportedData
    from ...events import ConfigError, InputError, UnavailableError
    from ..common.console.input_problems import print_problems
    from .targets import TARGETS, count_losses, target_for

    problems, unsupported = Problems(), UnsupportedData()
    try:
        chosen = target_for(target, output)
        known = TARGETS[chosen]
        writer = known.writer()
        _check_output(output, force, folder=known.folder)
        for as_it_is in (True, False) if _is_readable_archive(files, format_name) else (False,):
            try:
                with _opened(files, format_name, job, problems, unsupported, as_it_is=as_it_is) as reader:
                    lost = count_losses(reader, known)
                    with step_progress("writing calls") as show, _private(output, folder=known.folder) as path:
                        calls = _write_target(writer, reader, path, lost, show)
                        if not calls:
                            raise InputError(str(files[0]), None, "no event was read", "at least one I/O call")
                break
            except InputError:
                if not as_it_is:
                    raise
    except (ConfigError, UnavailableError, InputError) as error:
        print_problems(problems, UnsupportedData())
        _exit(str(error), 2)
    except OSError as error:
        _exit(f"cannot write {output}: {error.strerror or ' '.join(str(error).split())}", 1)
    _report(files, output, chosen, calls, problems, unsupported, lost, as_json=as_json)
    sys.exit(1 if problems.total else 0)


def _report(
    files: tuple[Path, ...],
    output: Path,
    target: str,
    calls: int,
    problems: Problems,
    unsupported: UnsupportedData,
    lost: Counter[str],
    *,
    as_json: bool,
) -> None:
    """Print the data that were not read, and those that the output's format cannot represent."""
    from ...results.traces.analysis import ConversionReport
    from ..common.console.input_problems import print_not_written, print_problems, problem_list, unsupported_list

    print_problems(problems, unsupported)
    print_not_written(lost, output)
    for what, count in lost.items():
        unsupported.add(what, count)
    size = size_of(output)
    click.echo(f"{output}: {counted(calls, 'calls')} in {size:,} bytes", err=True)
    if as_json:
        report = ConversionReport(
            files=[str(file) for file in files], output=str(output), format=target, calls=calls, bytes=size,
            not_carried=unsupported_list(unsupported), problems=problem_list(problems), problems_total=problems.total,
        )  # fmt: skip
        click.echo(report.model_dump_json(indent=2))


def _check_output(output: Path, force: bool, *, folder: bool) -> None:
    """Check that the output can be written, before any work.

    Raises:
        ConfigError: the output exists, or its folder does not.
    """
    from ...events import ConfigError

    try:
        if not output.absolute().parent.is_dir():
            raise ConfigError(f"cannot write {output}: there is no folder {output.absolute().parent}")
        if not output.exists() and not output.is_symlink():
            return
    except OSError as error:
        raise ConfigError(f"cannot write {output}: {error.strerror}") from None
    if not force and not (folder and output.is_dir() and not any(output.iterdir())):
        raise ConfigError(f"{output} exists already: --force replaces it")
    if folder and not (output.is_dir() and (_is_otf2(output) or not any(output.iterdir()))):
        raise ConfigError(f"{output} is no OTF2 trace, and --force replaces nothing else by one")
    if not folder and output.is_dir():
        raise ConfigError(f"{output} is a folder, and --force does not replace it by a file")


def _is_otf2(folder: Path) -> bool:
    return {each.name for each in folder.iterdir()} <= {"traces", "traces.def", "traces.otf2"}


@contextmanager
def _private(output: Path, *, folder: bool) -> Iterator[Path]:
    if folder:
        with private_folder(output, _is_otf2) as path:
            yield path
    else:
        with private_file(output) as file:
            yield Path(file.name)


def _is_readable_archive(files: tuple[Path, ...], format_name: str | None) -> bool:
    """Return whether the input is one archive that is completely readable.

    Raises:
        InputError: it cannot be opened.
    """
    from ...archive.blocks import MAGIC
    from ...archive.file.reader import ArchiveReader
    from ...collectors.sources.sniffing import is_archive
    from ...events import InputError

    if len(files) != 1 or format_name not in (None, "archive") or not os.path.isfile(files[0]):
        return False
    try:
        with files[0].open("rb") as file:
            if not is_archive(file.read(len(MAGIC))):
                return False
            file.seek(0)
            reader = ArchiveReader(file, str(files[0]))
            for number in reader.streams:
                for _ in reader.sections(number):
                    pass
            return not reader.problems
    except InputError:
        return False
    except PermissionError as error:
        raise InputError(str(files[0]), None, f"cannot be read ({error.strerror})", "a file") from None


@contextmanager
def _opened(
    files: tuple[Path, ...],
    format_name: str | None,
    job: str | None,
    problems: Problems,
    unsupported: UnsupportedData,
    *,
    as_it_is: bool,
) -> Iterator[ArchiveReader]:
    """Open an archive directly, or make a temporary one. A temporary one has the readable part of any traces.

    Raises:
        InputError: a file cannot be read, or the files have no common clock.
        ConfigError: the format is unknown.
    """
    from tempfile import TemporaryFile

    from ...archive.file.reader import ArchiveReader
    from ..traces.trace_reading import check_clocks

    if as_it_is:
        with files[0].open("rb") as file:
            yield ArchiveReader(file, str(files[0]))
        return
    with TemporaryFile() as made:
        _collect_to_archive(files, format_name, job, made, problems, unsupported)
        made.seek(0)
        reader = ArchiveReader(made, str(files[0]))
        check_clocks((stream.info for stream in reader.streams.values()), files[-1])
        yield reader


def _collect_to_archive(
    files: tuple[Path, ...], format_name: str | None, job: str | None, made: Any, problems: Problems,
    unsupported: UnsupportedData,
) -> None:  # fmt: skip
    from ...archive.file.writer import ArchiveWriter
    from ...collectors.source import Origin
    from ...collectors.sources.registry import open_file, read_all
    from ...events.files import readable
    from ..traces.trace_reading import report_empty
    from .source_items import write_items

    origin = Origin(job=job or default_job((files[0].name,), {}))
    writer = ArchiveWriter()
    with reading_progress(files) as show:
        made.write(writer.begin({"job": origin.job, "traces": [readable(path.name) for path in files]}))
        for path in files:
            source = open_file(path, origin, format=format_name)

            def counted_items(path: Path = path, source: Any = source) -> Iterator[Any]:
                for item in read_all(source):
                    yield item
                    show(path, source.counters["bytes_read"])

            write_items(writer, counted_items(), made)
            report_empty(source, path)
            problems.total += source.problems.total
            problems.first.extend(source.problems.first[: problems.kept - len(problems.first)])
            unsupported.merge(source.unsupported)
        made.write(writer.end())


def _write_target(
    writer: Writer, reader: ArchiveReader, path: Path, lost: Counter[str], show: Callable[[int, int], None]
) -> int:
    total = sum(section.calls for number in reader.streams for section in reader.sections(number))
    return writer(reader, path, lost, lambda done: show(done, total))


def _exit(message: str, status: int) -> NoReturn:
    click.echo(f"iotide: {message}", err=True)
    sys.exit(status)
