"""Findings on requests that change on their way down."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ....events.counted_text import counted
from ....results.layers import Account, Finding, Layers, Step
from ...common.texts import duration_text, layer_label
from ..report_context import ReportContext
from ..settings import Thresholds

_KIB: Final = 1024
_FORMATS: Final = ("HDF5", "NETCDF", "PNETCDF")


def amplified(view: ReportContext, report: Layers, limits: Thresholds) -> Iterator[Finding]:
    """Report layers that amplify requests.

    They make many calls per request, move more or fewer bytes, or read in order to write.
    """
    for account in report.accounts:
        mine = [step for step in report.steps if step.caller == account.layer != step.layer]
        below = [step for step in mine if step.way == account.way]
        crossed = [step for step in below if step.caller_way not in (account.way, "other")]
        if account.way == "read":
            yield from _crossed(report, account.layer, crossed, limits)
        yield from _more(report, account, [step for step in below if step not in crossed], limits)


def computing(view: ReportContext, report: Layers, limits: Thresholds) -> Iterator[Finding]:
    """Report format libraries that spend most of the time of their requests themselves."""
    for row in report.layers:
        whole = _request_seconds(report, row.layer, "read") + _request_seconds(report, row.layer, "write")
        own = row.data_seconds - row.metadata_seconds
        if row.layer not in _FORMATS or whole < limits.least_s or own < limits.computing_share * whole:
            continue
        yield Finding(
            rule="computing",
            layer=row.layer,
            text=f"{own / whole:.0%} of the {duration_text(whole)} in {layer_label(row.layer)}'s reads and "
            f"writes is its own: "
            "filters, conversion, copies, messages, not the layers below",
            value=own / whole,
            threshold=limits.computing_share,
            seconds=own,
            numbers={"request_seconds": whole},
        )


def _request_seconds(report: Layers, layer: str, way: str) -> float:
    """Return the inclusive time of a layer's requests, s."""
    return sum(row.seconds for row in report.fates if row.layer == layer and row.way == way)


def _crossed(report: Layers, layer: str, steps: list[Step], limits: Thresholds) -> Iterator[Finding]:
    """Report reads within writes: blocks are read, changed and written back."""
    size = sum(step.bytes for step in steps)
    written = sum(row.bytes for row in report.accounts if row.layer == layer and row.way == "write")
    if size < _KIB or size < (limits.bytes_below - 1) * written:
        return
    seconds = sum(step.seconds for step in steps)
    yield Finding(
        rule="read_to_write",
        layer=layer,
        text=f"{layer_label(layer)}'s writes read {size:,} bytes below in "
        f"{counted(sum(step.calls for step in steps), 'reads')} "
        f"({duration_text(seconds)}) for {written:,} that they write: blocks that are written in part are read before",
        value=size / max(1, written),
        threshold=limits.bytes_below - 1,
        seconds=max(seconds, _request_seconds(report, layer, "write")),
        numbers={"bytes": size, "written": written},
    )


def _more(report: Layers, account: Account, steps: list[Step], limits: Thresholds) -> Iterator[Finding]:
    """Report more calls or bytes below than requested, or fewer bytes."""
    calls, moved = sum(step.calls for step in steps), sum(step.bytes for step in steps)
    below = sum(step.seconds for step in steps)
    seconds = max(below, _request_seconds(report, account.layer, account.way))
    name = layer_label(account.layer)
    if account.calls and calls / account.calls >= limits.calls_below:
        yield Finding(
            rule="more_calls",
            layer=account.layer,
            text=f"{name} makes {counted(calls, account.way + 's')} below for "
            f"{counted(account.calls, account.way + 's')} of its own "
            f"({calls / account.calls:,.1f} each, {duration_text(below)})",
            value=calls / account.calls,
            threshold=limits.calls_below,
            seconds=seconds,
            numbers={"calls": account.calls, "below": calls},
        )
    if account.bytes < _KIB or not calls:
        return
    ratio = moved / account.bytes
    if ratio >= limits.bytes_below or ratio <= 1 / limits.bytes_below:
        past = "read" if account.way == "read" else "written"
        yield Finding(
            rule="more_bytes" if ratio > 1 else "fewer_bytes",
            layer=account.layer,
            text=f"{ratio:.2f} bytes are {past} below {name} for each byte that goes through it ({moved:,} for "
            f"{account.bytes:,})",
            value=ratio,
            threshold=limits.bytes_below if ratio > 1 else 1 / limits.bytes_below,
            seconds=seconds,
            numbers={"bytes": account.bytes, "below": moved},
        )
