"""PageRank within components: the single iteration of [Ranking], and the fixed point.

``R(u) = c * sum over v in B_u of R(v) / N_v``: every interaction is an edge, so v distributes its weight in shares of
its interactions. A file immediately passes on its weight to its readers. Source: [Ranking].
"""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy import sparse

from ...common.state import Floats, Rows
from .network import Matrix, Network

_MAX_ITERATIONS: Final = 200  # maximum number of iterations
_CLOSE: Final = 1e-10  # total change of the ranks at which the iteration stops


def start_weights(use: Floats, part: Rows) -> Floats:
    """Return initial ranks that sum to 1 in each component, by use. Equal if nothing in it was used.

    Args:
        use: amounts that the ranks are proportional to, [nodes].
        part: component of each vertex, -1 for none.
    """
    inside = part >= 0
    parts = int(part.max(initial=-1)) + 1
    label = np.where(inside, part, 0)
    used = np.bincount(label, weights=np.where(inside, use, 0.0), minlength=max(parts, 1))
    size = np.bincount(label, weights=inside.astype(np.float64), minlength=max(parts, 1))
    weight = np.divide(1.0, size[label], out=np.zeros(len(part)), where=inside)
    return np.divide(use, used[label], out=weight, where=inside & (used[label] > 0))


def once(network: Network, start: Floats, part: Rows) -> Floats:
    """Return the ranks of [Ranking] after one iteration. They are scaled to sum to 1 in each component."""
    flow = Flow(network)
    ranks = _scaled(flow.passed(start), part)
    nothing = _sums(ranks, part)[np.maximum(part, 0)] == 0  # only vertices without out-edges have used something
    if not (nothing & (part >= 0)).any():
        return ranks
    equal = _scaled(flow.passed(start_weights(np.zeros_like(start), part)), part)
    return np.where(nothing, equal, ranks)


def converged(network: Network, start: Floats, part: Rows, damping: float) -> Floats:
    """Return PageRank at its fixed point. The weight of vertices without out-edges returns to the initial ranks."""
    inside = part >= 0
    flow = Flow(network)
    has_out_edges = flow.given > 0
    ranks = start.copy()
    for _ in range(_MAX_ITERATIONS):
        held = _sums(np.where(inside & ~has_out_edges, ranks, 0.0), part)[np.maximum(part, 0)]
        after = np.where(inside, damping * (flow.passed(ranks) + held * start) + (1 - damping) * start, 0.0)
        after = _scaled(after, part)
        done = float(np.abs(after - ranks).sum()) < _CLOSE
        ranks = after
        if done:
            break
    return ranks


def _sums(values: Floats, part: Rows) -> Floats:
    inside = part >= 0
    parts = max(int(part.max(initial=-1)) + 1, 1)
    return np.bincount(part[inside], weights=values[inside], minlength=parts).astype(np.float64)


def _scaled(values: Floats, part: Rows) -> Floats:
    total = _sums(values, part)[np.maximum(part, 0)]
    return np.where((part >= 0) & (total > 0), values / np.where(total > 0, total, 1.0), 0.0)


class Flow:
    """Flow of weight: every vertex distributes its weight in shares of its interactions.

    The products needed in each iteration are computed once.

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
