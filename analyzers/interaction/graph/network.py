"""Graph as matrices: vertices of the chosen kind, links between them, and files as conduits.

Processes that use one file are connected through it instead of pairwise: n users are n edges, not n * n.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ....results.interaction_kinds import Grouping
from ...common.state import Ints, Rows
from ..bounded_table import NEVER
from ..intake.keys import BY_RANK, SPACE
from ..tables import LINK_KINDS, Tables

_FORK: Final = LINK_KINDS.index("fork")

Matrix = Any
"""scipy.sparse.csr_array of float64; SciPy has no types."""


@dataclass(frozen=True, slots=True)
class Network:
    """Vertices and edges.

    Attributes:
        node_of: vertex of each actor, int[actors].
        nodes: number of acting vertices.
        channel: channel number of each file vertex.
        links: interactions from vertex to vertex, [nodes, nodes], without self-links.
        writes: from vertex to file, [nodes, files].
        reads: from file to vertex, [files, nodes]: data that another vertex has written, or writes meanwhile.
    """

    node_of: Rows
    nodes: int
    channel: Ints
    links: Matrix
    writes: Matrix
    reads: Matrix

    def components(self, keep: npt.NDArray[np.bool_]) -> tuple[Rows, Rows]:
        """Return the component of each vertex and of each file, from 0. Returns -1 for vertices without interactions.

        Args:
            keep: whether each vertex is kept (not pruned).
        """
        nodes, files = self.nodes, len(self.channel)
        links, writes, reads = (matrix.tocoo() for matrix in (self.links, self.writes, self.reads))
        source = np.concatenate((links.row, writes.row, reads.col))
        target = np.concatenate((links.col, writes.col + nodes, reads.row + nodes))
        there = keep[source] & keep[np.where(target < nodes, target, source)]
        graph = sparse.csr_array(
            (np.ones(int(there.sum())), (source[there], target[there])), shape=(nodes + files, nodes + files)
        )
        _, label = sparse.csgraph.connected_components(graph, directed=False)
        joined = np.bincount(label[:nodes][keep], minlength=int(label.max(initial=-1)) + 1) > 1
        part = np.where(joined[label], label, -1)
        part[:nodes][~keep] = -1
        return part[:nodes], part[nodes:]

    def without(self, keep: npt.NDArray[np.bool_]) -> Network:
        """Return the graph without the edges of pruned vertices."""
        mask = sparse.diags_array(keep.astype(np.float64)).tocsr()
        links, writes, reads = mask @ self.links @ mask, mask @ self.writes, self.reads @ mask
        for matrix in (links, writes, reads):
            matrix.eliminate_zeros()
        return Network(self.node_of, self.nodes, self.channel, links, writes, reads)


def network_of(tables: Tables, by: Grouping, jobs: Ints, hosts: Ints, *, forks: bool) -> Network:
    """Create the graph.

    Args:
        tables: columns of the interaction graph.
        by: kind of vertex.
        jobs: job number of each space.
        hosts: host number of each space.
        forks: whether forks are edges.
    """
    space, tid = np.divmod(tables.keys, SPACE)
    if by == "process":
        pid = tables.actors["pid"]
        group = space * SPACE + np.where(pid > 0, pid, tid)
    elif by == "rank":
        rank = tables.actors["rank"]
        group = np.where(rank >= 0, jobs[space] * SPACE + BY_RANK + rank, tables.keys + 2**62)
    elif by == "host":
        group = hosts[space]
    elif by == "job":
        group = jobs[space]
    else:
        group = tables.keys
    found, node_of = np.unique(group, return_inverse=True)
    nodes = len(found)
    source, target = node_of[tables.sources], node_of[tables.targets]
    kept = (source != target) & ((tables.kinds != _FORK) | forks)
    shape = (nodes, nodes)
    links = sparse.coo_array(
        (tables.counts[kept].astype(np.float64), (source[kept], target[kept])), shape=shape
    ).tocsr()
    writes, reads, channel = _flows(tables, node_of)
    return Network(
        node_of=node_of,
        nodes=nodes,
        channel=channel,
        links=links,
        writes=_matrix(*writes, (nodes, len(channel))),
        reads=_matrix(*reads, (nodes, len(channel))).T.tocsr(),
    )


def _matrix(row: Rows, column: Rows, weight: Ints, shape: tuple[int, int]) -> Matrix:
    return sparse.coo_array((weight.astype(np.float64), (row, column)), shape=shape).tocsr()


def _flows(tables: Tables, node_of: Rows) -> tuple[tuple[Rows, Rows, Ints], tuple[Rows, Rows, Ints], Ints]:
    """Return the writes, the receipts of data from others, and the channels with any flow."""
    pair, which = np.unique(node_of[tables.users] * SPACE + tables.channels, return_inverse=True)
    node, channel = np.divmod(pair, SPACE)

    def total(name: str) -> Ints:
        return np.bincount(which, weights=tables.uses[name], minlength=len(pair)).astype(np.int64)

    def extreme(name: str, start: int, at: np.ufunc) -> Ints:
        column = np.full(len(pair), start, np.int64)
        at.at(column, which, tables.uses[name])
        return column

    reads, writes, collectives = total("reads"), total("writes"), total("collectives")
    first = extreme("first_write", NEVER, np.minimum)
    last, last_read = extreme("last_write", -NEVER, np.maximum), extreme("last_read", -NEVER, np.maximum)
    files, file = np.unique(channel, return_inverse=True)
    # earliest write of another: of a file's two earliest writers, the one that is not the vertex itself
    earliest, second, by = _two_lowest(first, file, len(files))
    others = np.where(by[file] == np.arange(len(pair)), second[file], earliest[file])
    receives = (reads > 0) & (others < NEVER) & (last_read > others)
    meanwhile = (writes > 0) & _overlaps(first, last, file)
    together = (collectives > 0) & (np.bincount(file, weights=collectives > 0, minlength=len(files))[file] > 1)
    sends = np.maximum(np.where(writes > 0, writes, 0), np.where(together, collectives, 0))
    gets = np.where(receives, reads, 0)
    gets = np.maximum(gets, np.where(meanwhile, writes, 0))
    gets = np.maximum(gets, np.where(together, collectives, 0))
    flows = np.bincount(file, weights=gets, minlength=len(files)) > 0
    number = np.cumsum(flows) - 1
    out, into = (sends > 0) & flows[file], gets > 0
    return (
        (node[out], number[file[out]], sends[out]),
        (node[into], number[file[into]], gets[into]),
        files[flows],
    )


def _two_lowest(value: Ints, group: Rows, groups: int) -> tuple[Ints, Ints, Rows]:
    """Return the two lowest values of each group (NEVER if missing). It also returns the row of the lowest."""
    order = np.lexsort((value, group))
    begins = np.searchsorted(group[order], np.arange(groups))
    padded = np.append(value[order], NEVER)
    owner = np.append(group[order], -1)
    second = np.where(owner[begins + 1] == np.arange(groups), padded[begins + 1], NEVER)
    return padded[begins], second, order[begins]


def _overlaps(first: Ints, last: Ints, group: Rows) -> npt.NDArray[np.bool_]:
    """Return which intervals overlap another one of their group. An interval that ends before it begins is ignored."""
    rows = np.flatnonzero(last >= first)
    overlaps = np.zeros(len(first), np.bool_)
    if len(rows) < 2:
        return overlaps
    order = rows[np.lexsort((first[rows], group[rows]))]
    same = group[order][1:] == group[order][:-1]
    # latest end so far within the group, by ranks of ends: each group's ranks are above those of the one before
    ends = np.argsort(np.argsort(last[order], kind="stable"), kind="stable") + len(order) * group[order]
    latest = np.maximum.accumulate(ends)
    of_rank = np.sort(last[order])
    until = of_rank[latest - len(order) * group[order]]
    meets = same & (first[order][1:] < until[:-1])
    overlaps[order[1:][meets]] = True
    # the next interval suffices, since it begins before any later one
    nexts = same & (first[order][1:] < last[order][:-1])
    overlaps[order[:-1][nexts]] = True
    return overlaps
