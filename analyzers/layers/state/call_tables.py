"""Sums of calls by process, calling layer, size, translation, file, handle and collective."""

from __future__ import annotations

from typing import Final, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from ....events import Kind, Layer
from ...common.state import Ints
from ...file_groups import CHANNEL, DATA, GROUPS, SYSTEM
from ..calls import LAYERS, NO_FATE, PROGRAM, Calls, moves, size_class, summed_by
from ..settings import LayersSettings
from .bounded_sums import BoundedSums

OVERS: Final = LAYERS + 1
"""Number of layers, plus one for the program."""
WAYS: Final = ("read", "write", "other")
SIZES: Final = 64  # number of size classes
MAX_SITES: Final = 4096  # maximum number of sites of collectives
_WAY: Final = np.full(256, 2, np.int64)
_WAY[[Kind.READ, Kind.WRITE]] = 0, 1
_NODE_BITS: Final = 20
_PROCESS_BITS: Final = 24
_CALL_BITS: Final = 24
_FILE_BITS: Final = 24

PROCESS: Final = (
    "calls", "outer_calls", "ns", "exclusive_ns", "root_ns", "reads", "writes", "opens", "closes", "others",
    "bytes_read", "bytes_written", "asked_read", "asked_written", "other_ns", "failed", "failed_ns", "channel_ns",
    "system_ns",
)  # fmt: skip
"""Sums by process and layer. Bytes and ``ns`` exclude calls nested in calls of the same layer; ``other_ns`` is for
calls
on data.
"""
DOWN: Final = ("calls", "ns", "moving", "bytes")
"""Sums by layer and direction of the directly enclosing call, and layer and direction of the call."""
FATE: Final = ("calls", "bytes", "below", "below_bytes", "ns")
FILE: Final = (
    "calls", "reads", "writes", "bytes_read", "bytes_written", "opens", "closes", "exclusive_ns", "read_ns", "write_ns",
)  # fmt: skip
"""Sums by file, layer of the directly enclosing call, and layer of the call."""
NODE: Final = (
    "calls", "opens", "closes", "reads", "writes", "bytes_read", "bytes_written", "ns", "exclusive_ns",
)  # fmt: skip
SITE: Final = ("calls", "ns", "bytes", "system_ns", "system_bytes")
NAMED: Final = ("calls", "ns", "exclusive_ns", "bytes", "failed")
"""Sums by layer, group of files, direction and call."""


class CallTables(NamedTuple):
    """Sums of one job; keys are integers that ``split`` separates into their components."""

    processes: BoundedSums
    down: BoundedSums
    sizes: BoundedSums
    fates: BoundedSums
    files: BoundedSums
    nodes: BoundedSums
    sites: BoundedSums
    named: BoundedSums
    opened: BoundedSums

    @classmethod
    def make(cls, settings: LayersSettings) -> Self:
        """Return empty tables."""
        return cls(
            processes=BoundedSums((settings.max_processes + 1) * LAYERS, len(PROCESS)),
            down=BoundedSums(OVERS * len(WAYS) * LAYERS * len(WAYS), len(DOWN)),
            sizes=BoundedSums(OVERS * LAYERS * len(WAYS) * SIZES, 1),
            fates=BoundedSums(LAYERS * len(WAYS) * 8, len(FATE)),
            files=BoundedSums(settings.max_file_rows, len(FILE)),
            nodes=BoundedSums(settings.max_process_nodes, len(NODE)),
            sites=BoundedSums(settings.max_collectives, len(SITE)),
            named=BoundedSums(settings.max_nodes * 8, len(NAMED)),
            opened=BoundedSums(settings.max_process_nodes, 1),
        )

    def add(self, calls: Calls, node: Ints, site: Ints, group: Ints) -> None:
        """Add calls whose enclosing calls are known.

        Args:
            calls: calls.
            node: node of each call's handle.
            site: site of each collective, -1 for other calls.
            group: group of each call's file.
        """
        columns = _Columns.of(calls, node, site, group)
        self._add_processes(columns)
        self._add_steps(columns)
        self._add_files(columns)
        self._add_collectives(columns)
        self._add_named(columns)

    def _add_processes(self, columns: _Columns) -> None:
        calls, count, exclusive, group = columns.calls, columns.calls.count, columns.exclusive, columns.group
        read, written = (columns.outer & (calls.kind == kind) for kind in (Kind.READ, Kind.WRITE))
        reads, writes, opens, closes = columns.operations
        self.processes.add(
            calls.process * LAYERS + columns.layer,
            [
                count, columns.outer_count, columns.outer_ns, exclusive, np.where(columns.over == PROGRAM, calls.ns, 0),
                reads, writes, opens, closes, count - reads - writes - opens - closes, *columns.moved,
                np.where(read, calls.requested, 0), np.where(written, calls.requested, 0),
                np.where((columns.way == 2) & (group == DATA), exclusive, 0), calls.failed,
                np.where(calls.failed > 0, exclusive, 0), np.where(group == CHANNEL, exclusive, 0),
                np.where(group == SYSTEM, exclusive, 0),
            ],
            columns.layer,
        )  # fmt: skip

    def _add_steps(self, columns: _Columns) -> None:
        """Add calls by calling layer, and the translations of requests."""
        calls, count, layer, way = columns.calls, columns.calls.count, columns.layer, columns.way
        moving = moves(calls)
        down = (columns.over * len(WAYS) + _WAY[calls.over_kind]) * LAYERS + layer
        moved = np.where(moving & columns.outer, calls.bytes, 0)
        self.down.add(down * len(WAYS) + way, [count, calls.ns, np.where(moving, count, 0), moved])
        rows = np.flatnonzero(calls.fate != NO_FATE)
        if len(rows):
            key = (layer[rows] * len(WAYS) + way[rows]) * 8 + calls.fate[rows]
            summed = (count, calls.bytes, calls.below, calls.below_bytes, calls.ns)
            self.fates.add(key, [column[rows] for column in summed])

    def _add_files(self, columns: _Columns) -> None:
        """Add calls by file, by handle, and opens of data files by process."""
        calls, count, exclusive, layer = columns.calls, columns.calls.count, columns.exclusive, columns.layer
        reads, writes, opens, closes = columns.operations
        tail = columns.over * LAYERS + layer
        self.files.add(
            calls.file * (OVERS * LAYERS) + tail,
            [
                count, reads, writes, *columns.moved, opens, closes, exclusive,
                np.where(columns.way == 0, exclusive, 0), np.where(columns.way == 1, exclusive, 0),
            ],
            tail,
        )  # fmt: skip
        own_ns = np.where(columns.is_first, calls.ns, 0)
        self.nodes.add(
            (calls.process << _NODE_BITS) + columns.node,
            [count, opens, closes, reads, writes, *columns.moved, own_ns, exclusive],
            columns.node,
        )
        rows = np.flatnonzero((opens > 0) & (columns.group == DATA))
        if len(rows):
            pair = (calls.process[rows] << _FILE_BITS) + calls.file[rows]
            self.opened.add(pair * LAYERS + layer[rows], [opens[rows]], layer[rows])

    def _add_collectives(self, columns: _Columns) -> None:
        calls, site = columns.calls, columns.site
        rows = np.flatnonzero(site >= 0)
        if len(rows):
            summed = (calls.count, calls.ns, calls.bytes, calls.system_ns, calls.system_bytes)
            at = site[rows] << _PROCESS_BITS
            self.sites.add(at + calls.process[rows], [column[rows] for column in summed], at)

    def _add_named(self, columns: _Columns) -> None:
        calls = columns.calls
        named = ((columns.layer * len(GROUPS) + columns.group) * len(WAYS) + columns.way) << _CALL_BITS
        outer_bytes = np.where(columns.outer, calls.bytes, 0)
        self.named.add(
            named + calls.call,
            [calls.count, columns.outer_ns, columns.exclusive, outer_bytes, calls.failed],
            named,
        )

    def add_sizes(self, calls: Calls, group: Ints) -> None:
        """Add the sizes of calls that move data.

        ``group`` is that of each call's file, and only program data counts.
        """
        rows = np.flatnonzero(moves(calls) & (group == DATA))
        if not len(rows):
            return
        over, layer = calls.over[rows].astype(np.int64), calls.layer[rows]
        key = ((over * LAYERS + layer) * len(WAYS) + _WAY[calls.kind[rows]]) * SIZES + size_class(calls)[rows]
        self.sizes.add(key, [calls.count[rows]])

    def merge(self, other: CallTables, processes: Ints, files: Ints, nodes: Ints, sites: Ints, calls: Ints) -> None:
        """Add the sums of other tables; the arrays map their numbers to those here."""
        key = other.processes.rows()[0]
        self.processes.merge(other.processes, processes[key // LAYERS] * LAYERS + key % LAYERS, key % LAYERS)
        for mine, theirs in ((self.down, other.down), (self.sizes, other.sizes), (self.fates, other.fates)):
            mine.merge(theirs, theirs.rows()[0])
        file, tail = np.divmod(other.files.rows()[0], OVERS * LAYERS)
        self.files.merge(other.files, files[file] * (OVERS * LAYERS) + tail, tail)
        process, node = split_node(other.nodes.rows()[0])
        self.nodes.merge(other.nodes, (processes[process] << _NODE_BITS) + nodes[node], nodes[node])
        site, process = split_site(other.sites.rows()[0])
        at = sites[site] << _PROCESS_BITS
        self.sites.merge(other.sites, at + processes[process], at)
        pair, layer = np.divmod(other.opened.rows()[0], LAYERS)
        process, file = np.divmod(pair, 1 << _FILE_BITS)
        self.opened.merge(other.opened, ((processes[process] << _FILE_BITS) + files[file]) * LAYERS + layer, layer)
        at, call = np.divmod(other.named.rows()[0], 1 << _CALL_BITS)
        self.named.merge(other.named, (at << _CALL_BITS) + calls[call], at << _CALL_BITS)


class _Columns(NamedTuple):
    """Calls with equal keys summed, and columns derived from them; each column has shape (n,).

    Attributes:
        calls: summed calls.
        node, site, group: node of the handle, site of a collective or -1, and group of the file.
        layer, over, way: layer, calling layer, and direction.
        outer: whether no call of the same layer encloses the call.
        is_first: whether the call is not directly nested in a call through the same handle.
        exclusive: time without nested calls, ns.
        outer_count, outer_ns: number and time of outer calls, ns.
        operations: number of reads, writes, opens and closes.
        moved: bytes read and written by outer calls.
    """

    calls: Calls
    node: Ints
    site: Ints
    group: Ints
    layer: Ints
    over: Ints
    way: Ints
    outer: npt.NDArray[np.bool_]
    is_first: npt.NDArray[np.bool_]
    exclusive: Ints
    outer_count: Ints
    outer_ns: Ints
    operations: tuple[Ints, Ints, Ints, Ints]
    moved: tuple[Ints, Ints]

    @classmethod
    def of(cls, calls: Calls, node: Ints, site: Ints, group: Ints) -> _Columns:
        """Sum calls with equal keys."""
        outer = (calls.around >> calls.layer) & 1 == 0
        is_first = outer | (calls.handle != calls.parent)
        calls, some = summed_by(calls, [_bits(calls, outer, is_first), calls.process, calls.file, node, calls.call])
        outer, is_first = outer.take(some), is_first.take(some)
        kind, count = calls.kind, calls.count
        way = _WAY[kind]
        operations = np.where(calls.begun, 0, count)
        return cls(
            calls=calls,
            node=node.take(some),
            site=site.take(some),
            group=group.take(some),
            layer=calls.layer.astype(np.int64),
            over=calls.over.astype(np.int64),
            way=way,
            outer=outer,
            is_first=is_first,
            exclusive=calls.ns - calls.below_ns,
            outer_count=np.where(outer, count, 0),
            outer_ns=np.where(outer, calls.ns, 0),
            operations=(
                np.where(way == 0, operations, 0),
                np.where(way == 1, operations, 0),
                np.where((kind == Kind.CREATE) | (kind == Kind.DUPLICATE), count, 0),
                np.where(kind == Kind.DESTROY, count, 0),
            ),
            moved=(
                np.where(outer & (kind == Kind.READ), calls.bytes, 0),
                np.where(outer & (kind == Kind.WRITE), calls.bytes, 0),
            ),
        )


def _bits(calls: Calls, outer: npt.NDArray[np.bool_], first: npt.NDArray[np.bool_]) -> Ints:
    """Pack the columns with few values into one integer."""
    bits = np.zeros(len(calls), np.int64)
    columns = (
        calls.layer,
        calls.kind,
        calls.over,
        calls.over_kind,
        outer,
        first,
        calls.fate,
        calls.collective,
        calls.failed > 0,
        calls.begun,
    )
    for column, width in zip(columns, (3, 4, 4, 4, 1, 1, 3, 1, 1, 1), strict=True):
        bits <<= width
        bits += column
    return bits


def split_node(key: Ints) -> tuple[Ints, Ints]:
    """Return processes and nodes from keys of ``nodes``."""
    return key >> _NODE_BITS, key & ((1 << _NODE_BITS) - 1)


def split_site(key: Ints) -> tuple[Ints, Ints]:
    """Return sites and processes from keys of ``sites``."""
    return key >> _PROCESS_BITS, key & ((1 << _PROCESS_BITS) - 1)


def split_opened(key: Ints) -> tuple[Ints, Ints]:
    """Return files and layers from keys of ``opened``, which also contain the process."""
    pair, layer = np.divmod(key, LAYERS)
    return pair & ((1 << _FILE_BITS) - 1), layer


def split_named(key: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Return layers, groups, directions and calls from keys of ``named``."""
    layer, group, way = split(key >> _CALL_BITS, len(GROUPS), len(WAYS))
    return layer, group, way, key & ((1 << _CALL_BITS) - 1)


def split(key: npt.NDArray[np.int64], *widths: int) -> list[Ints]:
    """Split integers built as ((a * widths[0]) + b) * widths[1] + c ..."""
    parts: list[Ints] = []
    for width in reversed(widths):
        key, part = np.divmod(key, width)
        parts.append(part)
    return [key, *reversed(parts)]


def layer_name(number: int) -> str:
    """Return the name of a layer, "" for the program."""
    return "" if number == PROGRAM else Layer(number).name
