"""``iotide report``: one page on a job's I/O, its cost, and recommended changes."""

from __future__ import annotations

import webbrowser
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..common.arguments.options import trace_files
from ..common.arguments.targets import check_target

if TYPE_CHECKING:
    from ...clients.report.report_data import ReportData

_HELP = """Write a report of finished traces, or of a running job, as one HTML page.

All FILEs belong to one job, in any format that `iotide detect` reads: archives of `iotide run` and of the aggregator,
logs of Darshan, traces of Recorder and dftracer, strace and others. A FILE may also be a running job,
http://HOST:9788/jobs/JOB of its aggregator, or JOB@http://HOST:9788.

The page needs no network. It shows the job's I/O and its cost, findings, the period, the completeness of the data,
I/O by member and time, layers, calls, files, access sizes, and interactions.

\b
Examples:
  iotide report iotide-app/*.iotide
  iotide report -o darshan.html job.darshan
  iotide report 4711@http://127.0.0.1:9788
  iotide report --open app.iotide
  iotide report --pdf app.pdf app.iotide

Exit status: 0 written, 1 the work failed, 2 bad usage or nothing could be read. Unreadable parts of the input are
listed and skipped; this is not a failure.
"""
_ADDRESS_MARK = "@http"


@click.command("report", help=_HELP)
@trace_files()
@click.option(
    "--format", "format_name", metavar="NAME", help="Format of all FILEs. Default: detected from the content of each."
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("report.html"),
    show_default=True,
    metavar="FILE",
    help="Page to write.",
)
@click.option(
    "--pdf",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Also write the page as PDF, printed by Chromium or Chrome in PATH.",
)
@click.option("--open", "opens", is_flag=True, help="Open the page in a browser.")
def command(files: tuple[str, ...], format_name: str | None, output: Path, pdf: Path | None, opens: bool) -> None:
    """Run the command."""
    from ...clients.job_fetch import is_address

    sources = [_address(file) for file in files]
    live = [source for source in sources if is_address(source)]
    if live and (len(files) > 1 or format_name):
        raise click.UsageError(f"{live[0]} is a running job: give it alone, without --format")
    if output.suffix.lower() != ".html":
        raise click.UsageError(f"--output {output}: expected a name that ends in .html")
    check_target("--output", output, () if live else sources)
    prints = None if pdf is None else _printer(pdf, () if live else sources)
    material = _of_job(live[0]) if live else _of_traces([Path(source) for source in sources], format_name)
    from ...clients.report.report import write_page

    try:
        write_page(output, material)
    except OSError as error:
        raise click.ClickException(f"{output} cannot be written: {error.strerror or error}") from error
    click.echo(f"iotide: report: {output}", err=True)
    if prints is not None:
        prints(output)
    if opens:
        webbrowser.open(output.resolve().as_uri())


def _printer(pdf: Path, sources: Sequence[str]) -> Callable[[Path], None]:
    """Return the function that prints the page; obstacles are found before the work begins."""
    from ...clients.report.pdf import PdfError, find_browser, print_page

    if pdf.suffix.lower() != ".pdf":
        raise click.UsageError(f"--pdf {pdf}: expected a name that ends in .pdf")
    check_target("--pdf", pdf, sources)
    try:
        browser = find_browser()
    except PdfError as error:
        raise click.ClickException(str(error)) from error

    def prints(page: Path) -> None:
        try:
            print_page(page, pdf, browser)
        except PdfError as error:
            raise click.ClickException(str(error)) from error
        except OSError as error:
            raise click.ClickException(f"{pdf} cannot be written: {error.strerror or error}") from error
        click.echo(f"iotide: report: {pdf}", err=True)

    return prints


def _address(text: str) -> str:
    """Return ``http://HOST/jobs/JOB`` for ``JOB@http://HOST``, and anything else unchanged."""
    from ...events.network.job_addresses import job_path

    job, at, rest = text.rpartition(_ADDRESS_MARK)
    if not at or not job:
        return text
    return f"{_ADDRESS_MARK[1:]}{rest.rstrip('/')}/jobs/{job_path(job)}"


def _of_job(address: str) -> ReportData:
    from ...clients.report.fetching import fetch_material

    return fetch_material(address)


def _of_traces(paths: list[Path], format_name: str | None) -> ReportData:
    from ..traces.trace_reading import name_of, read_and_report
    from .from_traces import material_of

    return material_of(read_and_report(paths, format_name, keeps_signal=True), name_of(paths))
