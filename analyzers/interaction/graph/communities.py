"""Communities within components by modularity (the outlook of [Ranking]), and channels between two vertices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ...common.state import Floats, Rows
from .network import Matrix, Network


@dataclass(frozen=True, slots=True)
class Connections:
    """Data flow between the two ends of each connection.

    Attributes:
        private: whether each file of the network is such a connection, bool[files].
        source: writing vertex, one row per used direction.
        target: reading vertex.
        file: file of the connection.
        count: number of writes by the source.
    """

    private: npt.NDArray[np.bool_]
    source: Rows
    target: Rows
    file: Rows
    count: Floats

    def links(self, nodes: int) -> Matrix:
        """Return the data flow as interactions from vertex to vertex, [nodes, nodes]."""
        return sparse.coo_array((self.count, (self.source, self.target)), shape=(nodes, nodes)).tocsr()


def connections_of(network: Network, joins: npt.NDArray[np.bool_]) -> Connections:
    """Find the connections that two vertices use.

    Args:
        network: pruned graph.
        joins: whether each of its files is a pipe or socket.
    """
    used = (network.writes + sparse.csr_array(network.reads.T)).tocsc()
    private = joins & (np.diff(used.indptr) == 2)
    files = np.flatnonzero(private)
    ends = used.indices[used.indptr[files][:, None] + np.arange(2)].astype(np.intp)
    source, target, file = ends.ravel(), ends[:, ::-1].ravel(), np.repeat(files, 2)
    count: Floats = np.zeros(0)
    if len(files):
        count = network.writes[source, file]
        went = (count > 0) & (network.reads[file, target] > 0)
        source, target, file, count = source[went], target[went], file[went], count[went]
    return Connections(private, source, target, file, count)


MAX_EDGES: Final = 20_000  # maximum number of edges in the search
_SEED: Final = 1
HOW_TO_INSTALL: Final = "communities need NetworkX: pip install 'iotide[graph]'"


@dataclass(frozen=True, slots=True)
class Communities:
    """Division of each component.

    Attributes:
        of_node: community of each vertex, from 1 in each component; 0 if there is none.
        counts: number of communities by component number.
        modularity: modularity of the division by component number.
        omitted: number of weakest edges excluded from the search.
    """

    of_node: Rows
    counts: dict[int, int]
    modularity: dict[int, float]
    omitted: int


def communities_of(network: Network, connections: Connections, part: Rows) -> Communities | None:
    """Divide each component so that most interactions stay within a community; None without NetworkX.

    Vertices and the files between them are divided together; directions are ignored.
    """
    try:
        import networkx
    except ImportError:
        return None
    links = (network.links + connections.links(network.nodes)).tocoo()
    shared = sparse.diags_array((~connections.private).astype(np.float64)).tocsr()
    writes, reads = (matrix.tocoo() for matrix in (network.writes @ shared, shared @ network.reads))
    one = np.concatenate((links.row, writes.row, reads.col)).astype(np.int64)
    two = np.concatenate((links.col, writes.col + network.nodes, reads.row + network.nodes)).astype(np.int64)
    weight: Floats = np.concatenate((links.data, writes.data, reads.data))
    inside = (part[one] >= 0) & (weight > 0)
    one, two, weight = one[inside], two[inside], weight[inside]
    strongest = np.argsort(-weight, kind="stable")[:MAX_EDGES]
    graphs: dict[int, networkx.Graph] = {}
    for a, b, value in zip(one[strongest].tolist(), two[strongest].tolist(), weight[strongest].tolist(), strict=True):
        graph = graphs.setdefault(int(part[a]), networkx.Graph())
        before = graph.get_edge_data(a, b, {"weight": 0.0})["weight"]
        graph.add_edge(a, b, weight=before + value)
    of_node = np.zeros(network.nodes, np.intp)
    counts, modularity = {}, {}
    for number, graph in graphs.items():
        division = networkx.community.louvain_communities(graph, weight="weight", seed=_SEED)
        division.sort(key=lambda group: (-len(group), min(group)))
        # ignore communities that consist of files only
        groups = [acting for group in division if (acting := [node for node in group if node < network.nodes])]
        for at, group in enumerate(groups, 1):
            of_node[group] = at
        counts[number] = len(groups)
        modularity[number] = float(networkx.community.modularity(graph, division, weight="weight"))
    return Communities(of_node, counts, modularity, len(weight) - len(strongest))
