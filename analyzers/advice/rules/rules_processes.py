"""Rules for the distribution of work: imbalance, mounts, checkpoint intervals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from ....events import Kind
from ....results.advice import AdviceFinding
from ....results.prediction import PERIODIC_FROM, Prediction
from ...common.state import Ints
from ...common.texts import duration_text, size_text
from ..call_statistics import Calls, Floats
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


def imbalance(calls: Calls, run_s: float, floor_s: float) -> Iterator[AdviceFinding]:
    """Report a rank that spends much more time in I/O than the others. The others wait for it."""
    statistics = calls.statistics
    ranked = np.flatnonzero([thread.rank >= 0 for thread in statistics.threads])
    if not len(ranked):
        return
    ranks = np.array([thread.rank for thread in statistics.threads])
    rows = np.flatnonzero(np.isin(calls.thread, ranked))
    numbers = np.unique(ranks[ranked])
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
