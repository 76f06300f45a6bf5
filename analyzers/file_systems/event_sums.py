"""Sums of events as rows of a phase table: in C, with a NumPy fallback."""

from __future__ import annotations

import ctypes
from typing import Final

import numpy as np
import numpy.typing as npt

from ...events import EventBatch, Kind
from ...events.batch import representatives
from ...events.summaries import busy_ns, calls_in, summary_rows
from ..common.grouping import Grouping, native
from ..file_groups import READS, WRITES
from . import phase_table as table
from .file_system_table import FileSystemTable
from .phase_table import BUCKET_COUNT, METADATA_WAY, PIECE_NS, SHORTEST_BITS, WIDTH, Rows, bucket_of, rows_of

METADATA: Final = 4
"""Bit of a file whose metadata calls and flushes count, besides READS and WRITES."""
_BIN_BITS: Final = 26  # 67 ms, below the minimum gap: events that begin in one bin are in one phase
_WAYS: Final = 64
_LARGEST: Final = 2**44  # bytes or ns of one event
_ROOM: Final = 1024  # minimum number of output rows
Hosts = npt.NDArray[np.int64]


def _table(values: dict[Kind, int], otherwise: int) -> npt.NDArray[np.uint8]:
    made = np.full(256, otherwise, np.uint8)
    for kind, value in values.items():
        made[kind] = value
    return made


_NEEDS: Final = _table(
    {
        Kind.READ: READS, Kind.WRITE: WRITES, Kind.SYNC: METADATA, Kind.OTHER: METADATA, Kind.CREATE: METADATA,
        Kind.DESTROY: METADATA, Kind.DELETE: METADATA,
    },
    0,
)  # fmt: skip
"""Bit that a file needs for a call of each kind to count."""
_WAY: Final = _table({Kind.READ: 0, Kind.WRITE: 1, Kind.SYNC: 2}, METADATA_WAY)
_TYPES: Final = {"start": "<i8", "duration": "<i8", "bytes": "<i8", "kind": "u1", "file": "<u4", "depth": "u1"}


def summed(
    batch: EventBatch, hosts: Hosts, places: FileSystemTable, counts: npt.NDArray[np.uint8], gap_ns: int
) -> list[Rows]:
    """Return rows with the sums of the events that count. The events of a row are in one phase.

    Args:
        batch: events in the job's numbering.
        hosts: host number of each event, int64[n], with stride 0 if constant.
        places: file systems of files; records their users.
        counts: bit mask of counted calls, by file number.
        gap_ns: maximum pause within a phase.
    """
    library = native()
    fits = all(getattr(batch, name).dtype == np.dtype(kind) for name, kind in _TYPES.items())
    if library is None or not fits or summary_rows(batch) is not None:
        rows = summed_in_numpy(batch, hosts, places, counts)
        return [rows] if len(rows) else []
    columns = [*(getattr(batch, name) for name in _TYPES), hosts]
    made: list[Rows] = []
    at, length, written = 0, len(batch), ctypes.c_uint64()
    while at < length:
        of_file, of_host, used = places.tables()
        count = used.shape[1]
        work = np.array(
            [
                *(column.ctypes.data for column in columns),
                *(column.strides[0] for column in columns),
                *(each.ctypes.data for each in (of_file, of_host, counts, _NEEDS, _WAY, used)),
                *(of_host.shape[1], count, gap_ns, PIECE_NS, WIDTH, BUCKET_COUNT, SHORTEST_BITS),
            ],
            np.int64,
        )
        scratch, rows = np.empty((2 * count, WIDTH + 1), np.int64), np.empty((_ROOM + 4 * count, WIDTH), np.int64)
        at = library.phases_sum(
            work.ctypes.data, at, length, scratch.ctypes.data, rows.ctypes.data, len(rows), ctypes.byref(written)
        )
        if written.value:
            made.append(rows[: written.value])
        if at < length:
            places.numbers(batch.file[at : at + 1], hosts[at : at + 1])  # the place for which it stopped
    return made


def summed_in_numpy(batch: EventBatch, hosts: Hosts, places: FileSystemTable, counts: npt.NDArray[np.uint8]) -> Rows:
    """NumPy version of ``summed``; its rows cover shorter times."""
    counting = _counting(batch, counts)
    if not counting.all():
        rows = np.flatnonzero(np.broadcast_to(counting, (len(batch),)))
        batch, hosts = batch.select(rows), hosts[rows]
    if not len(batch):
        return np.zeros((0, WIDTH), np.int64)
    place = places.numbers(batch.file, hosts)
    way = _WAY.take(batch.kind).astype(np.int64)
    busy, calls = np.asarray(busy_ns(batch), np.int64), calls_in(batch)
    each = busy // np.maximum(calls, 1)
    way += np.where(way == METADATA_WAY, bucket_of(each), 0)
    alike = Grouping([place * _WAYS + way, batch.start >> _BIN_BITS, batch.start // PIECE_NS])
    sums = alike.sums([np.minimum(batch.bytes, _LARGEST), calls, np.minimum(busy, _LARGEST)])
    of_sums, ways = np.divmod((place * _WAYS + way)[alike.first], _WAYS)
    places.use(hosts, place)
    return rows_of(of_sums, ways, sums, alike.least(batch.start), alike.most(batch.end), alike.most(each))


def _counting(batch: EventBatch, counts: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """Return which events count; bool[1] if equal for all."""
    needs = _NEEDS.take(representatives(batch.kind))
    counting = (needs & counts.take(representatives(batch.file))) != 0
    result: npt.NDArray[np.bool_] = (
        counting & ((needs == METADATA) | (representatives(batch.bytes) > 0)) & (representatives(batch.depth) == 0)
    )
    return result


def totals_of(rows: Rows, places: int, columns: tuple[int, ...]) -> Rows:
    """Return sums of columns by place, int64[places, columns]."""
    made = np.zeros((places, len(columns)), np.int64)
    np.add.at(made, rows[:, table.LANE] // 2, rows[:, columns])
    return made
