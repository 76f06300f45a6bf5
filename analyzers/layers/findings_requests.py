"""What stands out of how requests change on their way down."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...events.layers import Account, Finding, Layers, Step
from .settings import Thresholds
from .spoken import lasting, some, spoken
from .view import View

_KIB: Final = 1024


def amplified(view: View, report: Layers, limits: Thresholds) -> Iterator[Finding]:
    """A layer makes many calls of one, moves more or fewer bytes than went in, or reads in order to write."""
    for account in report.accounts:
        mine = [step for step in report.steps if step.caller == account.layer != step.layer]
        below = [step for step in mine if step.way == account.way]
        crossed = [step for step in below if step.caller_way not in (account.way, "other")]
        yield from _crossed(account, crossed, limits)
        yield from _more(report, account, [step for step in below if step not in crossed], limits)


def _crossed(account: Account, steps: list[Step], limits: Thresholds) -> Iterator[Finding]:
    """Reads in calls that write: blocks are read, changed and written back."""
    size = sum(step.bytes for step in steps)
    written = account.way == "read" and size >= _KIB
    if written:
        seconds = sum(step.seconds for step in steps)
        yield Finding(
            rule="read_to_write",
            layer=account.layer,
            text=f"{spoken(account.layer)}'s writes read {size:,} bytes below in "
            f"{some(sum(step.calls for step in steps), 'read')} ({lasting(seconds)}): blocks that are written in part "
            "are read before",
            value=size,
            threshold=_KIB,
            seconds=seconds,
            numbers={"bytes": size},
        )


def _more(report: Layers, account: Account, steps: list[Step], limits: Thresholds) -> Iterator[Finding]:
    """More calls or bytes below than went in, or fewer bytes."""
    calls, moved = sum(step.calls for step in steps), sum(step.bytes for step in steps)
    seconds = sum(step.seconds for step in steps)
    name = spoken(account.layer)
    if account.calls and calls / account.calls >= limits.calls_below:
        yield Finding(
            rule="more_calls",
            layer=account.layer,
            text=f"{name} makes {some(calls, account.way)} below for {some(account.calls, account.way)} of its own "
            f"({calls / account.calls:,.1f} each, {lasting(seconds)})",
            value=calls / account.calls,
            threshold=limits.calls_below,
            seconds=seconds,
            numbers={"calls": account.calls, "below": calls},
        )
    if account.bytes < _KIB or not calls:
        return
    ratio = moved / account.bytes
    if ratio >= limits.bytes_below or ratio <= 1 / limits.bytes_below:
        rows = [row for row in report.fates if row.layer == account.layer and row.way == account.way]
        past = "read" if account.way == "read" else "written"
        yield Finding(
            rule="more_bytes" if ratio > 1 else "fewer_bytes",
            layer=account.layer,
            text=f"{ratio:.2f} bytes are {past} below {name} for each byte that goes through it ({moved:,} for "
            f"{account.bytes:,})",
            value=ratio,
            threshold=limits.bytes_below if ratio > 1 else 1 / limits.bytes_below,
            seconds=seconds if ratio > 1 else sum(row.seconds for row in rows),
            numbers={"bytes": account.bytes, "below": moved},
        )
