"""Slowdown of a job by others: its overlapped phases compared with phases alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from ...results.base import Estimate
from ...results.contention import Culprit, Measure, Slowdown, Verdict
from .loads import Load
from .settings import ContentionSettings

Floats = npt.NDArray[np.float64]
_EXACT: Final = 40  # maximum number of differences for the exact distribution
_MIN_BLOCKS: Final = 3  # minimum number of blocks for a ratio
_INTERVAL: Final = 1.645  # half width of a 90 % interval, in standard deviations


@dataclass(frozen=True, slots=True)
class Evidence:
    """Result of comparing shared phases with neighbouring phases alone.

    Attributes:
        blocks: number of runs of shared phases with phases alone beside them.
        slowdown: ratio with its 90 % interval; None with fewer than three blocks.
        p_value: probability of ranks this large if sharing made no difference (Wilcoxon signed-rank test, one-sided).
    """

    blocks: int
    slowdown: Estimate | None
    p_value: float


def evidence_of(measure: Floats, shared: npt.NDArray[np.bool_], alone: npt.NDArray[np.bool_]) -> Evidence:
    """Compare each run of shared phases with the runs alone right before and after it.

    Slow changes, such as an unknown load, affect both. A run counts once independent of its length, since its phases
    may have one cause.

    Args:
        measure: value of each phase in order of time, > 0.
        shared: whether others overlapped each phase.
        alone: whether nothing overlapped it; phases that are neither are ignored.
    """
    rows = np.flatnonzero(shared | alone)
    if not len(rows):
        return Evidence(0, None, 1.0)
    logs, is_shared = np.log(measure[rows]), shared[rows]
    starts = np.flatnonzero(np.r_[True, is_shared[1:] != is_shared[:-1]])
    means = np.add.reduceat(logs, starts) / np.diff(np.r_[starts, len(rows)])
    blocks = np.flatnonzero(is_shared[starts])
    differences = [
        means[block] - np.mean([means[at] for at in (block - 1, block + 1) if 0 <= at < len(means)])
        for block in blocks.tolist()
        if len(means) > 1
    ]
    found = np.array(differences, np.float64)
    if len(found) < _MIN_BLOCKS:
        return Evidence(len(found), None, 1.0)
    middle = float(np.median(found))
    spread = 1.4826 * float(np.median(np.abs(found - middle)))
    wide = min(_INTERVAL * 1.2533 * spread / math.sqrt(len(found)), 50.0)
    interval = Estimate(value=math.exp(middle), low=math.exp(middle - wide), high=math.exp(middle + wide))
    return Evidence(len(found), interval, signed_rank(found))


def signed_rank(differences: Floats) -> float:
    """Return the one-sided p-value of Wilcoxon's signed-rank test for positive differences.

    >>> signed_rank(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    0.03125
    """
    values = differences[differences != 0]
    count = len(values)
    if not count:
        return 1.0
    ranks = _ranks(np.abs(values))
    positive = float(ranks[values > 0].sum())
    if count > _EXACT:
        mean, deviation = count * (count + 1) / 4, math.sqrt(float((ranks**2).sum()) / 4)
        return 0.5 * math.erfc((positive - mean - 0.5) / deviation / math.sqrt(2))
    doubled = np.rint(2 * ranks).astype(np.int64)  # ties have half-integer ranks
    ways = np.zeros(int(doubled.sum()) + 1)
    ways[0] = 1.0
    for rank in doubled.tolist():
        ways[rank:] = ways[rank:] + ways[: len(ways) - rank]
    return float(ways[int(np.rint(2 * positive)) :].sum() / 2.0**count)


def _ranks(values: Floats) -> Floats:
    """Return ranks from 1; equal values share their mean rank."""
    _, number, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[number]


_ALONE: Final = 0.02  # maximum overlapped share of a phase that counts as alone
_SHARED: Final = 0.3  # minimum overlapped share of a phase that counts as shared
_MIN_SHARE: Final = 0.1  # minimum share of a named culprit in the work of all others
_EXPLAINED: Final = 0.5  # minimum ratio of the others' work to the loss of the job
_MIN_VERDICT_BLOCKS: Final = 5  # minimum number of blocks for a verdict
MEASURES: Final[tuple[Measure, ...]] = ("data", "metadata")


@dataclass(frozen=True)
class Victim:
    """Phases of a job on a file system, with the overlap by others.

    Attributes:
        load: load of the job.
        rows: phases with a value.
        measure: time per byte, or per metadata call.
        overlap: share of each phase overlapped by each other job, float[others, phases].
        others: loads of these other jobs.
    """

    load: Load
    kind: Measure
    rows: npt.NDArray[np.intp]
    measure: Floats
    overlap: Floats
    others: list[Load]

    @classmethod
    def of(cls, load: Load, others: Sequence[Load], kind: Measure) -> Victim:
        """Compute the overlap of other jobs with a job's phases."""
        rows = np.flatnonzero((load.moved > 0) & (load.seconds > 0) & (load.end > load.start))
        start, end = load.start[rows], load.end[rows]
        meeting = [other for other in others if other is not load and len(other.start)]
        overlap = np.array([other.within(start, end) / (end - start) for other in meeting]).reshape(
            len(meeting), len(rows)
        )
        here = overlap.max(axis=1, initial=0.0) > _ALONE
        return cls(
            load,
            kind,
            rows,
            load.seconds[rows] / load.moved[rows],
            overlap[here],
            [o for o, h in zip(meeting, here, strict=True) if h],
        )

    @property
    def alone(self) -> npt.NDArray[np.bool_]:
        """Whether each phase has no overlap."""
        found: npt.NDArray[np.bool_] = self.overlap.sum(axis=0) <= _ALONE
        return found

    @property
    def shared(self) -> npt.NDArray[np.bool_]:
        """Whether others overlapped each phase."""
        found: npt.NDArray[np.bool_] = self.overlap.max(axis=0, initial=0.0) >= _SHARED
        return found

    def tested(self) -> int:
        """Return the number of tests for this job."""
        return 1 + len(self.others) if self.alone.any() and self.shared.any() else 0


def slowdown_of(victim: Victim, tests: int, settings: ContentionSettings) -> Slowdown | None:
    """Return the slowdown of a job on a file system. Returns None if its I/O never overlapped that of others.

    Args:
        victim: phases of the job.
        tests: total number of tests, which tightens each one.
        settings: thresholds.
    """
    alone, shared = victim.alone, victim.shared
    if not shared.any():
        return None
    found = evidence_of(victim.measure, shared, alone)
    p_value = min(1.0, found.p_value * max(tests, 1))
    completeness = min([victim.load.completeness, *(other.completeness for other in victim.others)])
    verdict = _verdict(found, p_value, settings)
    culprits: list[Culprit] = []
    why = ""
    if victim.load.completeness < settings.min_completeness:
        verdict, why = "unsure", "too much of the job's calls was lost"
    elif found.blocks < _MIN_VERDICT_BLOCKS:
        why = "there are too few phases that nobody overlapped to compare with"
    elif verdict == "slowed":
        culprits, why = _culprits(victim, found, tests, settings)
    return Slowdown(
        job=victim.load.job,
        file_system="",
        measure=victim.kind,
        verdict=verdict,
        slowdown=found.slowdown,
        p_value=p_value,
        alone_phases=int(alone.sum()),
        shared_phases=int(shared.sum()),
        last_shared_s=float(victim.load.end[victim.rows[shared]].max()),
        blocks=found.blocks,
        completeness=completeness,
        culprits=culprits,
        no_culprit=why,
    )


def _verdict(found: Evidence, p_value: float, settings: ContentionSettings) -> Verdict:
    if found.slowdown is None or found.blocks < _MIN_VERDICT_BLOCKS:
        return "unsure"
    if p_value <= settings.p_value and found.slowdown.value >= settings.min_slowdown and found.slowdown.low > 1:
        return "slowed"
    return "not_slowed" if found.slowdown.high < settings.min_slowdown else "unsure"


def _culprits(victim: Victim, found: Evidence, tests: int, settings: ContentionSettings) -> tuple[list[Culprit], str]:
    """Return the culprits, or the reason why none can be named."""
    incomplete = [other.job for other in victim.others if other.completeness < settings.min_completeness]
    if incomplete:
        return [], f"calls were lost of {', '.join(incomplete[:3])}, which did I/O at the same time"
    shared = victim.shared
    rows = victim.rows[shared]
    start, end = victim.load.start[rows], victim.load.end[rows]
    moved = np.array([float(other.within(start, end, other.moved).sum()) for other in victim.others])
    together = np.array([float(other.within(start, end).sum()) for other in victim.others])
    if not _explains(victim, found, float(moved.sum())):
        return [], "what the others did then is too little: there is a load that is not known"
    culprits = []
    for at, other in enumerate(victim.others):
        share = min(float(moved[at] / max(moved.sum(), 1e-9)), 1.0)
        if share < _MIN_SHARE:
            continue
        own = evidence_of(victim.measure, victim.overlap[at] >= _SHARED, victim.alone)
        p_value = min(1.0, own.p_value * max(tests, 1))
        if own.slowdown is None or _verdict(own, p_value, settings) != "slowed":
            continue
        culprits.append(
            Culprit(
                job=other.job,
                user=other.user,
                done=int(moved[at]),
                share=share,
                overlap_s=float(together[at]),
                slowdown=own.slowdown,
                p_value=p_value,
            )
        )
    culprits.sort(key=lambda one: -one.share)
    return culprits, "" if culprits else "no single job explains it"


def _explains(victim: Victim, found: Evidence, done: float) -> bool:
    """Return whether the others' work matches the loss. The loss is what the job would have done in that time."""
    if found.slowdown is None:
        return False
    own = float(victim.load.moved[victim.rows[victim.shared]].sum())
    return done >= _EXPLAINED * own * (found.slowdown.value - 1)
