"""``iotide analyze``: the result of one analyzer, for finished traces or a running job."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from .common.arguments.options import trace_files

if TYPE_CHECKING:
    from pydantic import BaseModel

    from ..analyzers.pipeline.contract import AnalyzerKind

_HELP = """Run one analyzer on finished traces and print its result.

NAME is an analyzer with a result of its own: filesystems (a job's use of each file system, by phase), heatmap (I/O by
process and time), advice, or one that you add to the registry (docs/analyzers.md has an example). All FILEs belong to
one job, in any format that `iotide detect` reads. A FILE may also be a running job, http://HOST:9788/jobs/JOB of its
aggregator. The result is that of `GET /api/v1/jobs/JOB/NAME`: the same analyzer on the same events.

\b
Examples:
  iotide analyze filesystems iotide-app/app-20250101T120000.iotide
  iotide analyze filesystems --json app.iotide | jq '.file_systems[].phases'
  iotide analyze filesystems --set max_phases=50 app.iotide
  iotide analyze filesystems http://127.0.0.1:9788/jobs/4711

Exit status: 0 done, 1 the work failed, 2 bad usage or nothing could be read. Unreadable parts of the input are listed
and skipped; this is not a failure.
"""


@click.command("analyze", help=_HELP)
@click.argument("name", metavar="NAME")
@trace_files()
@click.option(
    "--format", "format_name", metavar="NAME", help="Format of all FILEs. Default: detected from the content of each."
)
@click.option(
    "--set",
    "settings",
    metavar="NAME=VALUE",
    multiple=True,
    help="A setting of the analyzer, as in the aggregator's table [analyzers.NAME]. Repeatable.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    name: str, files: tuple[str, ...], format_name: str | None, settings: tuple[str, ...], as_json: bool
) -> None:
    """Run the command."""
    from ..clients.job_fetch import is_address

    kind = _kind_of(name)
    live = [file for file in files if is_address(file)]
    if live and (len(files) > 1 or format_name or settings):
        raise click.UsageError(f"{live[0]} is a running job: give it alone, without --format and --set")
    result = _of_job(kind, live[0]) if live else _of_traces(kind, files, format_name, settings)
    if as_json:
        click.echo(result.model_dump_json(indent=2))
        return
    from ..clients.text.model_text import print_model

    print_model(result, sys.stdout)


def _kind_of(name: str) -> AnalyzerKind:
    from ..analyzers.registry import ANALYZERS

    kind = ANALYZERS.get(name)
    if kind is None or kind.result is None:
        known = ", ".join(sorted(each.name for each in ANALYZERS.values() if each.result is not None))
        raise click.UsageError(f"{name} is no analyzer with a result of its own; known: {known}")
    return kind


def _of_job(kind: AnalyzerKind, address: str) -> BaseModel:
    from ..clients.job_fetch import fetch
    from ..results.base import Model

    return fetch(address, kind.name, cast("type[Model]", kind.result))


def _of_traces(kind: AnalyzerKind, files: Sequence[str], format_name: str | None, settings: Sequence[str]) -> BaseModel:
    from ..analyzers.pipeline.contract import Reporting, parsed_settings
    from ..analyzers.pipeline.settings import AnalyzerSettings
    from .traces.trace_analysis import add_events, context_of
    from .traces.trace_reading import name_of, read_and_report

    chosen = AnalyzerSettings(analyzers={kind.name: dict(_setting(text) for text in settings)} if settings else {})
    if kind.settings is not None:
        parsed_settings(chosen, kind.name, kind.settings)  # checked before long work
    elif settings:
        raise click.UsageError(f"{kind.name} has no settings")
    paths = [Path(file) for file in files]
    trace = read_and_report(paths, format_name)
    context = context_of(name_of(paths), chosen)
    analyzer = kind.make(context)
    if not isinstance(analyzer, Reporting):
        raise click.UsageError(f"{kind.name} is switched off by its settings")
    add_events(analyzer, trace, context.names)
    for reason, count in analyzer.losses().items():
        click.echo(f"iotide: {count:,} left out: {reason}", err=True)
    return analyzer.deferred_result()()


def _setting(text: str) -> tuple[str, object]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise click.UsageError(f"--set {text}: expected NAME=VALUE")
    return name, value
