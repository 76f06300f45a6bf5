"""Saved graphs, and the comparison of graphs, for ``iotide dfg``."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from ...analyzers.dfg.spec.filters import Filter
    from ...analyzers.dfg.spec.graph_definition import GraphDefinition
    from ...results.dfg import Comparison, Graph, GraphReport, Outlier
    from .from_traces import Selection

_MAX_JSON_BYTES: Final = 1 << 28
_UNIX_FROM_S: Final = 1e8
_TERM: Final = re.compile(r"\s*[a-z]+\s*(=|!=|~|!~)")
_MAX_BASELINES: Final = 1000


def load_graph(name: str) -> Graph | None:
    """Return the graph of a running job, by its address, or of a JSON file. Return None for anything else.

    Raises:
        InputError: the aggregator has no such graph.
    """
    from ...clients.job_fetch import fetch, is_address
    from ...results.dfg import Graph

    return fetch(name, "dfg", Graph) if is_address(name) else _graph_of_json(Path(name))


def names_of(pattern: str, option: str) -> list[str]:
    """Return the files that match a pattern. An address or the name of a file is returned unchanged.

    Raises:
        click.UsageError: there is none.
    """
    from ...clients.job_fetch import is_address

    if is_address(pattern) or os.path.exists(pattern):
        return [pattern]
    found = sorted(glob.glob(pattern))  # noqa: PTH207  (it may be absolute)
    if not found:
        raise click.UsageError(f"{option} {pattern}: there is no such file")
    return found


def check_comparable(name: str, other: Graph, graph: Graph) -> None:
    """Check that two graphs can be compared.

    Raises:
        click.UsageError: they have different mappings or cases.
    """
    if (other.mapping, other.case) != (graph.mapping, graph.case):
        raise click.UsageError(
            f"{name} is a graph of {other.mapping} by {other.case}, not of {graph.mapping} by {graph.case}"
        )


def report_of_graphs(
    files: Sequence[str],
    compare: tuple[str, str] | None,
    view_of: Callable[[Graph], GraphDefinition],
    trace_graph: Callable[[Sequence[str], GraphDefinition], Graph],
) -> tuple[GraphReport, GraphDefinition] | None:
    """Return the report if the inputs are already graphs. Return None if all of them are traces.

    Args:
        files: the FILE arguments.
        compare: the sides, names of graphs or traces.
        view_of: returns the definition of a graph, if it agrees with the options.
        trace_graph: computes the graph of traces, for a comparison with an existing one.

    Raises:
        click.UsageError: there are too many graphs, or the two are not comparable.
        InputError: an aggregator has no such graph.
    """
    from ...results.dfg import GraphReport

    names = list(dict.fromkeys([*files, *(compare or ())]))
    graphs = {name: graph for name in names if (graph := load_graph(name)) is not None}
    if not graphs:
        return None
    view = view_of(next(iter(graphs.values())))
    if compare is None:
        if len(names) > 1:
            raise click.UsageError(
                f"{next(iter(graphs))} is a graph; give it alone, or two of them as --compare GREEN RED"
            )
        graph, comparison = graphs[names[0]], None
    else:
        from ...analyzers.dfg.compare import compare as set_against
        from ...analyzers.dfg.merge import union_of

        if extra := [name for name in files if name not in compare]:
            raise click.UsageError(f"{extra[0]} is on neither side; beside a graph, --compare takes graphs and traces")
        sides: list[Graph] = []
        for side, option in zip(compare, ("--compare GREEN", "--compare RED"), strict=True):
            found = graphs.get(side) or trace_graph(names_of(side, option), view)
            if sides:
                check_comparable(f"{option} {side}", found, sides[0])
            sides.append(found)
        graph = union_of(sides[0], sides[1], f"{compare[0]} and {compare[1]}")
        comparison = set_against(sides[0], sides[1], *compare)
    report = GraphReport(
        files=names,
        source="graph" if len(graphs) == len(names) else "graph and trace",
        wall_clock=graph.first_s >= _UNIX_FROM_S,
        graph=graph,
        comparison=comparison,
    )
    return report, view


def _graph_of_json(path: Path) -> Graph | None:
    from pydantic import ValidationError

    from ...results.dfg import Graph, GraphReport

    if path.suffix.lower() != ".json":
        return None
    from ...events.files import open_regular

    try:
        with open_regular(path) as file:
            if len(text := file.read(_MAX_JSON_BYTES + 1)) > _MAX_JSON_BYTES:
                return None
    except OSError:
        return None
    try:
        return GraphReport.model_validate_json(text).graph
    except ValidationError:
        pass
    try:
        return Graph.model_validate_json(text)
    except ValidationError:
        return None


@dataclass(frozen=True, slots=True)
class SideArgument:
    """One side of a comparison as given: a filter, or the name of a file."""

    text: str
    option: str

    @property
    def is_filter(self) -> bool:
        """Whether it is a filter."""
        return _TERM.match(self.text) is not None and not os.path.isfile(self.text)

    def parsed_filter(self, sites: dict[str, str]) -> Filter:
        """Return the filter of this side.

        Raises:
            ConfigError: it is an invalid filter.
        """
        from ...analyzers.dfg.spec.filters import Filter

        if self.is_filter:
            return Filter.parse(self.text, sites)
        if '"' in self.text:
            raise click.UsageError(f"{self.option} {self.text}: a name with a quotation mark cannot be given here")
        return Filter.parse(f'trace="{glob.escape(self.text) if os.path.isfile(self.text) else self.text}"')


def files_and_sides(
    files: Sequence[Path], compare: tuple[str, str] | None
) -> tuple[list[Path], tuple[SideArgument, SideArgument] | None]:
    """Return the files to read, and the sides. Files that are only named as sides are read, too."""
    paths = list(files)
    if compare is None:
        return paths, None
    sides = SideArgument(compare[0], "--compare GREEN"), SideArgument(compare[1], "--compare RED")
    for side in sides:
        path = Path(side.text)
        if not side.is_filter and os.path.isfile(path) and path not in paths:
            paths.append(path)
    return paths, sides


def compute_comparison(
    base: Selection,
    view: GraphDefinition,
    sides: tuple[SideArgument, SideArgument],
    declared: tuple[Filter, Filter],
    job: str,
) -> tuple[Selection, Graph, Comparison]:
    """Compare two sides of a selection.

    Returns:
        The events of either side, the graph of both together (with separate cases), and the comparison.

    Raises:
        click.UsageError: a side has no event, or an event belongs to both.
    """
    from ...analyzers.common.sorting import Reiterable
    from ...analyzers.dfg.compare import compare
    from .from_traces import graph_of

    both = base.filtered(declared)
    parts = [base.filtered([each]) for each in declared]
    for side, part in zip(sides, parts, strict=True):
        if not part.events:
            raise click.UsageError(f"{side.option} {side.text}: no event is on this side")
    shared = parts[0].events + parts[1].events - both.events
    if shared:
        raise click.UsageError(f"--compare: {shared:,} events are on both sides; choose sides that have none in common")
    green, red = (graph_of(part, view, side.text) for part, side in zip(parts, sides, strict=True))
    union = replace(
        both,
        parts=Reiterable(
            lambda: (
                replace(part, case=part.case * 2 + number)
                for number, selection in enumerate(parts)
                for part in selection.parts
            )
        ),
    )
    return both, graph_of(union, view, job), compare(green, red, sides[0].text, sides[1].text)


def compute_outlier(graph: Graph, patterns: Sequence[str], view: GraphDefinition, format_name: str | None) -> Outlier:
    """Compute the distance of a run to earlier ones.

    Raises:
        click.UsageError: there is no such run, or its graph has another mapping or case.
    """
    from ...analyzers.dfg.compare import outlier
    from ..common.console.progress import step_progress

    names: list[str] = []
    for pattern in patterns:
        names += [name for name in names_of(pattern, "--baseline") if name not in names]
    if len(names) > _MAX_BASELINES:
        raise click.UsageError(f"--baseline: {len(names)} runs are too many; expected at most {_MAX_BASELINES}")
    graphs = []
    with step_progress("reading baselines") as progress:
        for number, name in enumerate(names, 1):
            graphs.append(load_graph(name) or graph_of_traces([name], view, format_name))
            progress(number, len(names))
    for name, other in zip(names, graphs, strict=True):
        check_comparable(f"--baseline {name}", other, graph)
    return outlier(graph, graphs, names)


def graph_of_traces(names: Sequence[str], view: GraphDefinition, format_name: str | None) -> Graph:
    """Return the graph of several traces together."""
    from ..traces.trace_reading import name_of, read_and_report
    from .from_traces import graph_of, select

    paths = [Path(name) for name in names]
    return graph_of(select(read_and_report(paths, format_name), view), view, name_of(paths))
