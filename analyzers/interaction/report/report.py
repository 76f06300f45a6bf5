"""Conversion of an interaction graph's tables to the public ranking."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Final

import numpy as np
import numpy.typing as npt

from ....events.kernel import COMM
from ....results.interaction import MAX_COMMUNITIES, Actor, Community, Component, Ranking
from ...common.sorting import sorted_distinct
from ...common.state import Floats, Ints, Rows
from ...dfg.spec.mapping import Names
from ..graph.communities import HOW_TO_INSTALL, communities_of, connections_of
from ..graph.network import Network, network_of
from ..graph.ranking import converged, once, start_weights
from ..intake.keys import BY_RANK, GUEST, SPACE
from ..settings import InteractionSettings
from ..tables import LINK_KINDS, Tables
from .listing import Listing, joins, kinds_of

_FORK: Final = LINK_KINDS.index("fork")
_MAX_GENERATIONS: Final = 64  # maximum number of forks over which names are inherited


def names_of(tables: Tables) -> Ints:
    """Return the number of the file that names each actor, 0 or less if unnamed.

    A thread is named after its process. A process that never executed another program is named after its maker.
    """
    name: Ints = tables.actors["name"].copy()
    if not len(name):
        return name
    order = np.argsort(tables.keys)
    process = tables.keys // SPACE * SPACE + tables.actors["pid"]
    at = order[np.minimum(np.searchsorted(tables.keys, process, sorter=order), len(order) - 1)]
    lead = np.where((tables.keys[at] == process) & (tables.actors["pid"] > 0), at, np.arange(len(name)))
    maker = np.full(len(name), -1, np.intp)
    forks = tables.kinds == _FORK
    maker[tables.targets[forks]] = tables.sources[forks]
    for _ in range(_MAX_GENERATIONS):
        name = np.where(name > 0, name, name[lead])
        lacking = np.flatnonzero((name <= 0) & (maker >= 0))
        heir = lacking[name[maker[lacking]] > 0]
        if not len(heir):
            break
        name[heir] = name[maker[heir]]
    return name


def short_name(path: str) -> str:
    """Return the display name for the path of a program. The text of a kernel event has one, too.

    >>> short_name("/usr/bin/cat"), short_name("comm:kworker/0:1")
    ('cat', 'kworker/0:1')
    """
    return path.removeprefix(COMM) if path.startswith(COMM) else path.rpartition("/")[2]


MAX_LISTED: Final = 10_000
"""Maximum number of actors, files and edges in a result, each."""
_MAX_COMPONENTS: Final = 1000  # maximum number of reported components
_FEW: Final = 8
"""Maximum size of a component in which rare vertices are not pruned."""


def ranking_of(
    tables: Tables, settings: InteractionSettings, names: Names, spaces: list[tuple[str, str]], job: str
) -> Ranking:
    """Compute the ranking.

    Args:
        tables: columns of the graph.
        settings: settings of the ranking.
        names: calls and files by number.
        spaces: job and host of each space of thread numbers.
        job: name of the graph.
    """
    if not len(tables.keys):
        return Ranking(
            job=job, by=settings.by, start=settings.start, actors=[], files=[], edges=[], components=[], pruned=[],
            alone=0, events=tables.events,
        )  # fmt: skip
    return _RankingBuilder(tables, settings, names, spaces, job).ranking()


class _RankingBuilder:
    """Intermediate results of a ranking."""

    def __init__(
        self, tables: Tables, settings: InteractionSettings, names: Names, spaces: list[tuple[str, str]], job: str
    ) -> None:
        self._tables, self._settings, self._names, self._spaces, self._job = tables, settings, names, spaces, job
        lost = tables.channel_names.overflowed
        self._notes = [f"{lost:,} files, pipes and sockets beyond the bound join nobody"] if lost else []
        self._led: set[int] | None = None
        self._tids: dict[int, list[int]] | None = None
        jobs = _numbered([name for name, _ in spaces])
        hosts = _numbered([host for _, host in spaces])
        whole = network_of(tables, settings.by, jobs, hosts, forks=settings.forks)
        self._named = names_of(tables)
        self._main = self._representatives(whole)
        self._labels = [self._label(int(row)) for row in self._main]
        self._sums = {name: self._sum(whole, name) for name in ("events", "cpu_ns", "bytes_read", "bytes_written")}
        self._sums["threads"] = np.bincount(whole.node_of, minlength=whole.nodes)
        volume = _volume(whole)
        keep = np.ones(whole.nodes, np.bool_)
        if settings.by in ("thread", "process", "rank"):
            keep = np.array([not any(fnmatchcase(name, p) for p in settings.background) for name in self._labels])
        keep &= ~self._rare(whole, keep)
        self._pruned = np.flatnonzero(~keep & (volume > 0))
        self._pruned_volume = volume
        self._network = whole.without(keep)
        part, self._file_part = self._network.components(keep)
        self._part, self._file_part, self._sizes = _by_weight(part, self._file_part, _volume(self._network))
        self._volume = _volume(self._network)
        start = start_weights(self._use(), self._part)
        self._once = once(self._network, start, self._part)
        self._converged = converged(self._network, start, self._part, settings.damping)
        self._kinds = kinds_of(tables, self._network)
        self._connections = connections_of(self._network, joins(self._kinds))
        self._communities = communities_of(self._network, self._connections, self._part)
        if self._communities is None:
            self._notes.append(HOW_TO_INSTALL)
        elif self._communities.omitted:
            self._notes.append(f"communities were looked for without the {self._communities.omitted:,} weakest edges")

    def ranking(self) -> Ranking:
        tables = self._tables
        order = np.lexsort((-self._converged, -self._once, self._part))
        inside = order[self._part[order] >= 0]
        shown = inside[:MAX_LISTED]
        listing = Listing(tables, self._network, self._kinds, self._connections, self._part, self._file_part)
        files = listing.busiest(MAX_LISTED)
        edges, omitted = listing.edges(shown, files, MAX_LISTED)
        return Ranking(
            job=self._job,
            by=self._settings.by,
            start=self._settings.start,
            actors=[self._actor(int(node)) for node in shown],
            files=listing.files(files),
            edges=edges,
            components=self._components(inside),
            pruned=[
                self._actor(int(node)) for node in self._pruned[np.argsort(-self._pruned_volume[self._pruned])][:100]
            ],
            alone=int(np.count_nonzero(self._alone())),
            events=tables.events,
            device_wakeups=tables.device_wakeups,
            void_wakeups=tables.void_wakeups,
            dropped_events=tables.dropped,
            omitted_edges=omitted + max(0, len(inside) - MAX_LISTED),
            notes=self._notes,
            first_s=tables.first_ns / 1e9,
            last_s=tables.last_ns / 1e9,
        )

    def _rare(self, network: Network, keep: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Return which vertices of large components together have at most ``min_share`` of the interactions."""
        kept = network.without(keep)
        part, _ = kept.components(keep)
        volume = _volume(kept)
        inside = np.flatnonzero(part >= 0)
        order = inside[np.lexsort((volume[inside], part[inside]))]
        label, own = part[order], volume[order]
        begin, end = np.searchsorted(label, label), np.searchsorted(label, label, side="right")
        sums = np.concatenate(([0.0], np.cumsum(own)))
        # vertices with equal volumes are pruned or kept together
        ties = np.flatnonzero(np.append((label[1:] != label[:-1]) | (own[1:] != own[:-1]), True)) + 1
        with_ties = ties[np.searchsorted(ties, np.arange(1, len(order) + 1))]
        share = (sums[with_ties] - sums[begin]) / np.maximum(sums[end] - sums[begin], 1.0)
        rare = np.zeros(network.nodes, np.bool_)
        rare[order[(share <= self._settings.min_share) & (end - begin > _FEW)]] = True
        return rare

    def _alone(self) -> npt.NDArray[np.bool_]:
        """Return which vertices acted but have no interactions."""
        alone = (self._part < 0) & (self._sums["events"] > 0)
        alone[self._pruned] = False
        return alone

    def _use(self) -> Floats:
        wanted = self._settings.start
        if wanted == "equal":
            return np.zeros(self._network.nodes)
        sums = self._sums
        use = sums["cpu_ns"] if wanted == "cpu" else sums["bytes_read"] + sums["bytes_written"]
        if not use.any():
            what = "time on processors" if wanted == "cpu" else "bytes moved"
            self._notes.append(f"the trace tells no {what}: start ranks are equal")
        return use.astype(np.float64)

    def _sum(self, network: Network, column: str) -> Ints:
        weights = self._tables.actors[column]
        return np.bincount(network.node_of, weights=weights, minlength=network.nodes).astype(np.int64)

    def _representatives(self, network: Network) -> Rows:
        """Return the row of each vertex's representative thread.

        It is the first of the process, otherwise the busiest.
        """
        actors, tid = self._tables.actors, self._tables.keys % SPACE
        first = np.where(actors["pid"] > 0, actors["pid"], tid) == tid
        order = np.lexsort((actors["events"], self._named > 0, first, network.node_of))
        last = np.searchsorted(network.node_of[order], np.arange(network.nodes), side="right") - 1
        rows: Rows = order[last]
        return rows

    def _label(self, row: int) -> str:
        tables, by = self._tables, self._settings.by
        space, tid = divmod(int(tables.keys[row]), SPACE)
        rank = int(tables.actors["rank"][row])
        job, host = self._spaces[space]
        if by == "job":
            return job
        if by == "host":
            return host or "(host not known)"
        number = int(self._named[row])
        if number > 0:
            return short_name(self._names.files[number].path)
        if rank >= 0:
            return f"rank {rank}"
        return "guest process" if tid >= GUEST else "process"

    def _actor(self, node: int) -> Actor:
        tables, row = self._tables, int(self._main[node])
        space, tid = divmod(int(tables.keys[row]), SPACE)
        job, host = self._spaces[space]
        by = self._settings.by
        one = by in ("thread", "process")
        pid = int(tables.actors["pid"][row])
        sums = self._sums
        communities = self._communities
        return Actor(
            id=node,
            name=self._labels[node],
            job=job,
            host=host if by != "job" else "",
            pid=max(pid, 0) if one else 0,
            tid=pid if by == "process" and pid > 0 else tid if one and tid < BY_RANK else 0,
            rank=int(tables.actors["rank"][row]) if by not in ("host", "job") else -1,
            threads=int(sums["threads"][node]),
            tids=self._threads().get(node, []),
            events=int(sums["events"][node]),
            cpu_s=float(sums["cpu_ns"][node]) / 1e9,
            bytes_read=int(sums["bytes_read"][node]),
            bytes_written=int(sums["bytes_written"][node]),
            component=int(self._part[node]) + 1,
            community=0 if communities is None or self._part[node] < 0 else int(communities.of_node[node]),
            rank_once=float(self._once[node]),
            rank_converged=float(self._converged[node]),
            interactions=int(self._pruned_volume[node] if self._part[node] < 0 else self._volume[node]),
        )

    def _threads(self) -> dict[int, list[int]]:
        """Return process and thread numbers of the leaders."""
        if self._tids is None:
            node_of, leaders = self._network.node_of, sorted(self._leaders())
            mine = np.flatnonzero(np.isin(node_of, leaders))
            tids, pids = self._tables.keys[mine] % SPACE, self._tables.actors["pid"][mine]
            found: dict[int, set[int]] = {node: set() for node in leaders}
            for node, tid, pid in zip(node_of[mine].tolist(), tids.tolist(), pids.tolist(), strict=True):
                found[node].update(number for number in (tid, pid) if 0 < number < BY_RANK)
            self._tids = {node: sorted(numbers) for node, numbers in found.items()}
        return self._tids

    def _leaders(self) -> set[int]:
        """Return the vertices that are leaders of the listed components."""
        if self._led is None:
            order = np.lexsort((-self._converged, -self._once, self._part))
            inside = order[self._part[order] >= 0]
            part = self._part[inside]
            place = np.arange(len(inside)) - np.searchsorted(part, part)
            self._led = set(inside[(place < self._settings.top) & (part < _MAX_COMPONENTS)].tolist())
        return self._led

    def _groups(self, members: Rows) -> list[Community]:
        """Return the communities of a component.

        Args:
            members: vertices of the component, highest rank first.
        """
        if self._communities is None:
            return []
        of = self._communities.of_node[members]
        return [
            Community(number=number, actors=len(mine), leaders=mine[: self._settings.top].tolist())
            for number in range(1, min(int(of.max(initial=0)), MAX_COMMUNITIES) + 1)
            for mine in (members[of == number],)
        ]

    def _components(self, inside: Rows) -> list[Component]:
        parts = len(self._sizes)
        actors = np.bincount(self._part[self._part >= 0], minlength=parts)
        files = np.bincount(self._file_part[(self._file_part >= 0) & ~self._connections.private], minlength=parts)
        begins = np.searchsorted(self._part[inside], np.arange(parts))
        total = self._sizes.sum()
        communities = self._communities
        return [
            Component(
                number=part + 1,
                actors=int(actors[part]),
                files=int(files[part]),
                interactions=int(self._sizes[part]),
                share=min(float(self._sizes[part] / total), 1.0) if total else 0.0,
                communities=self._groups(inside[begins[part] : begins[part] + int(actors[part])]),
                modularity=None if communities is None else communities.modularity.get(part),
                leaders=inside[begins[part] : begins[part] + min(self._settings.top, int(actors[part]))].tolist(),
            )
            for part in range(min(parts, _MAX_COMPONENTS))
        ]


def _numbered(texts: list[str]) -> Ints:
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(text, len(numbers)) for text in texts], np.int64)


def _volume(network: Network) -> Floats:
    """Return the number of interactions of each vertex, given and received."""
    links = network.links.sum(axis=0) + network.links.sum(axis=1)
    volume: Floats = links + network.writes.sum(axis=1) + network.reads.sum(axis=0)
    return volume


def _by_weight(part: Rows, files: Rows, volume: Floats) -> tuple[Rows, Rows, Ints]:
    """Return components numbered by descending interactions, and their interactions."""
    labels = sorted_distinct(part[part >= 0])
    if not len(labels):
        return part, np.full(len(files), -1, np.intp), np.zeros(0, np.int64)
    size = np.bincount(part[part >= 0], weights=volume[part >= 0], minlength=int(labels[-1]) + 1)[labels]
    order = np.argsort(-size, kind="stable")
    number = np.full(int(max(labels[-1], files.max(initial=0))) + 2, -1, np.intp)
    number[labels[order]] = np.arange(len(labels))
    return (
        np.where(part >= 0, number[part], -1),
        np.where(files >= 0, number[files], -1),
        (size[order] / 2).astype(np.int64),
    )
