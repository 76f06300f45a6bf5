"""Cost of a job's I/O. It is the share of its time that ranks or processes spend in calls on its data."""

from __future__ import annotations

import re
from typing import Final

from msgspec import Struct

from ....results.findings import Findings
from ....results.jobs.heat_map import HeatRow
from ....results.jobs.job import JobDetail

_MAX_NAME: Final = 36
_RANKS: Final = re.compile(r"ranks? \d+(-\d+)?")
"""Name of a row of ranks; others are of processes without a rank, such as mpirun."""
_KEPT_LETTERS: Final = 16


class Cost(Struct, frozen=True):
    """Cost of I/O, as shares of the observed time of the job.

    Attributes:
        slowest: rank or process that spends the most; "" if there is only one.
        slowest_s: its time in I/O, s.
        slowest_share: its share; without advice, it exceeds 1 if threads do I/O at the same time.
        mean_share: mean share of all ranks; None without ranks.
        overlaps: calls without a known rank or thread overlap, so that they take more than the observed time. The share
            is then the mean of the ranks; 0 without ranks.
    """

    slowest: str
    slowest_s: float
    slowest_share: float
    mean_share: float | None
    overlaps: bool = False


def io_cost(findings: Findings, job: JobDetail, span_s: float) -> Cost | None:
    """Return the cost of I/O; None if no I/O was observed.

    The advice counts members that do I/O one after another as one, like the sentences beside it. Without advice, the
    heat map has the time of each process.

    Args:
        findings: advice, and time in calls by member and time bin.
        job: the job with its ranks.
        span_s: observed time of the job.
    """
    heat, advice = findings.heat, findings.advice
    if span_s <= 0:
        return None
    several = heat is not None and heat.members > 1
    mean_share = None
    if heat is not None and job.ranks > 1:
        of_ranks = sum(row.seconds for row in heat.rows if _RANKS.fullmatch(row.name))
        mean_share = of_ranks / job.ranks / span_s
    if advice is not None and advice.io_s > 0:
        if not advice.slowest and advice.overlaps:
            return Cost(
                "", advice.io_s, advice.io_s / job.ranks / span_s if job.ranks > 1 else 0.0, None, overlaps=True
            )
        slowest = short_name(advice.slowest) if several or advice.lanes > 1 else ""
        return Cost(slowest, advice.io_s, min(advice.io_s / span_s, 1.0), mean_share)
    if heat is None or not heat.rows:
        return None
    row = max(heat.rows, key=_slowest_time)
    return Cost(
        short_name(row.most or row.name) if several else "", _slowest_time(row), _slowest_time(row) / span_s, mean_share
    )


def short_name(name: str) -> str:
    """Return a member's name with a shortened command; the process id is kept.

    >>> short_name("rank 3"), short_name("fio --name=ckpt --rw=write --bs=1m (n1:20906)")
    ('rank 3', 'fio --name=ckpt ... (n1:20906)')
    """
    if len(name) <= _MAX_NAME:
        return name
    command, bracket, place = name.rpartition(" (")
    return f"{command[:_KEPT_LETTERS].rstrip()} ...{bracket}{place}" if bracket else f"{name[:_MAX_NAME]} ..."


def _slowest_time(row: HeatRow) -> float:
    """Return the longest time of a member of the row, or the mean if that is unknown."""
    return row.most_seconds or row.seconds / row.members


def share_text(share: float) -> str:
    """Format a share; small ones keep a digit.

    >>> share_text(0.25), share_text(0.004), share_text(0.00001)
    ('25 %', '0.4 %', 'under 0.1 %')
    """
    if 0 < share < 0.001:
        return "under 0.1 %"
    return f"{share:.1%}".replace("%", " %") if share < 0.1 else f"{share:.0%}".replace("%", " %")
