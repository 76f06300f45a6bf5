"""Nodes of a job with and without a collector."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple

from ....events import BatchJob
from ....events.batch_job import nodes_in

NODES_LATE_S: Final = 10.0
"""Time after a job's first event for a node's collector to appear, s."""
_MAX_HOSTS: Final = 100_000
_MAX_NAMES: Final = 64


class UnseenNodes(NamedTuple):
    """Nodes without a collector: their number, and the first names, where known."""

    total: int
    names: list[str]


NONE_UNSEEN: Final = UnseenNodes(0, [])


class JobNodes:
    """The nodes whose collectors serve a job.

    Attributes:
        hosts: their names.
        collectors: open streams with which collectors introduce the job, without events or losses.
    """

    def __init__(self) -> None:
        self.collectors: set[str] = set()
        self.hosts: frozenset[str] = frozenset()

    def add_node(self, host: str) -> None:
        """Add a node with a collector."""
        if host not in self.hosts and len(self.hosts) < _MAX_HOSTS:
            self.hosts |= {host}

    def unseen(self, batch: BatchJob, stream_hosts: Collection[str]) -> UnseenNodes:
        """Return the nodes without a collector; none for a job without collectors of its own.

        Args:
            batch: batch system data of the job.
            stream_hosts: nodes of its streams.
        """
        if not self.hosts:
            return NONE_UNSEEN
        present = {_short(host) for host in (*self.hosts, *stream_hosts)}
        if 0 < batch.node_count <= len(present):
            return NONE_UNSEEN
        is_whole = not batch.nodes.endswith("...")
        named = nodes_in(batch.nodes) if is_whole else ()
        missing = [name for name in named if _short(name) not in present]
        count = max(len(named) or batch.node_count, batch.node_count) - len(present)
        if count <= 0 or not missing or len(missing) != count:  # host names differ from node names
            return UnseenNodes(max(count, 0), [])
        return UnseenNodes(count, missing[:_MAX_NAMES])


def _short(host: str) -> str:
    return host.partition(".")[0].lower()
