"""Files and edges of an interaction graph, one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ...events.interaction import EdgeKind, Interaction, SharedFile
from ..dfg.state import Floats, Rows
from .network import Network
from .tables import LINK_KINDS, Tables


class Listing:
    """Lists what stands between the vertices of components.

    Args:
        tables: what is known of threads.
        network: the graph, pruned.
        part: component of each vertex, -1 for none.
        file_part: component of each file.
    """

    def __init__(self, tables: Tables, network: Network, part: Rows, file_part: Rows) -> None:
        self._tables, self._network, self._part, self._file_part = tables, network, part, file_part
        together = np.unique(tables.channels[tables.uses["collectives"] > 0])
        collective = np.isin(network.channel, together)
        kinds = [tables.channel_names.kind(channel) for channel in network.channel.tolist()]
        self._kinds: list[EdgeKind] = [
            "collective" if shared and kind == "file" else kind
            for kind, shared in zip(kinds, collective.tolist(), strict=True)
        ]

    def busiest(self, most: int) -> Rows:
        """Returns the files with most interactions."""
        through: Floats = self._network.writes.sum(axis=0) + self._network.reads.sum(axis=1)
        files = np.flatnonzero(self._file_part >= 0)
        return files[np.argsort(-through[files], kind="stable")][:most]

    def files(self, chosen: Rows) -> list[SharedFile]:
        """Returns some files."""
        tables, network = self._tables, self._network
        size = int(tables.channels.max(initial=0)) + 1
        read = np.bincount(tables.channels, weights=tables.uses["bytes_read"], minlength=size)
        written = np.bincount(tables.channels, weights=tables.uses["bytes_written"], minlength=size)
        writers, readers = np.diff(network.writes.tocsc().indptr), np.diff(network.reads.indptr)
        return [
            SharedFile(
                id=at,
                path=tables.channel_names.name(channel := int(network.channel[at])),
                kind=self._kinds[at],
                writers=int(writers[at]),
                readers=int(readers[at]),
                bytes_read=int(read[channel]),
                bytes_written=int(written[channel]),
                component=int(self._file_part[at]) + 1,
            )
            for at in chosen.tolist()
        ]

    def edges(self, nodes: set[int], files: set[int], most: int) -> tuple[list[Interaction], int]:
        """Returns the edges between some vertices and files, largest count first, and how many others there are."""
        edges, whole = self._links(nodes)
        network = self._network
        for matrix, column, to_file in (
            (network.writes, "bytes_written", True),
            (network.reads.T, "bytes_read", False),
        ):
            pairs = matrix.tocoo()
            whole += pairs.nnz
            moved = self._moved(column)
            for node, file, count in zip(pairs.row.tolist(), pairs.col.tolist(), pairs.data.tolist(), strict=True):
                if node in nodes and file in files:
                    source, target = (node, file) if to_file else (file, node)
                    edges.append(
                        Interaction(
                            source=source,
                            target=target,
                            source_is_file=not to_file,
                            target_is_file=to_file,
                            kind=self._kinds[file],
                            count=int(count),
                            bytes=int(moved[node, file]),
                        )
                    )
        edges.sort(key=lambda edge: (-edge.count, edge.source, edge.target))
        return edges[:most], whole - len(edges[:most])

    def _links(self, nodes: set[int]) -> tuple[list[Interaction], int]:
        tables, network = self._tables, self._network
        source, target = network.node_of[tables.sources], network.node_of[tables.targets]
        there = (source != target) & (self._part[source] >= 0) & (self._part[target] >= 0)
        pair = source[there] * network.nodes + target[there]
        key, which = np.unique(pair * len(LINK_KINDS) + tables.kinds[there], return_inverse=True)
        count = np.bincount(which, weights=tables.counts[there], minlength=len(key)).tolist()
        waited = np.bincount(which, weights=tables.waited_ns[there], minlength=len(key)).tolist()
        pair, kind = np.divmod(key, len(LINK_KINDS))
        ends = zip((pair // network.nodes).tolist(), (pair % network.nodes).tolist(), kind.tolist(), strict=True)
        edges = [
            Interaction(source=a, target=b, kind=LINK_KINDS[k], count=int(count[at]), waited_s=waited[at] / 1e9)
            for at, (a, b, k) in enumerate(ends)
            if a in nodes and b in nodes
        ]
        return edges, len(key)

    def _moved(self, column: str) -> Any:
        """Returns the bytes by vertex and file, a sparse matrix in which any element can be looked up."""
        tables, network = self._tables, self._network
        if not len(network.channel):
            return {}
        at = np.minimum(np.searchsorted(network.channel, tables.channels), len(network.channel) - 1)
        mine = network.channel[at] == tables.channels
        ends = (network.node_of[tables.users[mine]], at[mine])
        shape = (network.nodes, len(network.channel))
        return sparse.coo_array((tables.uses[column][mine], ends), shape=shape).todok()
