"""``iotide advise``: what a run spends on I/O, and what to change first."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..common.arguments.grouped_help import SectionCommand, SectionOption

if TYPE_CHECKING:
    from ...results.advice import Advice

_HELP = """Say how much of a run goes to I/O, and what to change first.

Each finding has its cause, what it costs as a part of the run, how many calls, bytes and files it is about and when,
why that takes time, what to change, and what the change is expected to save. Findings that save the most come first;
what would save less than --floor of the run is not told, so a program that does its I/O well gets none. Of parallel
programs the slowest rank or process counts, not the sum over all. docs/advice.md explains each cause and how well the
estimates hold.

FILEs are taken together as one run, in any format that `iotide detect` reads; archives of `iotide run` have the most
to go by. A FILE may also be a running job, http://HOST:9788/jobs/JOB of its aggregator, and the answer is that of
`GET /api/v1/jobs/JOB/advice`. The period of checkpoints is judged by --mtbf.

\b
Examples:
  iotide advise iotide-app/app-20250101T120000.iotide
  iotide advise --json app.iotide | jq '.findings[] | {cause, title, gain_s}'
  iotide advise --floor 0.1 rank*.jsonl
  iotide advise http://127.0.0.1:9788/jobs/4711

Exit status: 0 done, 1 the work failed, 2 bad usage or nothing could be read. What could not be read
of the input is named, and the rest is used: that is no failure.
"""
_input = partial(click.option, cls=SectionOption, section="Input")
_judging = partial(click.option, cls=SectionOption, section="Judging")
_output = partial(click.option, cls=SectionOption, section="Output")


@click.command("advise", cls=SectionCommand, help=_HELP)
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@_input("--format", "format_name", metavar="NAME", help="Format of all FILEs; by default each one's content tells.")
@_judging(
    "--floor",
    type=click.FloatRange(0, 1),
    default=0.02,
    show_default=True,
    metavar="SHARE",
    help="Part of the run that a change must be expected to save to be told.",
)
@_judging(
    "--mtbf",
    type=click.FloatRange(min=0, min_open=True),
    default=86_400.0,
    show_default=True,
    metavar="S",
    help="Mean time between failures of the job's nodes, s: how often checkpoints pay off depends on it.",
)
@_output("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(files: tuple[str, ...], format_name: str | None, floor: float, mtbf: float, as_json: bool) -> None:
    """Reads, judges, shows."""
    from ...clients.job_fetch import is_address

    live = [file for file in files if is_address(file)]
    if live and (len(files) > 1 or format_name):
        raise click.UsageError(f"{live[0]} is a running job: give it alone, without --format")
    advice = _of_job(live[0]) if live else _of_traces(files, format_name, floor, mtbf)
    if as_json:
        click.echo(advice.model_dump_json(indent=2))
        return
    from ...clients.text.advice_text import print_advice

    print_advice(advice, sys.stdout)


def _of_job(address: str) -> Advice:
    from ...clients.job_fetch import fetch
    from ...results.advice import Advice

    return fetch(address, "advice", Advice)


def _of_traces(files: Sequence[str], format_name: str | None, floor: float, mtbf: float) -> Advice:
    from ..traces.trace_reading import name_of, read_and_tell
    from .building import advice_of_trace

    paths = [Path(file) for file in files]
    return advice_of_trace(read_and_tell(paths, format_name), name_of(paths), floor, mtbf)
