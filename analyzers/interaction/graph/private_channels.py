"""Pipes and connections that two vertices have to themselves: nobody needs to see them one by one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ...common.state import Floats, Rows
from .network import Matrix, Network


@dataclass(frozen=True, slots=True)
class Connections:
    """What the two ends of each give each other.

    Attributes:
        private: which files of the network are such connections, bool[files].
        source: who writes, a row for each direction that something went.
        target: who reads it.
        file: through which.
        count: how often the source wrote.
    """

    private: npt.NDArray[np.bool_]
    source: Rows
    target: Rows
    file: Rows
    count: Floats

    def links(self, nodes: int) -> Matrix:
        """Returns the same as interactions from vertex to vertex, [nodes, nodes]."""
        return sparse.coo_array((self.count, (self.source, self.target)), shape=(nodes, nodes)).tocsr()


def connections_of(network: Network, joins: npt.NDArray[np.bool_]) -> Connections:
    """Finds those that two vertices use.

    Args:
        network: the graph, pruned.
        joins: which of its files are pipes or sockets.
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
