"""``iotide dfg``: the directly-follows graph of finished traces, and differences of two."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from ..common.arguments.grouped_help import SectionCommand, SectionOption
from ..common.arguments.options import trace_files
from ..common.console.input_problems import problem_list, unsupported_list

if TYPE_CHECKING:
    from ...analyzers.dfg.spec.graph_definition import GraphDefinition
    from ...results.dfg import Graph, GraphReport
    from .comparison import SideArgument
    from .from_traces import Selection
    from .output import Colour

_HELP = """Build the directly-follows graph (DFG) of the I/O calls of traces or running jobs, and compare graphs.

All FILEs form one graph, in any format that `iotide detect` reads, including archives and event logs. --map turns
calls into activities. Activities follow one another within a case (--case). --filter removes events before edges are
computed. A FILE may also be a graph: that of a running job, http://HOST:9788/jobs/JOB of its aggregator, or one saved
with --json. Without --output or --json a table is printed. docs/dfg.md explains all forms.

\b
Examples:
  iotide dfg *.st                                        where the time goes, what follows what
  iotide dfg -o graph.svg *.st                           the graph as an image (.dot .png .html .graphml too)
  iotide dfg --map call+site:1 --filter 'path=$SCRATCH/*' *.st
  iotide dfg --case rank --color rate -o graph.html trace.jsonl
  iotide dfg --compare 'trace=ls_*' 'trace=ls-l_*' *.st        two programs
  iotide dfg --compare rank=0 rank=1- trace.jsonl              rank 0 and the others
  iotide dfg --compare monday.h5 tuesday.h5                    two runs
  iotide dfg --timeline write:/scratch/out trace.jsonl         events by case and time
  iotide dfg --json run11.jsonl > run11.json                   save the graph ...
  iotide dfg --baseline 'runs/*.json' run12.jsonl              ... does this run differ from the last ones?
  iotide dfg http://127.0.0.1:9788/jobs/4711                   a running job as it is now
  iotide dfg --compare http://127.0.0.1:9788/jobs/4711 run11.json
  iotide dfg --log events.h5 *.st                              one event log of many traces

Exit status: 0 done, 1 the work failed, 2 bad usage or nothing could be read. Unreadable parts of the input are listed
and skipped; this is not a failure.
"""
_VARIABLES: Final = ("SCRATCH", "WORK", "PROJECT", "SOFTWARE", "TMPDIR", "HOME")
_TOP: Final = 20
_input_option = partial(click.option, cls=SectionOption, section="Input")
_graph_option = partial(click.option, cls=SectionOption, section="Graph", show_default=True)
_comparison_option = partial(click.option, cls=SectionOption, section="Comparison")
_output_option = partial(click.option, cls=SectionOption, section="Output")


@click.command("dfg", cls=SectionCommand, help=_HELP)
@trace_files(required=False)
@_input_option(
    "--format",
    "format_name",
    metavar="NAME",
    help="Format of all FILEs, such as strace, jsonl, darshan or recorder. Default: detected from the content.",
)
@_graph_option(
    "--map",
    "mapping",
    metavar="FORM",
    default="call+dirs:2",
    help="Definition of an activity: parts joined by +, of call, kind, layer, dirs:N (top N levels of "
    "the path), site, site:N (variable and N levels), ext, name, path, pattern (numbers as #), "
    "role (shared or own file); or rules:FILE.",
)
@_graph_option(
    "--case",
    "case",
    metavar="NAME",
    help="Definition of a case: stream, pid, tid, rank, host, command or file.  [default: stream]",
)
@_graph_option(
    "--filter",
    "filters",
    metavar="TERMS",
    multiple=True,
    help="Selected events: terms such as path=/scratch/*, path~ckpt, call=read*,write*, layer=POSIX, "
    "rank=0-3, time=10..20, failed=no, command=ls; != and !~ negate. All terms must hold. "
    "Repeatable.",
)
@_graph_option(
    "--site",
    "sites",
    metavar="NAME=FOLDER",
    multiple=True,
    show_default=False,
    help=f"A site variable for --map and --filter. Taken from the environment: {', '.join(_VARIABLES)}.",
)
@_comparison_option(
    "--compare",
    nargs=2,
    metavar="GREEN RED",
    help="The two sides: each a filter (rank=0, command=ls, time=..60), or the name of one of the "
    "FILEs, with * and ? (in quotes), or a graph.",
)
@_comparison_option(
    "--baseline",
    "baselines",
    multiple=True,
    metavar="FILE",
    help="An earlier run, as a trace or as a graph; * and ? for several. Reports the distance of this "
    "run to each, and with three or more whether it is an outlier.",
)
@_output_option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Draw to a file: .dot, .svg, .png (these two need Graphviz), .html, .graphml; or .json, as printed by --json.",
)
@_output_option(
    "--color",
    "colour",
    type=click.Choice(("load", "bytes", "rate", "none")),
    default="load",
    show_default=True,
    help="Measure that darker nodes show; with --compare sides are coloured instead, unless none.",
)
@_output_option(
    "--timeline",
    "activity",
    metavar="ACTIVITY",
    help="Show the events of this activity by case and time, instead of a graph.",
)
@_output_option(
    "--log",
    "log",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the selected events as an event log: .h5, .parquet, or for pm4py: .csv, .xes.",
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
    mapping: str,
    case: str | None,
    filters: tuple[str, ...],
    sites: tuple[str, ...],
    compare: tuple[str, str] | None,
    baselines: tuple[str, ...],
    output: Path | None,
    colour: Colour,
    activity: str | None,
    log: Path | None,
    top: int,
    as_json: bool,
) -> None:
    """Run the command."""
    from .comparison import compute_outlier, files_and_sides, graph_of_traces, report_of_graphs
    from .output import check_targets, write_log

    paths, sides = files_and_sides([Path(name) for name in files], compare)
    if not files and not compare:
        raise click.UsageError("Missing argument 'FILE...'.")
    if activity is not None and compare is not None:
        raise click.UsageError("--timeline shows one activity and --compare two graphs; give one of them")
    check_targets(output, log, paths, timeline=activity is not None)
    variables = _site_folders(sites)
    made = report_of_graphs(
        files,
        compare,
        lambda graph: _definition_of(graph, mapping, case, filters, variables, with_events=bool(activity or log)),
        lambda names, view: graph_of_traces(names, view, format_name),
    )
    if made is not None:
        report, view = made
        if baselines:
            report = report.model_copy(update={"outlier": compute_outlier(report.graph, baselines, view, format_name)})
        _print_report(report, output, colour, top, as_json=as_json, quiet=False)
        return
    if not paths:
        raise click.UsageError("Missing argument 'FILE...'.")
    view = _definition(mapping, case, filters, variables)
    report, selection = _report_of_traces(paths, format_name, view, sides, variables, baselines, activity)
    if log is not None:
        write_log(log, selection)
    _print_report(report, output, colour, top, as_json=as_json, quiet=log is not None)


def _report_of_traces(
    paths: list[Path],
    format_name: str | None,
    view: GraphDefinition,
    sides: tuple[SideArgument, SideArgument] | None,
    variables: dict[str, str],
    baselines: tuple[str, ...],
    activity: str | None,
) -> tuple[GraphReport, Selection]:
    """Read traces, and build their graph.

    Args:
        paths: the traces.
        format_name: their format; None to detect it from each file's content.
        view: definition of the graph.
        sides: the compared sides; None for no comparison.
        variables: folders of the site variables.
        baselines: name patterns of earlier runs.
        activity: activity whose events the report lists; None for none.

    Returns:
        The report, and the selected events.

    Raises:
        click.UsageError: no event is selected, the activity does not exist, or the sides cannot be compared.
    """
    from ...events.files import readable
    from ...results.dfg import GraphReport
    from ..traces.trace_reading import name_of, read_and_report
    from .comparison import compute_comparison, compute_outlier
    from .from_traces import graph_of, select, timeline_of

    declared = None if sides is None else (sides[0].parsed_filter(variables), sides[1].parsed_filter(variables))
    trace = read_and_report(paths, format_name)
    job = name_of(paths)
    selection = select(trace, view)
    if not selection.events:
        raise click.UsageError(f"--filter matches none of the {trace.events:,} events")
    if selection.names.overflowed:
        click.echo(
            f"iotide: {selection.names.overflowed:,} calls and files beyond the bound count as unknown", err=True
        )
    comparison = None
    if sides is not None and declared is not None:
        selection, graph, comparison = compute_comparison(selection, view, sides, declared, job)
    else:
        graph = graph_of(selection, view, job)
    report = GraphReport(
        files=[readable(path) for path in paths],
        source=", ".join(sorted(set(trace.formats))),
        wall_clock=trace.wall_clock,
        filtered_out=selection.left_out,
        graph=graph,
        comparison=comparison,
        outlier=compute_outlier(graph, baselines, view, format_name) if baselines else None,
        timeline=None if activity is None else timeline_of(selection, activity),
        problems=problem_list(trace.problems),
        problems_total=trace.problems.total,
        not_carried=unsupported_list(trace.unsupported),
    )
    if activity is not None and report.timeline is None:
        names = ", ".join(row.name for row in graph.activities[:10])
        raise click.UsageError(f"--timeline {activity}: there is no such activity; the most frequent are {names}")
    return report, selection


def _print_report(
    report: GraphReport, output: Path | None, colour: Colour, top: int, *, as_json: bool, quiet: bool
) -> None:
    from .output import write_picture

    if output is not None:
        write_picture(output, report, colour)
    if as_json:
        click.echo(report.model_dump_json(indent=2))
    elif output is None and not quiet:
        from ...clients.dfg.text import print_graph

        print_graph(report, sys.stdout, top)


def _definition_of(
    graph: Graph,
    mapping: str,
    case: str | None,
    filters: tuple[str, ...],
    sites: dict[str, str],
    *,
    with_events: bool,
) -> GraphDefinition:
    """Return the definition of a graph.

    Raises:
        click.UsageError: the options differ from it, which would need the graph's events.
    """
    from click.core import ParameterSource

    given = click.get_current_context().get_parameter_source
    view = _definition(graph.mapping, graph.case, (), sites)
    if filters or with_events:
        raise click.UsageError("--filter, --timeline and --log need the events; this is a graph")
    if given("mapping") is not ParameterSource.DEFAULT or case is not None:
        asked = _definition(mapping, case, (), sites)
        if (asked.mapping.text, case or graph.case) != (graph.mapping, graph.case):
            raise click.UsageError(f"this is a graph of {graph.mapping} by {graph.case}, which cannot be mapped again")
    return view


def _site_folders(given: tuple[str, ...]) -> dict[str, str]:
    """Return the folders of the site variables, those of the environment first."""
    sites = {
        name: value for name in _VARIABLES if (value := os.environ.get(name, "")).startswith("/") and value.strip("/")
    }
    for text in given:
        name, equals, folder = text.partition("=")
        if not equals:
            raise click.UsageError(f"--site {text}: expected NAME=FOLDER, such as SCRATCH=/p/scratch/ann")
        sites[name] = folder
    return sites


def _definition(mapping: str, case: str | None, filters: tuple[str, ...], sites: dict[str, str]) -> GraphDefinition:
    from dataclasses import replace

    from ...analyzers.dfg.spec.cases import parse_case
    from ...analyzers.dfg.spec.filters import Filter
    from ...analyzers.dfg.spec.graph_definition import GraphDefinition
    from .from_traces import rules_text

    view = GraphDefinition.parse(mapping, sites=sites, read=rules_text)
    if case is not None:
        view = replace(view, case=parse_case(case))
    declared = Filter.parse(" ".join(filters), sites)
    both = f"{view.filter.text} {declared.text}".strip()
    return replace(view, filter=Filter(both, view.filter.terms + declared.terms))
