"""``iotide advise``: cost of a run's I/O, and the changes that save most."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..common.arguments.grouped_help import SectionCommand, SectionOption
from ..common.arguments.options import trace_files
from ..common.arguments.parameter_types import FiniteRange

if TYPE_CHECKING:
    from ...results.advice import Advice

_HELP = """Report the share of a run spent in I/O, and the changes that save most.

Each finding has its cause, its cost as a share of the run, the calls, bytes and files involved, the reason for the
cost, the change, and the expected saving. Findings that save the most come first; findings that save less than
--floor of the run are not listed. In parallel programs the slowest rank or process counts, not the sum over all.
docs/advice.md explains each cause and the accuracy of the estimates.

All FILEs belong to one run, in any format that `iotide detect` reads; archives of `iotide run` have the most
information. A FILE may also be a running job, http://HOST:9788/jobs/JOB of its aggregator, with the result of `GET
/api/v1/jobs/JOB/advice`. Checkpoint intervals are compared with the optimum for --mtbf.

\b
Examples:
  iotide advise iotide-app/app-20250101T120000.iotide
  iotide advise --json app.iotide | jq '.findings[] | {cause, title, gain_s}'
  iotide advise --floor 0.1 rank*.jsonl
  iotide advise http://127.0.0.1:9788/jobs/4711

Exit status: 0 done, 1 the work failed, 2 bad usage or nothing could be read. Unreadable parts of the input are listed
and skipped; this is not a failure.
"""
_input_option = partial(click.option, cls=SectionOption, section="Input")
_judging_option = partial(click.option, cls=SectionOption, section="Judging")
_output_option = partial(click.option, cls=SectionOption, section="Output")


@click.command("advise", cls=SectionCommand, help=_HELP)
@trace_files()
@_input_option(
    "--format", "format_name", metavar="NAME", help="Format of all FILEs. Default: detected from the content of each."
)
@_judging_option(
    "--floor",
    type=FiniteRange(0, 1),
    default=0.02,
    show_default=True,
    metavar="SHARE",
    help="Least share of the run that a change must save to be listed.",
)
@_judging_option(
    "--mtbf",
    type=FiniteRange(min=0, min_open=True),
    default=86_400.0,
    show_default=True,
    metavar="S",
    help="Mean time between failures of the job's nodes, s; it determines the best checkpoint interval.",
)
@_output_option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(files: tuple[str, ...], format_name: str | None, floor: float, mtbf: float, as_json: bool) -> None:
    """Run the command."""
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
    from ..traces.trace_reading import name_of, read_and_report
    from .from_traces import advice_of_trace

    paths = [Path(file) for file in files]
    return advice_of_trace(read_and_report(paths, format_name, keeps_signal=True), name_of(paths), floor, mtbf)
