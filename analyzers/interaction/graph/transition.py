"""Flow of weight through an interaction graph. Every vertex distributes its weight in shares of its interactions."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ...common.state import Floats
from .network import Matrix, Network


class Flow:
    """Products needed in each iteration, computed once.

    Attributes:
        given: interactions given by each vertex, except those that return to it through a file, or have no reader left
            after pruning.
    """

    def __init__(self, network: Network) -> None:
        width: Floats = network.reads.sum(axis=1)
        self._shared = np.divide(1.0, width, out=np.zeros_like(width), where=width > 0)
        # share of the weight given to files that would return to the vertex
        self._returned: Floats = network.writes.multiply(_turned(network.reads).multiply(self._shared)).sum(axis=1)
        taken: Floats = network.writes @ (width > 0).astype(np.float64)
        self.given = np.maximum(network.links.sum(axis=1) + taken - self._returned, 0.0)
        self._links, self._writes, self._reads = _turned(network.links), _turned(network.writes), _turned(network.reads)

    def passed(self, weight: Floats) -> Floats:
        """Return the weight that reaches each vertex. A file passes on its weight in shares of its readers' calls."""
        each = np.divide(weight, self.given, out=np.zeros_like(weight), where=self.given > 0)
        through = (self._writes @ each) * self._shared
        reached: Floats = self._links @ each + self._reads @ through - each * self._returned
        return np.maximum(reached, 0.0)


def _turned(matrix: Matrix) -> Matrix:
    return sparse.csr_array(matrix.T)
