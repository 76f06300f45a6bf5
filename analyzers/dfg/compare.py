"""Comparison of two graphs by coloring ([DFG], Section IV-C) and by distance. It also detects outlier runs.

The distance is the total variation distance of the edges' shares, including those of the start and end markers: half
the sum of the absolute differences. 0 means that both graphs have the same steps equally often, independent of their
length; 1 means that no step is common. It is a metric and equals the share of different steps. An edge that is missing
on one side does not make it infinite.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypeVar

import numpy as np

from ...events import ConfigError
from ...results.dfg import ActivityStats, Comparison, EdgeDifference, Graph, NodeDifference, Outlier, Side

START: Final = "(start)"
END: Final = "(end)"
MIN_BASELINES: Final = 3  # minimum number of runs for the detection of outliers
_DEVIATIONS: Final = 3.0  # robust standard deviations of the threshold
_OF_NORMAL: Final = 1.4826  # scales the median absolute deviation to the standard deviation of a normal distribution
_MIN_SPREAD: Final = 0.02  # minimum standard deviation of the distances

Key = TypeVar("Key")
Edge = tuple[str, str]


def edge_shares(graph: Graph) -> dict[Edge, float]:
    """Return the share of each edge in all edges, including those of the markers."""
    return _normalized(_counts(graph))


def compare(green: Graph, red: Graph, green_name: str = "green", red_name: str = "red") -> Comparison:
    """Compare two graphs of one mapping.

    Args:
        green: first graph; differences are green minus red.
        red: second graph.
        green_name: display name of the first graph.
        red_name: display name of the second graph.

    Raises:
        ConfigError: the mappings differ, so equal names have different meanings.
    """
    if green.mapping != red.mapping:
        raise ConfigError(f"graphs of the mappings {green.mapping!r} and {red.mapping!r}; expected one mapping")
    nodes = _nodes(green, red)
    edges = _edges(green, red)
    return Comparison(
        green=green_name,
        red=red_name,
        mapping=green.mapping,
        nodes=nodes,
        edges=edges,
        distance=distance(green, red),
        load_distance=_total_variation(*({row.name: row.load for row in graph.activities} for graph in (green, red))),
        bytes_distance=_total_variation(
            *(_normalized({row.name: row.bytes for row in graph.activities}) for graph in (green, red))
        ),
    )


def distance(green: Graph, red: Graph) -> float:
    """Return the difference of two graphs, in [0, 1]. It is the total variation distance of their edges' shares."""
    return _total_variation(edge_shares(green), edge_shares(red))


def outlier(graph: Graph, baseline: Sequence[Graph], names: Sequence[str]) -> Outlier:
    """Determine whether a run is an outlier among others.

    The run's distance to the nearest other run is compared with the same distance for each of the others. It is an
    outlier beyond their median plus three robust standard deviations, of at least 0.02 each. Only the nearest run
    counts, so that normal runs may be of several kinds.

    Args:
        graph: graph of the run.
        baseline: graphs of the other runs.
        names: names of the other runs.
    """
    distances = [distance(graph, other) for other in baseline]
    usual: float | None = None
    threshold: float | None = None
    if len(baseline) >= MIN_BASELINES:
        among = np.array([[distance(one, other) for other in baseline] for one in baseline])
        np.fill_diagonal(among, np.inf)
        nearest = among.min(axis=1)
        usual = float(np.median(nearest))
        spread = _OF_NORMAL * float(np.median(np.abs(nearest - usual)))
        threshold = min(usual + _DEVIATIONS * max(spread, _MIN_SPREAD), 1.0)
    return Outlier(
        names=list(names),
        distances=distances,
        usual=usual,
        threshold=threshold,
        outlier=None if threshold is None else min(distances) > threshold,
    )


def _nodes(green: Graph, red: Graph) -> list[NodeDifference]:
    greens, reds = ({row.name: row for row in graph.activities} for graph in (green, red))
    nodes = [
        NodeDifference(
            name=name,
            side=_side(name in greens, name in reds),
            green=(a := greens.get(name)),
            red=(b := reds.get(name)),
            load_difference=(a.load if a else 0.0) - (b.load if b else 0.0),
            bytes_difference=(a.bytes if a else 0) - (b.bytes if b else 0),
            events_difference=(a.events if a else 0) - (b.events if b else 0),
            rate_ratio=_ratio(a, b),
        )
        for name in {**greens, **reds}
    ]
    return sorted(nodes, key=lambda row: (-abs(row.load_difference), -abs(row.events_difference), row.name))


def _edges(green: Graph, red: Graph) -> list[EdgeDifference]:
    greens, reds = edge_shares(green), edge_shares(red)
    counts = [_counts(graph) for graph in (green, red)]
    edges = [
        EdgeDifference(
            source=edge[0],
            target=edge[1],
            side=_side(edge in greens, edge in reds),
            green=counts[0].get(edge, 0),
            red=counts[1].get(edge, 0),
            share_difference=greens.get(edge, 0.0) - reds.get(edge, 0.0),
        )
        for edge in {**greens, **reds}
    ]
    return sorted(edges, key=lambda row: (-abs(row.share_difference), row.source, row.target))


def _counts(graph: Graph) -> dict[Edge, int]:
    counts = {(edge.source, edge.target): edge.count for edge in graph.edges}
    counts |= {(START, row.name): row.starts for row in graph.activities if row.starts}
    return counts | {(row.name, END): row.ends for row in graph.activities if row.ends}


def _ratio(green: ActivityStats | None, red: ActivityStats | None) -> float | None:
    if green is None or red is None or green.rate is None or not red.rate:
        return None
    return green.rate / red.rate


def _side(in_green: bool, in_red: bool) -> Side:
    if in_green and in_red:
        return "both"
    return "green" if in_green else "red"


def _normalized(counts: Mapping[Key, int]) -> dict[Key, float]:
    total = sum(counts.values())
    return {key: count / total for key, count in counts.items() if count} if total else {}


def _total_variation(green: Mapping[Key, float], red: Mapping[Key, float]) -> float:
    """Return half the sum of the differences of two distributions. Returns 1 if exactly one is empty."""
    if not green or not red:
        return float(bool(green) != bool(red))
    return min(sum(abs(green.get(key, 0.0) - red.get(key, 0.0)) for key in {**green, **red}) / 2, 1.0)
