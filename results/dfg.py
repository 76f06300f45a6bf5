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
    """Events that have a size and a duration: those that ``rate`` is the mean of."""
    rate: float | None
    """Process data rate: mean over events that have a size of size / duration, bytes/s; None where no event has one."""
    max_concurrency: int = Field(ge=0)
    """Largest number of its events that ran at once."""
    exact: bool
    """False where an event came too late for its place: ``max_concurrency`` is then a lower bound."""
    duration_p50_s: float | None
    """Median, within 2 % of its value; None where graphs were put together of which no more than this is known."""
    duration_p95_s: float | None
    duration_max_s: float
    cases: int = Field(ge=0)
    """Cases that the activity occurred in."""
    starts: int = Field(ge=0)
    """Edges from the start marker: cases that began with it."""
    ends: int = Field(ge=0)
    """Edges to the end marker: cases that ended with it, among them those open now that would end with it."""
    on_data: bool | None = None
    """Whether one of its files is the program's data (or is not known); None where that was not looked at."""


class Follows(Model):
    """One edge: ``target`` directly follows ``source`` within a case."""

    source: str
    target: str
    count: int = Field(ge=0)
    mean_gap_s: float
    """Mean time from the end of the source to the start of the target; negative where they overlap."""


class Graph(Model):
    """A directly-follows graph with its statistics. Nodes and edges are listed largest first."""

    version: int = DFG_VERSION
    job: str = ""
    mapping: str
    """What an activity is, in the text form of the mapping."""
    case: str
    """What a case is: ``stream``, ``rank``, ..."""
    filter: str = ""
    """Which events it is of, in the text form of the filter; "" for all."""
    cases: int = Field(ge=0)
    open_cases: int = Field(ge=0)
    activities: list[ActivityStats]
    """By events, then by name."""
    edges: list[Follows]
    """By count, then by names; without those of the start and end markers."""
    events: int = Field(ge=0)
    """Events that have an activity."""
    unmapped: int = Field(ge=0)
    """Events that the mapping drops."""
    dropped_activities: int = Field(ge=0)
    """Activities beyond the bound, summed up in the node ``(other)``."""
    dropped_events: int = Field(ge=0)
    """Events of these."""
    late_events: int = Field(ge=0)
    """Events that came too late to be put into their place: in the statistics, not in the edges."""
    first_s: float
    """Start of the first event, 0 without events."""
    last_s: float
    """End of the last event."""
    dropped_edges: int = Field(0, ge=0)
    """Occurrences of edges that the bound on edges let go: what ``edges`` lacks."""
    evicted_cases: int = Field(0, ge=0)
    """Cases closed by the bound on open cases, the longest idle ones."""


class NodeDifference(Model):
    """A node of either graph; green minus red has the sign of the differences."""

    name: str
    side: Side
    green: ActivityStats | None
    red: ActivityStats | None
    load_difference: float
    bytes_difference: int
    events_difference: int
    rate_ratio: float | None
    """Green's rate over red's; None where either has none."""


class EdgeDifference(Model):
    """An edge of either graph, those of the markers ``(start)`` and ``(end)`` among them."""

    source: str
    target: str
    side: Side
    green: int
    """Count in the first graph."""
    red: int
    share_difference: float
    """Difference of the shares that the edge has of all edges of its graph."""


class Comparison(Model):
    """What sets two graphs apart: the partition colouring of [DFG], and the numbers behind it."""

    version: int = DFG_VERSION
    green: str
    """What the first graph is called."""
    red: str
    mapping: str
    nodes: list[NodeDifference]
    """The largest differences in load first."""
    edges: list[EdgeDifference]
    """The largest differences in shares first."""
    distance: float = Field(ge=0, le=1)
    """0: alike in what follows what and how often; 1: nothing in common."""
    load_distance: float = Field(0.0, ge=0, le=1)
    """The same for where the time goes: share of the durations that is spent in other activities."""
    bytes_distance: float = Field(0.0, ge=0, le=1)
    """The same for the bytes."""


class Outlier(Model):
    """Whether a run is unlike others."""

    names: list[str]
    """Of the others."""
    distances: list[float]
    """Distance of the run's graph to each of them."""
    usual: float | None
    """Median distance of one of the others to the nearest of the rest; None with fewer than three."""
    threshold: float | None
    """Distance to the nearest from which on the run is an outlier."""
    outlier: bool | None
    """None where there are too few others to tell."""


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
    """By start."""
    left_out: int = 0
    """Later events beyond the bound."""


class GraphReport(Model):
    """The answer of ``iotide dfg``."""

    version: int = DFG_VERSION
    files: list[str]
    source: str
    wall_clock: bool
    """False where the zero of the trace's clock is not known; times then count from it."""
    filtered_out: int = Field(0, ge=0)
    """Events that the filter left out, or that are on neither side of a comparison."""
    graph: Graph
    """With a comparison, that of both sides together."""
    comparison: Comparison | None = None
    outlier: Outlier | None = None
    timeline: Timeline | None = None
    problems: list[InputProblem] = Field(default_factory=list)
    problems_total: int = 0
    not_carried: list[NotCarried] = Field(default_factory=list)
    """What the traces say and the graph cannot know of; most frequent first."""
