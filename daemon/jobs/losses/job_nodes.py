"""On which of its nodes a job has a collector, and on which it has none."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple

from ....events import BatchJob
from ....events.node_lists import nodes_in

NODES_LATE_S: Final = 10.0
"""How long after a job's first event a node's collector may be to come."""
_MOST_HOSTS: Final = 100_000
_MOST_NAMES: Final = 64


class UnseenNodes(NamedTuple):
    """Nodes without a collector: how many, and the first of their names, as far as they are known."""

    total: int
    names: list[str]


NONE_UNSEEN: Final = UnseenNodes(0, [])


class JobNodes:
    """The nodes whose collectors say that they serve a job.

    Attributes:
        hosts: their names.
        collectors: open streams by which collectors introduce the job; they have neither events nor losses.
    """

    def __init__(self) -> None:
        self.collectors: set[str] = set()
        self.hosts: frozenset[str] = frozenset()

    def served(self, host: str) -> None:
        """Takes in that there is a collector."""
        if host not in self.hosts and len(self.hosts) < _MOST_HOSTS:
            self.hosts |= {host}

    def unseen(self, batch: BatchJob, heard: Collection[str]) -> UnseenNodes:
        """Returns the nodes without a collector; none of a job whose nodes have no collectors of its own.

        Args:
            batch: what the batch system says of the job.
            heard: nodes that streams have come from.
        """
        if not self.hosts:
            return NONE_UNSEEN
        here = {_short(host) for host in (*self.hosts, *heard)}
        if 0 < batch.node_count <= len(here):
            return NONE_UNSEEN
        is_whole = not batch.nodes.endswith("...")
        named = nodes_in(batch.nodes) if is_whole else ()
        lacking = [name for name in named if _short(name) not in here]
        count = max(len(named) or batch.node_count, batch.node_count) - len(here)
        if count <= 0 or not lacking or len(lacking) != count:  # hosts have other names than nodes
            return UnseenNodes(max(count, 0), [])
        return UnseenNodes(count, lacking[:_MOST_NAMES])


def _short(host: str) -> str:
    return host.partition(".")[0].lower()
