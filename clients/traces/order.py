"""The calls of an archive's stream in the order in which they began, with bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from ...archive.codec.times import unpack_stamps
from ...archive.file.reader import ArchiveReader
from ...events import DefinitionTable, EventBatch, concatenate

WINDOW: Final = 1 << 18
"""Calls that are held at a time, about."""
_STEP: Final = 256
"""Of a chunk's starts, sorted, every so many is remembered to cut time into windows."""
_LATEST: Final = 2**63 - 1


def calls_in_order(
    reader: ArchiveReader, stream: int, window: int = WINDOW
) -> Iterator[tuple[EventBatch, DefinitionTable]]:
    """Yields a stream's calls by start, of equal starts the longer first, then the one that encloses the other.

    An archive has calls in the order of their ends, and one that encloses millions of others comes after them. So time
    is cut into windows of about ``window`` calls each, and the sections that reach into a window are read for it; most
    sections are read a few times. Calls that all begin at one instant come as they stand in the archive, and so do
    those of an archive without times.

    Yields:
        Calls, and what the numbers of names and signatures mean in them; files and handles are the stream's.

    Raises:
        InputError: a section is broken.
    """
    if not reader.has_times:
        table = DefinitionTable()
        for each in reader.calls(stream):
            table.apply(each.definitions)
            yield each.batch, table
        return
    edges = _edges(reader, stream, window)
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
            yield _sorted(held), table


def _sorted(held: list[EventBatch]) -> EventBatch:
    """Returns calls in order of time, and lets go of what held them: three copies are most of a conversion's memory."""
    calls = concatenate(held)
    held.clear()
    order = np.lexsort((calls.depth, -calls.duration, calls.start))
    return calls.select(order)


def _edges(reader: ArchiveReader, stream: int, window: int) -> list[int]:
    """Returns where windows begin, and the end of the last one."""
    samples: list[npt.NDArray[np.int64]] = []
    calls = 0
    for section in reader.sections(stream):
        calls += section.calls
        samples += [np.sort(unpack_stamps(stamps, reader.where)[0])[::_STEP] for stamps in section.stamps]
    if not calls:
        return []
    cuts = np.sort(np.concatenate(samples))[:: max(window // _STEP, 1)]
    found, times = np.unique(cuts, return_counts=True)
    edges = set(found.tolist()) | {instant + 1 for instant in found[times > 1].tolist()}
    return [*sorted(edges), _LATEST]
