"""Lists of the files and edges of an interaction graph."""

from __future__ import annotations

from typing import Any, Final, get_args

import numpy as np
from scipy import sparse

from ....results.interaction import Interaction, SharedFile
from ....results.interaction_kinds import EdgeKind
from ...common.sorting import sorted_distinct
from ...common.state import Floats, Ints, Rows
from ..graph.communities import Connections
from ..graph.network import Matrix, Network
from ..tables import LINK_KINDS, Tables

_KINDS: Final[tuple[EdgeKind, ...]] = get_args(EdgeKind)
_COLUMNS: Final = ("source", "target", "from_file", "to_file", "kind", "count", "bytes", "waited_ns", "connections")


def kinds_of(tables: Tables, network: Network) -> Ints:
    """Return the kind of each file of a network, as index into ``EdgeKind``."""
    together = sorted_distinct(tables.channels[tables.uses["collectives"] > 0])
    kinds = np.array([_KINDS.index(tables.channel_names.kind(at)) for at in network.channel.tolist()], np.int64)
    shared = np.isin(network.channel, together) & (kinds == _KINDS.index("file"))
    return np.where(shared, _KINDS.index("collective"), kinds)


def joins(kinds: Ints) -> Any:
    """Return which files are pipes and sockets, whose names carry no information, bool[files]."""
    return np.isin(kinds, (_KINDS.index("pipe"), _KINDS.index("socket")))


class Listing:
    """Lists files and edges between the vertices of components.

    Args:
        tables: columns of the interaction graph.
        network: pruned graph.
        kinds: kinds of its files.
        connections: files that are shown as edges between their two ends.
        part: component of each vertex, -1 for none.
        file_part: component of each file.
    """

    def __init__(
        self, tables: Tables, network: Network, kinds: Ints, connections: Connections, part: Rows, file_part: Rows
    ) -> None:
        self._tables, self._network, self._part, self._file_part = tables, network, part, file_part
        self._kinds, self._connections = kinds, connections
        self._read, self._written = self._moved("bytes_read"), self._moved("bytes_written")

    def busiest(self, most: int) -> Rows:
        """Return the files with the most interactions."""
        through: Floats = self._network.writes.sum(axis=0) + self._network.reads.sum(axis=1)
        files = np.flatnonzero((self._file_part >= 0) & ~self._connections.private)
        return files[np.argsort(-through[files], kind="stable")][:most]

    def files(self, chosen: Rows) -> list[SharedFile]:
        """Return the public form of some files."""
        tables, network = self._tables, self._network
        size = int(tables.channels.max(initial=0)) + 1
        read = np.bincount(tables.channels, weights=tables.uses["bytes_read"], minlength=size)
        written = np.bincount(tables.channels, weights=tables.uses["bytes_written"], minlength=size)
        writers, readers = np.diff(network.writes.tocsc().indptr), np.diff(network.reads.indptr)
        return [
            SharedFile(
                id=at,
                path=tables.channel_names.name(channel := int(network.channel[at])),
                kind=_KINDS[self._kinds[at]],
                writers=int(writers[at]),
                readers=int(readers[at]),
                bytes_read=int(read[channel]),
                bytes_written=int(written[channel]),
                component=int(self._file_part[at]) + 1,
            )
            for at in chosen.tolist()
        ]

    def edges(self, nodes: Rows, files: Rows, most: int) -> tuple[list[Interaction], int]:
        """Return edges between some vertices and files by descending count.

        It also returns the number of omitted ones.
        """
        acting = self._network.nodes
        shown = np.zeros(acting + len(self._kinds), np.bool_)
        shown[nodes], shown[acting + files] = True, True
        writes, reads = self._network.writes.tocoo(), self._network.reads.T.tocoo()
        parts = [
            self._links(),
            self._direct(),
            self._through(writes.row, writes.col, writes.data, to_file=True),
            self._through(reads.row, reads.col, reads.data, to_file=False),
        ]
        table = {name: np.concatenate([part[name] for part in parts]) for name in _COLUMNS}
        listed = (
            shown[table["source"] + acting * table["from_file"]] & shown[table["target"] + acting * table["to_file"]]
        )
        order = np.lexsort((table["target"], table["source"], -table["count"]))
        chosen = order[listed[order]][:most]
        rows = zip(*(table[name][chosen].tolist() for name in _COLUMNS), strict=True)
        edges = [
            Interaction(
                source=source, target=target, source_is_file=bool(from_file), target_is_file=bool(to_file),
                kind=_KINDS[kind], count=count, bytes=size, waited_s=waited / 1e9, connections=connections,
            )
            for source, target, from_file, to_file, kind, count, size, waited, connections in rows
        ]  # fmt: skip
        return edges, len(order) - len(edges)

    def _links(self) -> dict[str, Ints]:
        tables, network = self._tables, self._network
        source, target = network.node_of[tables.sources], network.node_of[tables.targets]
        there = (source != target) & (self._part[source] >= 0) & (self._part[target] >= 0)
        kind = np.array([_KINDS.index(name) for name in LINK_KINDS])[tables.kinds[there]]
        return self._table(
            source[there], target[there], kind, count=tables.counts[there], waited_ns=tables.waited_ns[there]
        )

    def _direct(self) -> dict[str, Ints]:
        found = self._connections
        written = self._written[found.source, found.file] if len(found.file) else np.zeros(0)
        read = self._read[found.target, found.file] if len(found.file) else np.zeros(0)
        return self._table(
            found.source,
            found.target,
            self._kinds[found.file],
            count=found.count,
            bytes=np.where(written > 0, written, read),
            connections=np.ones(len(found.file)),
        )

    def _through(self, node: Rows, file: Rows, count: Floats, *, to_file: bool) -> dict[str, Ints]:
        shared = ~self._connections.private[file]
        node, file, count = node[shared], file[shared], count[shared]
        size = (self._written if to_file else self._read)[node, file] if len(file) else np.zeros(0)
        ends = (node, file) if to_file else (file, node)
        table = self._table(*ends, self._kinds[file], count=count, bytes=size)
        table["to_file" if to_file else "from_file"][:] = 1
        return table

    def _table(self, source: Rows, target: Rows, kind: Ints, **values: Any) -> dict[str, Ints]:
        """Return one row per pair of ends and kind, with the sums of its values."""
        size = max(self._network.nodes, len(self._kinds), 1)
        pair = (source.astype(np.int64) * size + target) * len(_KINDS) + kind
        found, which = np.unique(pair, return_inverse=True)
        pair, kind = np.divmod(found, len(_KINDS))
        table = {name: np.zeros(len(found), np.int64) for name in _COLUMNS}
        table["source"], table["target"], table["kind"] = pair // size, pair % size, kind
        for name, value in values.items():
            table[name] = np.bincount(which, weights=value, minlength=len(found)).astype(np.int64)
        return table

    def _moved(self, column: str) -> Matrix:
        """Return the bytes by vertex and file."""
        tables, network = self._tables, self._network
        shape = (network.nodes, len(network.channel))
        if not len(network.channel):
            return sparse.csr_array(shape)
        at = np.minimum(np.searchsorted(network.channel, tables.channels), len(network.channel) - 1)
        mine = network.channel[at] == tables.channels
        ends = (network.node_of[tables.users[mine]], at[mine])
        return sparse.coo_array((tables.uses[column][mine].astype(np.float64), ends), shape=shape).tocsr()
