"""Directly-follows graphs and their comparison, the same on every channel.

Source: [DFG]. Times and durations are seconds, volumes bytes; stamps are Unix seconds, or those of the trace's
own clock.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from .base import Model
from .traces.analysis import InputProblem, NotCarried

DFG_VERSION = 1

Side = Literal["green", "red", "both"]
"""Where a node or an edge occurs: only in the first graph, only in the second, or in both."""


class ActivityStats(Model):
    """One node: an activity and the statistics of its events."""

    name: str
    events: int = Field(ge=0)
    seconds: float
    """Sum of the events' durations."""
    load: float = Field(ge=0, le=1)
    """Relative duration rd: share of the durations of all activities."""
    bytes: int
    sized: int = Field(0, ge=0)
    """Events with a size and a duration; ``rate`` is the mean over these."""
    rate: float | None
    """Process data rate: mean of size / duration over the events with a size, bytes/s. None without such events."""
    max_concurrency: int = Field(ge=0)
    """Largest number of concurrent events."""
    exact: bool
    """False if an event arrived too late for its place. ``max_concurrency`` is then a lower bound."""
    duration_p50_s: float | None
    """Median, within 2 % of its value; None for merged graphs that lack the distribution."""
    duration_p95_s: float | None
    duration_max_s: float
    cases: int = Field(ge=0)
    """Cases that contain the activity."""
    starts: int = Field(ge=0)
    """Edges from the start marker: cases that begin with it."""
    ends: int = Field(ge=0)
    """Edges to the end marker: cases that end with it, including open cases if they ended now."""
    on_data: bool | None = None
    """Whether one of its files is program data (or unknown). None where this was not examined."""


class Follows(Model):
    """One edge: ``target`` directly follows ``source`` within a case."""

    source: str
    target: str
    count: int = Field(ge=0)
    mean_gap_s: float
    """Mean time from the end of the source to the start of the target. Negative where they overlap."""


class Graph(Model):
    """A directly-follows graph with its statistics. Nodes and edges are listed largest first."""

    version: int = DFG_VERSION
    job: str = ""
    mapping: str
    """Definition of an activity, in the text form of the mapping."""
    case: str
    """Definition of a case: ``stream``, ``rank``, ..."""
    filter: str = ""
    """Selected events, in the text form of the filter; "" for all."""
    cases: int = Field(ge=0)
    open_cases: int = Field(ge=0)
    activities: list[ActivityStats]
    """Ordered by events, then by name."""
    edges: list[Follows]
    """Ordered by count, then by names; without the edges of the start and end markers."""
    events: int = Field(ge=0)
    """Events that have an activity."""
    unmapped: int = Field(ge=0)
    """Events that the mapping drops."""
    dropped_activities: int = Field(ge=0)
    """Activities beyond the bound, merged into the node ``(other)``."""
    dropped_events: int = Field(ge=0)
    """Events of these activities."""
    late_events: int = Field(ge=0)
    """Events that arrived too late for their place: in the statistics, not in the edges."""
    first_s: float
    """Start of the first event, 0 without events."""
    last_s: float
    """End of the last event."""
    dropped_edges: int = Field(0, ge=0)
    """Occurrences of edges that the bound on edges discarded: missing in ``edges``."""
    evicted_cases: int = Field(0, ge=0)
    """Cases that the bound on open cases closed, longest idle first."""


class NodeDifference(Model):
    """A node of either graph; differences are green minus red."""

    name: str
    side: Side
    green: ActivityStats | None
    red: ActivityStats | None
    load_difference: float
    bytes_difference: int
    events_difference: int
    rate_ratio: float | None
    """Rate of green over rate of red; None where either has no rate."""


class EdgeDifference(Model):
    """An edge of either graph, including those of the markers ``(start)`` and ``(end)``."""

    source: str
    target: str
    side: Side
    green: int
    """Count in the first graph."""
    red: int
    share_difference: float
    """Difference of the edge's shares of all edges in either graph."""


class Comparison(Model):
    """Differences of two graphs: the partition colouring of [DFG], and its numbers."""

    version: int = DFG_VERSION
    green: str
    """Name of the first graph."""
    red: str
    mapping: str
    nodes: list[NodeDifference]
    """Largest difference in load first."""
    edges: list[EdgeDifference]
    """Largest difference in shares first."""
    distance: float = Field(ge=0, le=1)
    """0: same successions with the same frequencies; 1: nothing in common."""
    load_distance: float = Field(0.0, ge=0, le=1)
    """The same for time: share of the durations that is spent in other activities."""
    bytes_distance: float = Field(0.0, ge=0, le=1)
    """The same for the bytes."""


class Outlier(Model):
    """Whether a run differs from other runs."""

    names: list[str]
    """Names of the other runs."""
    distances: list[float]
    """Distance of the run's graph to the graph of each of them."""
    usual: float | None
    """Median distance of each other run to its nearest neighbour; None with fewer than three."""
    threshold: float | None
    """Least distance to the nearest run that makes the run an outlier."""
    outlier: bool | None
    """None where there are too few other runs to decide."""


class Occurrence(Model):
    """One event of an activity, for a timeline."""

    case: str
    start_s: float
    end_s: float
    bytes: int | None
    """None for an event that has no size."""


class Timeline(Model):
    """The events of one activity, by case ([DFG])."""

    activity: str
    occurrences: list[Occurrence]
    """Ordered by start."""
    left_out: int = 0
    """Later events beyond the bound."""


class GraphReport(Model):
    """The output of ``iotide dfg``."""

    version: int = DFG_VERSION
    files: list[str]
    source: str
    wall_clock: bool
    """False where the zero of the trace's clock is unknown. Times then count from this zero."""
    filtered_out: int = Field(0, ge=0)
    """Events that the filter discarded, or that belong to neither side of a comparison."""
    graph: Graph
    """With a comparison, the graph of both sides together."""
    comparison: Comparison | None = None
    outlier: Outlier | None = None
    timeline: Timeline | None = None
    problems: list[InputProblem] = Field(default_factory=list)
    problems_total: int = 0
    not_carried: list[NotCarried] = Field(default_factory=list)
    """Contents of the traces that the graph cannot represent; most frequent first."""
