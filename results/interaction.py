"""Interaction graphs and rankings, the same on every channel.

Source: [Ranking]. Times are seconds, volumes bytes.
"""

from __future__ import annotations

from pydantic import Field

from .base import Model
from .interaction_kinds import EdgeKind, Grouping, Start
from .traces.analysis import InputProblem

RANK_VERSION = 1
MOST_COMMUNITIES = 1000
"""Communities of a component that are told at most."""


class Actor(Model):
    """A vertex that acts: a thread, a process, a rank, a host or a job."""

    id: int = Field(ge=0)
    name: str
    """Its command where that is known."""
    job: str = ""
    host: str = ""
    pid: int = 0
    """0 where it is not known, and for what is no process."""
    tid: int = 0
    rank: int = -1
    threads: int = Field(1, ge=1)
    """Threads of which something is known."""
    tids: list[int] = Field(default_factory=list)
    """Numbers of its threads, of leaders only."""
    events: int = Field(ge=0)
    cpu_s: float
    """Time on a processor, as far as a kernel trace tells."""
    bytes_read: int
    bytes_written: int
    component: int = Field(ge=0)
    """Number of its component, from 1; 0 where it interacts with nobody or was pruned."""
    community: int = Field(0, ge=0)
    """Number of its community within the component, from 1; 0 where communities were not looked for."""
    rank_once: float = Field(ge=0)
    """The rank of [Ranking]: one iteration, sums to 1 over the component."""
    rank_converged: float = Field(ge=0)
    """PageRank with damping, iterated to its fixed point; sums to 1 over the component."""
    interactions: int = Field(ge=0)
    """Interactions in which it takes part, given and taken."""


class SharedFile(Model):
    """A vertex that processes interact through: a file, or a pipe or socket that more than two of them use."""

    id: int = Field(ge=0)
    path: str
    kind: EdgeKind
    writers: int = Field(ge=0)
    readers: int = Field(ge=0)
    """Processes that read after another has written, or write while another does."""
    bytes_read: int
    bytes_written: int
    component: int = Field(ge=0)


class Interaction(Model):
    """A directed edge: what the source does reaches the target. One of the ends may be a file."""

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
    """Pipes or connections that it goes through, of which both ends are the only users; 0 for other kinds."""


class Community(Model):
    """Processes of a component that interact with one another more than with its others."""

    number: int = Field(ge=1)
    actors: int = Field(ge=1)
    leaders: list[int]
    """Ids of the top actors, highest rank first."""


class Component(Model):
    """Processes that interact with one another and with no others, largest share of the interactions first."""

    number: int = Field(ge=1)
    actors: int = Field(ge=2)
    files: int = Field(ge=0)
    interactions: int = Field(ge=0)
    share: float = Field(ge=0, le=1)
    """Of all interactions that count."""
    communities: list[Community] = Field(default_factory=list)
    """Largest first; empty where they were not looked for."""
    modularity: float | None = None
    """Of the division into communities; None where it was not looked for."""
    leaders: list[int]
    """Ids of the top actors, highest rank first."""


class Ranking(Model):
    """An interaction graph: its vertices, edges, components and leaders."""

    version: int = RANK_VERSION
    job: str = ""
    by: Grouping
    start: Start
    actors: list[Actor]
    """Those that interact, highest rank first within each component."""
    files: list[SharedFile]
    edges: list[Interaction]
    """Largest count first."""
    components: list[Component]
    pruned: list[Actor]
    """Background processes that were left out, most interactions first."""
    alone: int = Field(ge=0)
    """Actors that interact with nobody."""
    events: int = Field(ge=0)
    device_wakeups: int = Field(0, ge=0)
    """Wake-ups by interrupts and timers, which belong to no process."""
    void_wakeups: int = Field(0, ge=0)
    """Wake-ups of threads that did not wait."""
    dropped_events: int = Field(0, ge=0)
    """Events of actors, pairs and files beyond the bounds."""
    omitted_edges: int = Field(0, ge=0)
    """Edges and files beyond what an answer lists."""
    notes: list[str] = Field(default_factory=list)
    first_s: float = 0.0
    last_s: float = 0.0


class Culprit(Model):
    """A job that moved data while another one did, or that it interacts with through files."""

    job: str
    user: str = ""
    share: float = Field(ge=0, le=1)
    """Of all bytes that jobs moved on file systems of the disturbed job while that did I/O."""
    bytes: int = Field(ge=0)
    """Those bytes."""
    together_s: float = Field(ge=0)
    """How long both did I/O at once."""
    file_systems: list[str]
    """Mount points that both use; empty where neither's are known, so that all of them count."""
    files: list[str]
    """Files through which both interact, most interactions first."""
    interactions: int = Field(ge=0)
    """With those files, given and taken: a write beside another writer's is both."""


class Culprits(Model):
    """Who disturbs a job: what others moved while it did I/O."""

    version: int = RANK_VERSION
    job: str
    start_s: float
    end_s: float
    active_s: float = Field(ge=0)
    """How long the job did I/O in that time."""
    share: float = Field(ge=0, le=1)
    """Its own share of the bytes moved meanwhile; with those of all others it makes 1."""
    culprits: list[Culprit]
    """Largest share first."""


class RankReport(Model):
    """What ``iotide rank --json`` prints."""

    version: int = RANK_VERSION
    files: list[str]
    source: str
    wall_clock: bool
    ranking: Ranking
    kept_events: int | None = None
    """Lines or events that ``--filter-out`` kept; None where nothing was filtered."""
    all_events: int | None = None
    problems: list[InputProblem] = Field(default_factory=list)
    problems_total: int = 0
