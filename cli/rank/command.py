"""``iotide rank``: interactions of processes in finished traces and running jobs, and their leaders."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from ..common.arguments.grouped_help import SectionCommand, SectionOption
from ..common.arguments.options import trace_files
from ..common.arguments.parameter_types import FiniteRange
from ..common.arguments.targets import check_target

if TYPE_CHECKING:
    from ...analyzers.interaction.settings import InteractionSettings
    from ...results.interaction import RankReport
    from ...results.interaction_kinds import Grouping, Start

_HELP = """Rank the processes of traces by their interactions, and reduce a trace to the leaders.

Two processes interact if one wakes the other, passes a lock to it, writes data that the other reads (file, pipe,
connection), or both write one file at the same time or in collective calls. Processes that interact directly or
indirectly form a component; within each they are ranked by PageRank, after one iteration and converged. All FILEs
form one graph: kernel traces (LTTng by babeltrace, perf sched script, trace-cmd report, bpftrace), events of locks,
and all formats of `iotide detect`. A FILE may also be a running job, http://HOST:9788/jobs/JOB of its aggregator, or
all its jobs, http://HOST:9788. docs/rank.md explains every number.

\b
Examples:
  perf record -a -e 'sched:*,irq:*' -- ./pipeline.sh; perf script > kernel.txt
  iotide rank kernel.txt                                    components and their leaders
  iotide rank -o graph.html kernel.txt                      the graph as a page (.svg .png .dot .json too)
  iotide rank --filter-out small.txt --top 3 kernel.txt     the trace with the three leaders of each component
  iotide rank --start io strace.st                          initial weight by moved bytes
  iotide rank --by rank app.iotide                          ranks of an MPI program and the files between them
  iotide rank --by job a.iotide b.iotide                    jobs and the files that they share
  iotide rank --json kernel.txt | jq '.ranking.components[0]'
  iotide rank http://127.0.0.1:9788/jobs/4711               a running job as it is now
  iotide rank --culprits http://127.0.0.1:9788/jobs/4711    jobs that disturb it

Exit status: 0 done, 1 the work failed, 2 bad usage or nothing could be read. Unreadable parts of the input are listed
and skipped; this is not a failure.
"""
_input_option = partial(click.option, cls=SectionOption, section="Input")
_graph_option = partial(click.option, cls=SectionOption, section="Graph", show_default=True)
_output_option = partial(click.option, cls=SectionOption, section="Output")
_FORMS: Final = (".dot", ".svg", ".png", ".html", ".json")


@click.command("rank", cls=SectionCommand, help=_HELP)
@trace_files()
@_input_option(
    "--format", "format_name", metavar="NAME", help="Format of all FILEs. Default: detected from the content of each."
)
@_graph_option(
    "--by", type=click.Choice(("thread", "process", "rank", "host", "job")), default="process", help="Kind of vertex."
)
@_graph_option(
    "--start",
    type=click.Choice(("equal", "cpu", "io")),
    default="equal",
    help="Initial weight of vertices: equal, CPU time (cpu), or bytes moved (io).",
)
@_graph_option(
    "--background",
    metavar="NAMES",
    show_default=False,
    help="Processes that are pruned, as NAME,NAME with * and ?; by default kernel threads, such as "
    "kworker/*, and launchers of ranks, such as mpirun. An empty value prunes none by name.",
)
@_graph_option(
    "--min-share",
    metavar="SHARE",
    show_default=True,
    type=FiniteRange(0, 1, max_open=True),
    default=0.001,
    help="In components of more than eight processes, prune the least active ones that together have "
    "at most this share of its interactions.",
)
@_graph_option(
    "--forks",
    is_flag=True,
    show_default=False,
    help="Count a fork as an interaction; by default it is shown but connects no components.",
)
@_output_option(
    "--top",
    metavar="N",
    type=click.IntRange(1, 1000),
    default=5,
    show_default=True,
    help="Number of top-ranked vertices per component to print, draw and keep.",
)
@_output_option(
    "--filter-out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the lines of the trace that involve a leader, unchanged, for text formats; or an "
    "archive of the leaders' calls, for any format, if FILE ends in .iotide.",
)
@_output_option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Draw the graph: .html; .svg, .png, .dot (by Graphviz); or write .json.",
)
@_output_option(
    "--culprits",
    is_flag=True,
    help="For a running job: list the jobs that moved most on its file systems during its I/O, instead of its graph.",
)
@_output_option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    files: tuple[str, ...],
    format_name: str | None,
    by: Grouping,
    start: Start,
    background: str | None,
    min_share: float,
    forks: bool,
    top: int,
    filter_out: Path | None,
    output: Path | None,
    culprits: bool,
    as_json: bool,
) -> None:
    """Run the command."""
    from ...clients.job_fetch import is_address

    for target, option in ((output, "--output"), (filter_out, "--filter-out")):
        _check(target, option, files)
    if output is not None and output.suffix.lower() not in _FORMS:
        raise click.UsageError(f"--output {output}: expected a name that ends in {', '.join(_FORMS)}")
    addresses = [name for name in files if is_address(name)]
    if culprits:
        if len(files) > 1 or len(addresses) != 1 or "/jobs/" not in addresses[0] or output or filter_out:
            raise click.UsageError(
                "--culprits asks an aggregator: give one http://HOST:PORT/jobs/JOB, with or without --json"
            )
        _print_culprits(addresses[0], as_json=as_json)
        return
    if addresses:
        if len(files) > 1 or filter_out or _are_trace_options_given():
            raise click.UsageError(f"{addresses[0]} is a running job: give it alone, with --json or --output")
        report = _of_job(addresses[0])
    else:
        settings = _settings(by, start, background, min_share, forks, top)
        report = _of_traces([Path(name) for name in files], format_name, settings, filter_out)
    if output is not None:
        _write(output, report, top)
    if as_json:
        click.echo(report.model_dump_json(indent=2))
    elif output is None:
        from ...clients.rank.text import print_ranking

        print_ranking(report, sys.stdout)


def _are_trace_options_given() -> bool:
    """Return whether an option is given that only finished traces have."""
    given = click.get_current_context().get_parameter_source
    return any(
        given(name) is click.core.ParameterSource.COMMANDLINE
        for name in ("format_name", "by", "start", "background", "min_share", "forks", "top")
    )


def _print_culprits(address: str, *, as_json: bool) -> None:
    from ...clients.job_fetch import fetch
    from ...clients.rank.text import print_interference
    from ...results.interaction import Culprits

    found = fetch(address, "culprits", Culprits)
    if as_json:
        click.echo(found.model_dump_json(indent=2))
    else:
        print_interference(found, sys.stdout)


def _settings(
    by: Grouping, start: Start, background: str | None, min_share: float, forks: bool, top: int
) -> InteractionSettings:
    from ...analyzers.interaction.settings import BACKGROUND, InteractionSettings

    names = BACKGROUND if background is None else tuple(name.strip() for name in background.split(",") if name.strip())
    return InteractionSettings(
        by=by,
        start=start,
        background=names,
        min_share=min_share,
        forks=forks,
        top=top,
        max_actors=2**18,
        max_uses=2**21,
        max_links=2**21,
    )


def _of_traces(
    paths: list[Path], format_name: str | None, settings: InteractionSettings, filter_out: Path | None
) -> RankReport:
    from .archive_reduction import write_archive
    from .from_traces import rank_traces
    from .text_reduction import ARCHIVE, check_filter, write_filtered

    if filter_out is not None:
        check_filter(paths, format_name, filter_out)
    report = rank_traces(paths, format_name, settings)
    if not report.ranking.events:
        from ...events import InputError

        raise InputError(str(paths[0]), None, "no event was read", "at least one event")
    if filter_out is not None:
        if filter_out.suffix == ARCHIVE:
            kept, whole = write_archive(filter_out, paths[0], format_name, report.ranking)
        else:
            kept, whole = write_filtered(filter_out, paths[0], report.ranking)
        what = "calls" if filter_out.suffix == ARCHIVE else "lines"
        click.echo(f"iotide: filtered trace: {filter_out}: {kept:,} of {whole:,} {what}", err=True)
        report = report.model_copy(update={"kept_events": kept, "all_events": whole})
    return report


def _of_job(address: str) -> RankReport:
    from ...clients.job_fetch import fetch, fetch_for_all_jobs
    from ...results.interaction import Ranking, RankReport

    of_one = "/jobs/" in address
    ranking = fetch(address, "rank", Ranking) if of_one else fetch_for_all_jobs(address, "rank", Ranking)
    return RankReport(
        files=[address],
        source="job of an aggregator" if of_one else "jobs of an aggregator",
        wall_clock=True,
        ranking=ranking,
    )


def _check(target: Path | None, option: str, files: tuple[str, ...]) -> None:
    if target is not None:
        check_target(option, target, files)


def _write(target: Path, report: RankReport, top: int) -> None:
    form = target.suffix.lower()
    if form == ".json":
        content = report.model_dump_json(indent=2).encode() + b"\n"
    else:
        from ...clients.rank.graph_output import draw

        content = draw(report, form[1:], top)
    from ..common.atomic_files import complete_file

    with complete_file(target) as temporary:
        temporary.write_bytes(content)
    click.echo(f"iotide: {'result' if form == '.json' else 'picture'}: {target}", err=True)
