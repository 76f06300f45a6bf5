"""Graphs without their events for ``iotide dfg``: of running jobs, and saved as JSON."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from ...analyzers.dfg.spec.graph_definition import GraphDefinition
    from ...results.dfg import Graph, GraphReport

_MAX_JSON_BYTES: Final = 1 << 28
_UNIX_FROM_S: Final = 1e8


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
