"""The calls of an archive's stream ordered by start, with bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ...archive.codec.times import unpack_stamps
from ...archive.file.reader import ArchiveReader
from ...events import DefinitionTable, EventBatch, is_constant
from ...events.schema import COLUMNS

WINDOW: Final = 1 << 18
"""Approximate number of calls in memory."""
_STEP: Final = 256
"""Interval of remembered starts of a sorted chunk, for cutting time into windows."""
_LATEST: Final = 2**63 - 1


def calls_in_order(
    reader: ArchiveReader, stream: int, window: int = WINDOW
) -> Iterator[tuple[EventBatch, DefinitionTable]]:
    """Yield a stream's calls by start. Of equal starts the longer first, then the enclosing one.

    An archive has calls ordered by their ends. Its timestamps give a time after which no call of a chunk or of later
    ones begins; calls before it are yielded. If a call encloses more than ``window`` others, which precede it, the rest
    is processed in windows of time.

    Yields:
        Calls, and the table of names and signatures; files and handles are the stream's. Calls of an archive without
        times keep their order.

    Raises:
        InputError: a section is broken.
    """
    table = DefinitionTable()
    if not reader.has_times:
        for each in reader.calls(stream):
            table.apply(each.definitions)
            yield each.batch, table
        return
    stamps = _Stamps.of(reader, stream, window)
    held, count = list[EventBatch](), 0
    for chunk, each in enumerate(reader.calls(stream)):
        table.apply(each.definitions)
        held.append(each.batch)
        count += len(each.batch)
        until = stamps.successors[chunk]
        if count < window and until < _LATEST:
            continue
        ready, held = _split_at(held, until)
        count = sum(map(len, held))
        if ready:
            yield _sort_columns(ready), table
        if count >= window:
            held.clear()
            yield from _in_windows(
                reader, stream, [until, *stamps.edges[stamps.edges.searchsorted(until, "right") :].tolist()]
            )
            return


class _Stamps(NamedTuple):
    """Timestamps of a stream, available before its calls are unpacked."""

    successors: list[int]
    """For each chunk, the first start in later chunks."""
    edges: npt.NDArray[np.int64]
    """Starts of the windows of time, and the end of the last one."""

    @classmethod
    def of(cls, reader: ArchiveReader, stream: int, window: int) -> _Stamps:
        samples: list[npt.NDArray[np.int64]] = []
        first: list[int] = []
        for section in reader.sections(stream):
            for stamps in section.stamps:
                start = np.sort(unpack_stamps(stamps, reader.where)[0])
                samples.append(start[::_STEP])
                first.append(int(start[0]) if len(start) else _LATEST)
        later = [*np.minimum.accumulate(np.array(first, np.int64)[::-1])[::-1].tolist(), _LATEST][1:]
        cuts = np.sort(np.concatenate([*samples, np.zeros(0, np.int64)]))[:: max(window // _STEP, 1)]
        found, times = np.unique(cuts, return_counts=True)
        edges = {*found.tolist(), *(found[times > 1] + 1).tolist(), _LATEST}  # calls with the same start form a window
        return cls(later, np.array(sorted(edges), np.int64))


def _split_at(held: list[EventBatch], until: int) -> tuple[list[EventBatch], list[EventBatch]]:
    """Return the calls that begin before a time, and the others."""
    before, others = list[EventBatch](), list[EventBatch]()
    for batch in held:
        is_before = batch.start < until
        for rows, into in ((is_before, before), (~is_before, others)):
            if rows.any():
                into.append(batch if rows.all() else batch.select(rows))
    return before, others


def _in_windows(reader: ArchiveReader, stream: int, edges: list[int]) -> Iterator[tuple[EventBatch, DefinitionTable]]:
    """Yield the calls that begin after the first edge; most sections are read several times."""
    for begin, end in pairwise(edges):
        table, held = DefinitionTable(), list[EventBatch]()
        for each in reader.calls(stream, begin, end - 1):
            table.apply(each.definitions)
            inside = (each.batch.start >= begin) & (each.batch.start < end)
            if not inside.any():
                continue
            found = each.batch if inside.all() else each.batch.select(inside)
            if end - begin == 1:
                yield found, table
            else:
                held.append(found)
        if held:
            yield _sort_columns(held), table


def _sort_columns(held: list[EventBatch]) -> EventBatch:
    """Return calls in order of time, column by column. Copies take most of a conversion's memory."""
    columns = {name: [getattr(batch, name) for batch in held] for name in COLUMNS}
    held.clear()
    depth, duration, start = (np.concatenate(columns[name]) for name in ("depth", "duration", "start"))
    order = np.lexsort((depth, -duration, start))
    del depth, duration, start
    return EventBatch(**{name: _take_rows(columns.pop(name), order) for name in COLUMNS})


def _take_rows(parts: list[npt.NDArray[Any]], order: npt.NDArray[np.intp]) -> npt.NDArray[Any]:
    """Return the rows of a column in an order. A constant column stays a single value in memory."""
    if all(is_constant(part) and part[0] == parts[0][0] for part in parts):
        return np.broadcast_to(parts[0][0], order.shape)
    return np.concatenate(parts).take(order)
