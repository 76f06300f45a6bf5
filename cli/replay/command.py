"""``iotide replay``: finished traces sent to an aggregator as if their programs ran now."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from ...events.counted_text import counted
from ..common.arguments.options import key_options, trace_files
from ..common.arguments.parameter_types import FiniteRange, ReadableText

_NAMED: Final = 8  # jobs in the summary; --json has all
_HELP = """Send finished traces to an aggregator, call by call in order of time, as if their programs ran now.

FILEs are traces of any format that iotide reads (`iotide detect --help`), including archives. Predictions, graphs,
alerts and subscribers of the aggregator see each call when it ended, --speed times as fast as recorded. Nothing is
dropped: a busy aggregator slows the replay down.

Times are not changed, and the aggregator does not compare them with the time of day: it predicts from the last call.
--shift-to-now moves them so that the last call ends when it is sent, and predictions have current times.

\b
Examples:
  iotide replay job.iotide                                    # at its original speed
  iotide replay --speed 100 --job rehearsal trace.jsonl
  iotide replay --speed max --json run1/*.st | jq .sent
  iotide replay --speed 10 --shift-to-now --to tcp://127.0.0.1:9787 traces.otf2

An interrupt ends the replay when the sent calls are acknowledged.

Exit status: 0 all calls were acknowledged, 1 not all were (interrupted, refused, no aggregator, unreadable parts of
the input), 2 bad usage or nothing could be read.
"""


def _speed(context: click.Context, parameter: click.Parameter, value: str) -> float:
    """Return the factor; infinity for ``max``."""
    if value == "max":
        return math.inf
    try:
        speed = float(value)
    except ValueError:
        speed = math.nan
    if not 0 < speed < math.inf:
        raise click.BadParameter(f"{value!r} is neither a number above 0 nor 'max'")
    return speed


@click.command("replay", help=_HELP)
@trace_files(type=click.Path(path_type=Path))
@click.option("--to", "endpoint", metavar="ENDPOINT", default="tcp://127.0.0.1:9787", show_default=True,
              help="Endpoint of the aggregator.")  # fmt: skip
@click.option("--speed", callback=_speed, metavar="N|max", default="1", show_default=True,
              help="Recorded seconds per second; max: as fast as the aggregator accepts.")  # fmt: skip
@click.option(
    "--job",
    type=ReadableText(),
    metavar="NAME",
    help="Job id of all calls. Default: that of the traces, else the first file's name.",
)
@click.option("--shift-to-now", is_flag=True, help="Move all times so that the last call ends when it is sent.")
@click.option(
    "--format", "format_name", metavar="NAME", help="Format of all FILEs. Default: detected from the content."
)
@click.option("--patience", "patience_s", type=FiniteRange(min=1), default=60.0, show_default=True,
              metavar="SECONDS", help="Give up if the aggregator sends nothing for this time.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@key_options
def command(
    files: tuple[Path, ...],
    endpoint: str,
    speed: float,
    job: str | None,
    shift_to_now: bool,
    format_name: str | None,
    patience_s: float,
    as_json: bool,
    keys: tuple[Path | None, Path | None],
) -> None:
    """Run the command."""
    import asyncio
    import logging
    import time

    from ...collectors.replay_source import Replayer
    from ...collectors.settings import CollectorSettings
    from ...events.files import readable
    from ..common.console.input_problems import print_problems, problem_list, unsupported_list
    from ..common.console.logs import log_to_standard_error
    from .recordings import open_recording
    from .sending import send

    log_to_standard_error(logging.WARNING)
    with open_recording(files, job=job, format_name=format_name) as recording:
        print_problems(recording.problems, recording.unsupported)
        span_ns = recording.last_ns - recording.first_ns
        shift_ns = 0
        if shift_to_now:
            ends_ns = time.time_ns() + (0 if math.isinf(speed) else int(span_ns / speed))
            shift_ns = ends_ns - recording.last_ns
        replayer = Replayer(recording.streams, speed, recording.job_renaming(job, unix=shift_to_now), shift_ns)
        begin = time.monotonic()
        settings = CollectorSettings(endpoint=endpoint, key=keys[0], server_key=keys[1])
        sent = asyncio.run(send(replayer, settings, recording.calls, patience_s))
        report = recording.report(
            files=[readable(path) for path in files],
            sent=sent.acknowledged,
            dropped=sent.dropped,
            complete=sent.complete and not replayer.problems.total and not recording.problems.total,
            took_s=time.monotonic() - begin,
            speed=None if math.isinf(speed) else speed,
            shift_s=shift_ns / 1e9,
            problems=problem_list(recording.problems),
            problems_total=recording.problems.total,
            not_carried=unsupported_list(recording.unsupported),
        )
    if as_json:
        click.echo(report.model_dump_json(indent=2))
    else:
        rate = report.recorded_s / report.took_s if report.took_s else 0.0
        click.echo(
            f"{report.sent:,} of {counted(report.calls, 'calls')} of {counted(report.streams, 'streams')} "
            f"in {report.took_s:.1f} s, {rate:.1f} times as fast as recorded, as {_names(report.jobs)}"
        )
    sys.exit(0 if report.complete else 1)


def _names(jobs: Sequence[str]) -> str:
    """Return the first jobs, and the number of the others."""
    from ...clients.text.printable import printable

    more = f" and {counted(len(jobs) - _NAMED, 'other jobs')}" if len(jobs) > _NAMED else ""
    return (", ".join(map(printable, jobs[:_NAMED])) or "no job") + more
