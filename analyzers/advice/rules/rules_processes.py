"""Rules for work of several processes: imbalance, mounts, checkpoint intervals, and conflicting accesses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from ....events import Kind
from ....results.advice import AdviceFinding
from ....results.prediction import PERIODIC_FROM, Prediction
from ...common.sorting import distinct_pairs, is_among, sorted_distinct
from ...common.state import Ints
from ...common.texts import duration_text, size_text
from ..call_statistics import Calls, CallStatistics, Floats
from ..extents import Extents, Flushes
from .claims import FindingText, finding_of, group_of

_UNEVEN: Final = 1.5  # minimum ratio to the mean time, bytes or calls for an imbalance
_SLOWER: Final = 2.5
"""Minimum ratio to the mean time for a rank that does no more work than others."""
_NETWORK: Final = frozenset({"nfs", "nfs4", "cifs", "smb3", "fuse.sshfs", "9p"})
_PARALLEL: Final = frozenset({"lustre", "gpfs", "beegfs", "ceph", "pvfs2", "orangefs", "wekafs", "daos"})
_FASTER: Final = 2.0  # minimum ratio of bandwidths for a finding
_OFTEN: Final = 2.0  # minimum ratio of the best interval to the period
_MIN_PERIOD_S: Final = 0.1
_MIN_BYTES: Final = 2**20
"""Minimum period (s) and minimum bytes per phase of a checkpoint."""
_MAX_PAIRS: Final = 200_000
"""Maximum number of compared pairs of extents per file; further pairs are ignored."""
_NEVER: Final = 2**62  # time of extents that never become visible, ns


def imbalance(calls: Calls, run_s: float, floor_s: float) -> Iterator[AdviceFinding]:
    """Report a rank that spends much more time in I/O than the others. The others wait for it."""
    statistics = calls.statistics
    ranked = np.flatnonzero([thread.rank >= 0 for thread in statistics.threads])
    if not len(ranked):
        return
    ranks = np.array([thread.rank for thread in statistics.threads])
    rows = np.flatnonzero(is_among(calls.thread, ranked))
    numbers = sorted_distinct(ranks[ranked])
    if len(numbers) < 2 or not len(rows):
        return
    which = np.searchsorted(numbers, ranks[calls.thread[rows]])

    def by_rank(values: Ints) -> Floats:
        return np.bincount(which, values[rows].astype(np.float64), minlength=len(numbers)).astype(np.float64)

    ns, size, count = by_rank(calls.ns), by_rank(calls.bytes), by_rank(calls.calls)
    most, mean = float(ns.max()) / 1e9, float(ns.mean()) / 1e9
    at = int(np.argmax(ns))
    does_more = size[at] >= _UNEVEN * size.mean() > 0 or count[at] >= _UNEVEN * count.mean()
    if most < (_UNEVEN if does_more else _SLOWER) * mean or most - mean < floor_s:
        return
    rank = int(numbers[at])
    part = f"it moves {size[at] / max(size.sum(), 1.0):.0%} of the bytes"
    if does_more:
        change = "Let all ranks write their part: collective calls, or a file a rank; or more aggregators (cb_nodes)."
    else:
        part += ", no more than its part"
        change = "Look at its node and at the storage targets of its files (lfs getstripe): one is slow or busy."
    words = FindingText(
        title=f"rank {rank} spends {duration_text(most)} in I/O, the {len(numbers):,} ranks "
        f"{duration_text(mean)} on average; "
        f"{part}",
        why="The others wait for the slowest rank at the next point where all meet.",
        change=change,
    )
    chosen = rows[which == at]
    yield finding_of(group_of(calls, chosen), "imbalance", words, most - mean, run_s, {"ranks": float(len(numbers))})


def mounts(calls: Calls, run_s: float, floor_s: float) -> Iterator[AdviceFinding]:
    """Report data on a home file system while the job uses a faster one."""
    statistics = calls.statistics
    kinds = np.array([info.filesystem for info in statistics.files])
    moves = calls.reads | calls.writes
    fast = moves & np.isin(kinds[calls.file], list(_PARALLEL))
    slow = np.flatnonzero(moves & np.isin(kinds[calls.file], list(_NETWORK)))
    if not fast.any() or not len(slow):
        return
    reached = float(calls.bytes[fast].sum()) / max(float(calls.ns[fast].sum()), 1.0)
    got = float(calls.bytes[slow].sum()) / max(float(calls.ns[slow].sum()), 1.0)
    if reached < _FASTER * got:
        return
    gain = statistics.slowest(calls.ns[slow] * (1.0 - got / reached), calls.thread[slow])
    if gain < floor_s:
        return
    group = group_of(calls, slow)
    here, there = (statistics.files[int(calls.file[at])] for at in (slow[0], np.flatnonzero(fast)[0]))
    words = FindingText(
        title=f"{size_text(group.size)} go through {here.mount_point} ({here.filesystem}) at {size_text(got * 1e9)}/s, "
        f"{there.mount_point} ({there.filesystem}) does {size_text(reached * 1e9)}/s in the same job",
        why="A file system for homes has one server; a parallel one has many.",
        change=f"Put these files below {there.mount_point}, and copy what is to stay when the job is over.",
    )
    yield finding_of(group, "mount", words, gain, run_s)


def checkpoints(calls: Calls, periodicity: Prediction | None, run_s: float, floor_s: float) -> Iterator[AdviceFinding]:
    """Report checkpoints that are more frequent than the failure rate justifies (Young, Daly)."""
    if (
        periodicity is None
        or periodicity.period_s is None
        or periodicity.confidence < PERIODIC_FROM
        or periodicity.scores is None
    ):
        return
    period, cost = float(periodicity.period_s.value), float(periodicity.scores.burst_width_s)
    writes = calls.writes | (calls.kind == int(Kind.SYNC))
    rows = np.flatnonzero(writes)
    if not len(rows) or period <= 0 or cost <= 0 or cost >= period:
        return
    phases = max(run_s / period, 1.0)
    synced = np.flatnonzero(calls.kind == int(Kind.SYNC))
    moving_s, flushing_s = (
        calls.statistics.slowest(calls.ns[some].astype(np.float64), calls.thread[some])
        for some in (np.flatnonzero(calls.writes), synced)
    )
    cost = min(cost, moving_s / phases) + flushing_s / phases  # a signal of bytes does not show the duration of flushes
    mtbf = calls.statistics.settings.mtbf_s
    best = float(np.sqrt(2.0 * cost * mtbf))
    small = period < _MIN_PERIOD_S or float(calls.bytes[rows].sum()) < _MIN_BYTES * phases
    if small or not _OFTEN * period <= best <= run_s or phases < 3:
        return
    gain = phases * cost - run_s / best * cost
    if gain < floor_s:
        return
    words = FindingText(
        title=f"a phase of writes of {duration_text(cost)} every {duration_text(period)}",
        why=f"With a failure every {duration_text(mtbf)} on average, a checkpoint that costs "
        f"{duration_text(cost)} pays off "
        f"every {duration_text(best)} (Young and Daly: the root of twice the cost times the time between failures).",
        change=f"If these are checkpoints, write one every {duration_text(best)}; mtbf_s is a setting (--mtbf).",
    )
    numbers = {"period_s": period, "cost_s": cost, "best_s": best, "mtbf_s": mtbf}
    yield finding_of(group_of(calls, rows), "checkpoints", words, gain, run_s, numbers)


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

    Source: the conflict detector of Recorder (Wang et al., IPDPS 2020) and VerifyIO's commit and session semantics.
    """
    statistics = calls.statistics
    found = [conflict for file in _shared(statistics.extents) if (conflict := _of_file(statistics, file))]
    for writers in (True, False):
        some = [each for each in found if each.writers == writers]
        if not some:
            continue
        files = np.array([each.file for each in some], np.int64)
        moves = np.flatnonzero((calls.reads | calls.writes) & is_among(calls.file, files))
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
    pairs = distinct_pairs(extents.file, extents.thread)
    files, users = np.unique(pairs[0], return_counts=True)
    shared = files[users > 1]
    found: list[int] = shared[is_among(shared, extents.file[extents.write])].tolist()
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
    for number in sorted_distinct(extents.stream).tolist():
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
