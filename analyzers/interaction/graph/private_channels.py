"""Pipes and connections between exactly two vertices, which are not listed one by one."""

from __future__ import annotations

from dataclasses import dataclass

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
