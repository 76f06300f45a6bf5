"""Interaction graphs and rankings, the same on every channel.

Source: [Ranking]. Times are seconds, volumes bytes.
"""

from __future__ import annotations

from pydantic import Field

from .base import Model
from .interaction_kinds import EdgeKind, Grouping, Start
from .traces.analysis import InputProblem

RANK_VERSION = 1
MAX_COMMUNITIES = 1000
"""Maximum number of communities listed per component."""


class Actor(Model):
    """A vertex that acts: a thread, a process, a rank, a host or a job."""

    id: int = Field(ge=0)
    name: str
    """Its command where known."""
    job: str = ""
    host: str = ""
    pid: int = 0
    """0 where it is unknown, and for vertices that are not processes."""
    tid: int = 0
    rank: int = -1
    threads: int = Field(1, ge=1)
    """Threads of which something is known."""
    tids: list[int] = Field(default_factory=list)
    """Ids of its threads; only for leaders."""
    events: int = Field(ge=0)
    cpu_s: float
    """CPU time as recorded in a kernel trace, s."""
    bytes_read: int
    bytes_written: int
    component: int = Field(ge=0)
    """Number of its component, from 1. 0 where it interacts with no other vertex or was pruned."""
    community: int = Field(0, ge=0)
    """Number of its community within the component, from 1; 0 without a search for communities."""
    rank_once: float = Field(ge=0)
    """The rank of [Ranking]: one iteration, sums to 1 over the component."""
    rank_converged: float = Field(ge=0)
    """PageRank with damping, iterated to its fixed point; sums to 1 over the component."""
    interactions: int = Field(ge=0)
    """Interactions in which it takes part, as source or target."""


class SharedFile(Model):
    """A file through which processes interact, or a pipe or socket of more than two processes."""

    id: int = Field(ge=0)
    path: str
    kind: EdgeKind
    writers: int = Field(ge=0)
    readers: int = Field(ge=0)
    """Processes that read after another process has written, or write while another does."""
    bytes_read: int
    bytes_written: int
    component: int = Field(ge=0)


class Interaction(Model):
    """A directed edge: what the source does reaches the target. Either end may be a file."""

    source: int
    target: int
    source_is_file: bool = False
    target_is_file: bool = False
    kind: EdgeKind
    count: int = Field(ge=0)
    bytes: int = 0
    waited_s: float = 0.0
    """Time that the target waited for the source: locks."""
    connections: int = 0
    """Pipes or connections of the edge whose only users are both ends. 0 for other kinds."""


class Community(Model):
    """Processes of a component that interact more with one another than with the rest."""

    number: int = Field(ge=1)
    actors: int = Field(ge=1)
    leaders: list[int]
    """Ids of the top actors, highest rank first."""


class Component(Model):
    """Processes that interact only with one another; largest share of interactions first."""

    number: int = Field(ge=1)
    actors: int = Field(ge=2)
    files: int = Field(ge=0)
    interactions: int = Field(ge=0)
    share: float = Field(ge=0, le=1)
    """Share of all counted interactions."""
    communities: list[Community] = Field(default_factory=list)
    """Largest first; empty without a search for communities."""
    modularity: float | None = None
    """Modularity of the division into communities; None without a search for them."""
    leaders: list[int]
    """Ids of the top actors, highest rank first."""


class Ranking(Model):
    """An interaction graph: its vertices, edges, components and leaders."""

    version: int = RANK_VERSION
    job: str = ""
    by: Grouping
    start: Start
    actors: list[Actor]
    """Vertices that interact, highest rank first within each component."""
    files: list[SharedFile]
    edges: list[Interaction]
    """Largest count first."""
    components: list[Component]
    pruned: list[Actor]
    """Background processes that were left out, most interactions first."""
    alone: int = Field(ge=0)
    """Vertices without interactions."""
    events: int = Field(ge=0)
    device_wakeups: int = Field(0, ge=0)
    """Wake-ups by interrupts and timers, which belong to no process."""
    void_wakeups: int = Field(0, ge=0)
    """Wake-ups of threads that were not waiting."""
    dropped_events: int = Field(0, ge=0)
    """Events of actors, pairs and files beyond the bounds."""
    omitted_edges: int = Field(0, ge=0)
    """Edges and files beyond the bound on listed ones."""
    notes: list[str] = Field(default_factory=list)
    first_s: float = 0.0
    last_s: float = 0.0


class Culprit(Model):
    """A job with simultaneous I/O, or with interactions through files."""

    job: str
    user: str = ""
    share: float = Field(ge=0, le=1)
    """Share of all bytes that jobs moved on the disturbed job's file systems during its I/O."""
    bytes: int = Field(ge=0)
    """Those bytes."""
    together_s: float = Field(ge=0)
    """Time in which both did I/O, s."""
    file_systems: list[str]
    """Mount points that both use; empty where neither's are known, so that all bytes count."""
    files: list[str]
    """Files through which both interact, most interactions first."""
    interactions: int = Field(ge=0)
    """Interactions through these files, as source or target; concurrent writes count as both."""


class Culprits(Model):
    """Jobs that disturb a job: traffic of other jobs during its I/O."""

    version: int = RANK_VERSION
    job: str
    start_s: float
    end_s: float
    active_s: float = Field(ge=0)
    """Time in which the job did I/O in the interval, s."""
    share: float = Field(ge=0, le=1)
    """The job's own share of the bytes moved in that time. All shares sum to 1."""
    culprits: list[Culprit]
    """Largest share first."""


class RankReport(Model):
    """The output of ``iotide rank --json``."""

    version: int = RANK_VERSION
    files: list[str]
    source: str
    wall_clock: bool
    ranking: Ranking
    kept_events: int | None = None
    """Lines or events that ``--filter-out`` kept; None without filtering."""
    all_events: int | None = None
    problems: list[InputProblem] = Field(default_factory=list)
    problems_total: int = 0
