"""What I/O costs a job: the share of its time that its members spend in calls on its data."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from ....results.jobs.heat_map import HeatMap, HeatRow

_LONGEST_NAME: Final = 36
_KEPT: Final = 16


class Cost(Struct, frozen=True):
    """Shares of the time that the job was seen.

    Attributes:
        slowest: the member that spends the most.
        slowest_s: the time that it spends.
        slowest_share: its share; may pass 1 where threads do I/O at the same time.
        mean_share: of all members.
        span_s: the time.
    """

    slowest: str
    slowest_s: float
    slowest_share: float
    mean_share: float
    span_s: float


def cost_of(heat: HeatMap | None, span_s: float) -> Cost | None:
    """Returns what I/O costs; None where nobody was seen to do any.

    Args:
        heat: time in calls by member and moment.
        span_s: how long the job was seen.
    """
    if heat is None or not heat.rows or span_s <= 0:
        return None
    slowest = max(heat.rows, key=_most_of)
    total = sum(row.seconds for row in heat.rows)
    return Cost(
        slowest=short_name(slowest.most or slowest.name),
        slowest_s=_most_of(slowest),
        slowest_share=_most_of(slowest) / span_s,
        mean_share=total / max(heat.members, 1) / span_s,
        span_s=span_s,
    )


def short_name(name: str) -> str:
    """Returns a member's name without the end of a long command; which process it is stays.

    >>> short_name("rank 3"), short_name("fio --name=ckpt --rw=write --bs=1m (n1:20906)")
    ('rank 3', 'fio --name=ckpt ... (n1:20906)')
    """
    if len(name) <= _LONGEST_NAME:
        return name
    command, bracket, place = name.rpartition(" (")
    return f"{command[:_KEPT].rstrip()} ...{bracket}{place}" if bracket else f"{name[:_LONGEST_NAME]} ..."


def _most_of(row: HeatRow) -> float:
    """Returns the time of the member of a row that spends the most; their mean where that is not known."""
    return row.most_seconds or row.seconds / row.members


def share_text(share: float) -> str:
    """Writes a share; small ones keep a digit.

    >>> share_text(0.25), share_text(0.004), share_text(0.00001)
    ('25 %', '0.4 %', 'under 0.1 %')
    """
    if 0 < share < 0.001:
        return "under 0.1 %"
    return f"{share:.1%}".replace("%", " %") if share < 0.1 else f"{share:.0%}".replace("%", " %")
