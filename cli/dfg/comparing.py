"""Comparison of graphs for ``iotide dfg``."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

if TYPE_CHECKING:
    from ...analyzers.dfg.spec.filters import Filter
    from ...analyzers.dfg.spec.graph_definition import GraphDefinition
    from ...results.dfg import Comparison, Graph, Outlier
    from .building import Selection

_TERM: Final = re.compile(r"\s*[a-z]+\s*(=|!=|~|!~)")
_MAX_BASELINES: Final = 1000


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
    from ...analyzers.common.reiterable import Reiterable
    from ...analyzers.dfg.compare import compare
    from .building import graph_of

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
    from .saved_graphs import check_comparable, load_graph, names_of

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
    from .building import graph_of, select

    paths = [Path(name) for name in names]
    return graph_of(select(read_and_report(paths, format_name), view), view, name_of(paths))
