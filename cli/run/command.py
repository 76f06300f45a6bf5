"""``iotide run``: trace a command, show its period live, write a report."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from pathlib import Path
from typing import Any

import click
from msgspec.structs import replace

from ..common.arguments.grouped_help import SectionCommand
from ..common.arguments.options import detection_options
from ..common.arguments.parameter_types import FiniteRange, ReadableText
from ..common.arguments.tracer_options import settings_of, tracer_options
from ..common.job_end import end_of_job, ends_at_option
from ..common.job_names import default_job, safe_name
from ..common.lean_imports import lean_imports
from .messages import print_message

_HELP = """Trace CMD and show its I/O periodicity while it runs.

CMD is any program: a script, mpirun, a shell pipeline in `sh -c`. It runs unmodified, with your terminal, input and
output; iotide writes only to standard error. A collector and an aggregator run in parallel; no configuration is
needed.

In a terminal, the last three rows show bandwidth, period and a countdown to the next I/O phase. Elsewhere each
prediction is one line. At the end come a summary and a report: a folder with report.html (open it in a browser),
summary.json, predictions.jsonl and signal.json, and an archive of every call with its parameters (`iotide archive`).

\b
Examples:
  iotide run -- python simulate.py
  iotide run -- mpirun -n 4 lmp -in in.melt
  iotide run -- srun ./app                        # in a job of Slurm: on all of its nodes
  iotide run -- mpirun --host n1,n2 ./app         # on both hosts, by ssh
  iotide run --listen 127.0.0.1:9788 -- ./app     # /metrics for Prometheus during the run
  iotide run --web -- ./app                       # a live page for the browser during the run
  iotide run --quiet --json run.json -- ./app
  iotide run --ends-at +3600 -- ./app             # last checkpoint, and lost work
  iotide run --layers posix,hdf5 --only-paths /scratch -- python train.py

Exit status: that of CMD, also if a signal ends it; 126 or 127 if CMD cannot be started. Failures of iotide itself (no
tracer, no report) are reported, and CMD continues.

Recording can be restricted to layers, classes of calls or files, and extended by wrapper libraries of your own.
Defaults of these options are taken from the environment: IOTIDE_LAYERS, IOTIDE_CALLS, IOTIDE_ONLY, IOTIDE_SKIP,
IOTIDE_SAMPLE, IOTIDE_RING_RECORDS.

In a job of Slurm with several nodes, `srun --overlap` starts a collector on each of the other nodes. Elsewhere, ssh or
the launcher's own agent starts one on each host that CMD names to mpirun or mpiexec. They send their events to this
node, encrypted with keys made for the run. The summary lists nodes that were not traced.

Statically linked, Go and set-user-ID programs cannot be traced this way: iotide reports this and runs them untraced,
and lists at the end those that CMD has started.
"""


@click.command(
    "run",
    cls=SectionCommand,
    help=_HELP,
    context_settings={"allow_interspersed_args": False},
    options_metavar="[OPTIONS] [--]",
)
@click.argument("cmd", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option(
    "--job",
    type=ReadableText(),
    metavar="NAME",
    help="Job id. Default: that of the batch system, or the command's name and pid.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder for the report; if it contains an earlier report, DIR-2 is used. Default: ./iotide-JOB.",
)
@click.option("--no-report", is_flag=True, help="Write no report and no archive.")
@click.option("--no-archive", is_flag=True, help="Do not write an archive of all calls.")
@click.option(
    "--json",
    "json_file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the summary as one JSON document to FILE.",
)
@click.option(
    "--interval",
    type=FiniteRange(min=0.05),
    default=1.0,
    show_default=True,
    metavar="SECONDS",
    help="Time between predictions.",
)
@click.option(
    "--listen", metavar="HOST:PORT", help="Serve /metrics and /api/v1 at this address while CMD runs. Loopback only."
)
@click.option("--web", is_flag=True, help="Serve a live page for the browser while CMD runs, and print its address.")
@click.option(
    "--publish", metavar="ENDPOINT", help="Publish predictions on this ZeroMQ endpoint, e.g. tcp://127.0.0.1:9789."
)
@click.option(
    "--spool-memory",
    type=click.IntRange(min=8),
    default=256,
    show_default=True,
    metavar="MIB",
    help="Memory for recorded calls that are not yet analysed.",
)
@click.option(
    "--spool-disk",
    type=click.IntRange(min=0),
    default=4096,
    show_default=True,
    metavar="MIB",
    help="Space in files in $TMPDIR for further calls; beyond it calls are dropped and counted.",
)
@ends_at_option()
@click.option(
    "--this-node",
    is_flag=True,
    help="Start no collectors on other nodes; programs there are not traced.",
)
@click.option("-q", "--quiet", is_flag=True, help="Show nothing while CMD runs, and print no summary.")
@tracer_options
@detection_options
def command(
    cmd: tuple[str, ...],
    job: str | None,
    output: Path | None,
    no_report: bool,
    no_archive: bool,
    json_file: Path | None,
    interval: float,
    listen: str | None,
    web: bool,
    publish: str | None,
    spool_memory: int,
    spool_disk: int,
    ends_at: float | None,
    this_node: bool,
    quiet: bool,
    tracer: dict[str, Any],
    detection: dict[str, Any],
) -> None:
    """Run the command with tracing, then exit like it."""
    with lean_imports():
        from ...analyzers.settings import DetectSettings
        from ...collectors.settings import SpoolSettings
        from ..common.batch_facts import batch_facts
        from ..common.console.logs import log_to_standard_error
        from .launch import LaunchError, exit_like
        from .report_folder import report_folder
        from .run_plan import RunPlan
        from .run_start import run_traced

    log_to_standard_error(logging.WARNING)
    name = job or default_job(cmd, os.environ)
    fallback_name = f"iotide-{safe_name(name)[:100]}"
    plan = RunPlan(
        command=cmd,
        job=name,
        output=None,
        json_file=json_file,
        quiet=quiet,
        this_node=this_node,
        interval_s=interval,
        listen=listen or ("127.0.0.1:0" if web else None),
        web=web,
        publish=publish,
        tracer=settings_of(tracer),
        spool=SpoolSettings(memory_bytes=spool_memory << 20, disk_bytes=spool_disk << 20),
        archive=not no_archive,
        ends_at_s=end_of_job(ends_at, os.environ, print_message),
        batch=batch_facts(os.environ),
        detect=DetectSettings(**detection),
    )
    try:
        with contextlib.ExitStack() as stack:
            if not no_report:
                folder = report_folder(output or Path(fallback_name), fallback_name, print_message)
                plan = replace(plan, output=stack.enter_context(folder))
            returncode = run_traced(plan)
    except LaunchError as error:
        click.echo(f"iotide: {error}", err=True)
        sys.exit(error.status)
    exit_like(returncode)
