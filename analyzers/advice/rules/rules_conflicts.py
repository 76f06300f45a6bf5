"""Rule for conflicting accesses of processes to the same bytes.

They write, or write and read, without a flush or close between.

Source: the conflict detector of Recorder (Wang et al., IPDPS 2020) and VerifyIO's commit and session semantics.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from ....results.advice import AdviceFinding
from ...common.state import Ints
from ...common.texts import size_text
from ..call_statistics import Calls, CallStatistics
from ..extents import Extents, Flushes
from .claims import FindingText, finding_of, group_of

_MAX_PAIRS: Final = 200_000
"""Maximum number of compared pairs of extents per file; further pairs are ignored."""
_NEVER: Final = 2**62  # time of extents that never become visible, ns


class Conflict(NamedTuple):
    """Conflicting accesses of two processes to the same bytes of one file."""

    file: int
    writers: bool
    """Whether both processes write; otherwise one reads."""
    bytes: int
    """Lower bound of the conflicting bytes."""
    one: str
    other: str


def conflicts(calls: Calls, run_s: float) -> Iterator[AdviceFinding]:
    """Report bytes that several processes access without a flush or close.

    Either several write, or one writes and another rank reads.
    """
    statistics = calls.statistics
    found = [conflict for file in _shared(statistics.extents) if (conflict := _of_file(statistics, file))]
    for writers in (True, False):
        some = [each for each in found if each.writers == writers]
        if not some:
            continue
        files = np.array([each.file for each in some], np.int64)
        moves = np.flatnonzero((calls.reads | calls.writes) & np.isin(calls.file, files))
        if not len(moves):
            continue
        group = group_of(calls, moves)
        first, size = some[0], sum(each.bytes for each in some)
        does = "both write" if writers else f"{first.other} reads what {first.one} writes in"
        subject = f"{first.one} and {first.other} {does}" if writers else does
        words = FindingText(
            title=f"{subject} the same {size_text(size)} of {group.where}, and no flush or close lies between",
            why="Which bytes stay, or are read, depends on who comes first; file systems that keep writes in a "
            "client's memory until a flush or close (NFS, burst buffers) show old bytes to those who come later.",
            change="Give each process bytes or a file of its own; or order them: flush or close, MPI_File_sync or a "
            "barrier, then open and go on.",
        )
        yield finding_of(group, "conflict", words, 0.0, run_s, {"bytes": float(size)}).model_copy(
            update={"seconds": 0.0, "share": 0.0}
        )


def _shared(extents: Extents) -> list[int]:
    """Return the files with a write and with extents of several threads."""
    pairs = np.unique(np.stack([extents.file, extents.thread]), axis=1)
    files, users = np.unique(pairs[0], return_counts=True)
    found: list[int] = np.intersect1d(files[users > 1], extents.file[extents.write]).tolist()
    return found


def _of_file(statistics: CallStatistics, file: int) -> Conflict | None:
    """Return the conflicts on a file; None if there are none."""
    every, flushes = statistics.extents, statistics.flushes
    rows = np.flatnonzero(every.file == file)
    # Sort by content, since the order of extents depends on batching.
    rows = rows[np.lexsort([each[rows] for each in (every.high, every.last, every.first, every.low)])]
    some = every.at(rows)
    names = [statistics.threads[thread] for thread in some.thread.tolist()]
    process = [(thread.rank, thread.host, thread.process) for thread in names]
    ranked = [thread.rank >= 0 for thread in names]
    visible = _visible_at(some, flushes, file).tolist()
    low, high, write = (column.tolist() for column in (some.low, some.high, some.write))
    begins, ends = (each.take(some.thread).tolist() for each in statistics.thread_spans)
    active: list[int] = []
    by_way: dict[bool, list[tuple[int, int, int, int]]] = {True: [], False: []}
    compared = 0
    for at in range(len(rows)):
        active = [each for each in active if high[each] > low[at]]
        for each in active:
            compared += 1
            order = sorted((some.time_at(row, low[at]), row) for row in (each, at))  # of the first shared byte
            (_, early), (reached, late) = order
            seen = visible[early] <= reached or ends[early] <= begins[late]
            if process[each] == process[at] or not write[early] or seen:
                continue
            if write[late] or (ranked[early] and ranked[late]):
                by_way[write[late]].append((low[at], min(high[each], high[at]), early, late))
        if compared > _MAX_PAIRS:
            break
        active.append(at)
    for writers in (True, False):
        if pieces := by_way[writers]:
            early, late = pieces[0][2:]
            label = [statistics.label(int(some.thread[each])) for each in (early, late)]
            return Conflict(file, writers, _united(pieces), *label)
    return None


def _visible_at(extents: Extents, flushes: Flushes, file: int) -> Ints:
    """Return the time from which each extent is visible to others, ns. It is its stream's next flush or close."""
    mine = flushes.file == file
    stream, at = flushes.stream[mine], flushes.at[mine]
    visible_ns = np.full(len(extents.low), _NEVER, np.int64)
    for number in np.unique(extents.stream).tolist():
        rows = np.flatnonzero(extents.stream == number)
        times = np.append(np.sort(at[stream == number]), _NEVER)
        visible_ns[rows] = times[np.searchsorted(times, extents.last[rows])]
    return visible_ns


def _united(pieces: list[tuple[int, int, int, int]]) -> int:
    """Return the number of bytes in the union of the ranges."""
    total, reached = 0, -_NEVER
    for low, high, _, _ in sorted(pieces):
        total += max(high - max(low, reached), 0)
        reached = max(reached, high)
    return total
