"""What stands out in a report: one rule a function, each with its threshold and the numbers behind what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

import numpy as np

from ...events.layers import Account, Collective, Finding, Layers
from .calls import BOTTOM, LAYERS
from .handles import ROOT
from .settings import Thresholds
from .tables import NODE, PROCESS, layer_name
from .view import View

_LOWEST: Final = {layer_name(layer) for layer in range(LAYERS) if BOTTOM >> layer & 1}
_SPOKEN: Final = {"MPIIO": "MPI-IO", "NETCDF": "NetCDF", "PNETCDF": "PnetCDF"}
_KIB: Final = 1024


def findings(view: View, report: Layers, limits: Thresholds) -> list[Finding]:
    """Returns what stands out, what takes the most time first."""
    found = [each for rule in _RULES for each in rule(view, report, limits) if each.seconds >= limits.least_s]
    return sorted(found, key=lambda finding: -finding.seconds)


def spoken(layer: str) -> str:
    """Returns what people call a layer."""
    return _SPOKEN.get(layer, layer)


def _concentrated(view: View, report: Layers, limits: Thresholds) -> Iterator[Finding]:
    """Few processes have most of a layer's time."""
    everyone, noun = view.crowd()
    process, layers, sums = view.by_process
    count = int(everyone.sum())
    for number in range(LAYERS):
        rows = (layers == number) & everyone[process]
        times = np.sort(sums[rows, PROCESS.index("exclusive_ns")])[::-1]
        total = int(times.sum())
        if count < 2 or total < limits.least_s * 1e9:
            continue
        few = int(np.searchsorted(np.cumsum(times), limits.time_share * total)) + 1
        share = float(times[:few].sum()) / total
        if few <= limits.few_processes * count:
            yield Finding(
                rule="concentrated",
                layer=layer_name(number),
                text=f"{share:.0%} of {spoken(layer_name(number))}'s time is spent in {few} of {count} {noun}",
                value=share,
                threshold=limits.time_share,
                seconds=float(times[:few].sum()) / 1e9,
                numbers={"processes": few, "of": count, "layer_seconds": total / 1e9},
            )


def _movers(view: View, report: Layers, limits: Thresholds) -> Iterator[Finding]:
    """Few ranks move a collective's data, and the others spend their time otherwise."""
    for each in report.collectives:
        if each.seconds < limits.least_s or each.processes < 2 or not each.moved_bytes or not each.bytes:
            continue
        few = each.movers <= max(1, limits.few_processes * each.processes)
        share = each.waiting_seconds / each.seconds
        if few and share >= limits.waiting_share:
            yield Finding(
                rule="movers",
                layer="MPIIO",
                text=f"{each.call} on {each.file}: {each.movers} of {each.processes} processes move all data below; "
                f"{share:.0%} of the call's time is spent by the others, who move none{_apiece(each)}",
                value=share,
                threshold=limits.waiting_share,
                seconds=each.waiting_seconds,
                numbers={
                    "movers": each.movers,
                    "processes": each.processes,
                    "moved_bytes": each.moved_bytes,
                    "moving_seconds": each.moving_seconds,
                },
            )


def _amplified(view: View, report: Layers, limits: Thresholds) -> Iterator[Finding]:
    """A layer makes many calls of one, or moves more or fewer bytes than went in."""
    times = {row.layer: row for row in report.layers}
    for account in report.accounts:
        seconds = times[account.layer].exclusive_seconds if account.layer in times else 0.0
        below = account.below_calls + account.other_calls
        if account.calls and below / account.calls >= limits.calls_below:
            yield Finding(
                rule="more_calls",
                layer=account.layer,
                text=f"{spoken(account.layer)} makes {below / account.calls:.1f} {account.way}s below of each of its "
                f"{account.calls:,} {account.way}s",
                value=below / account.calls,
                threshold=limits.calls_below,
                seconds=seconds,
                numbers={"calls": account.calls, "below": below},
            )
        moved = account.below_bytes + account.other_bytes
        if account.bytes < _KIB or not below:
            continue
        ratio = moved / account.bytes
        if ratio >= limits.bytes_below or ratio <= 1 / limits.bytes_below:
            yield Finding(
                rule="more_bytes" if ratio > 1 else "fewer_bytes",
                layer=account.layer,
                text=f"{ratio:.2f} bytes are {_past(account)} below {spoken(account.layer)} for each byte that goes "
                f"through it ({moved:,} for {account.bytes:,})",
                value=ratio,
                threshold=limits.bytes_below if ratio > 1 else 1 / limits.bytes_below,
                seconds=seconds,
                numbers={"bytes": account.bytes, "below": account.below_bytes, "by_others": account.other_bytes},
            )


def _small(view: View, report: Layers, limits: Thresholds) -> Iterator[Finding]:
    """Requests of the lowest layers are small."""
    for row in report.layers:
        for way, calls, median, asked in (
            ("read", row.reads, row.median_read, row.asked_read),
            ("write", row.writes, row.median_write, row.asked_written),
        ):
            if row.layer not in _LOWEST or median is None or calls < limits.small_calls or median >= limits.small_bytes:
                continue
            yield Finding(
                rule="small_requests",
                layer=row.layer,
                text=f"half of {spoken(row.layer)}'s {calls:,} {way}s ask for less than {max(1, 2 * median):,} "
                f"bytes, {asked // max(1, calls):,} on average",
                value=median,
                threshold=limits.small_bytes,
                seconds=row.exclusive_seconds - row.metadata_seconds,
                numbers={"calls": calls, "asked": asked},
            )


def _own(view: View, report: Layers, limits: Thresholds) -> Iterator[Finding]:
    """A layer spends time on files that its caller never named."""
    times = {row.layer: row for row in report.layers}
    for own in report.own_files:
        caller = times.get(own.layer)
        if caller is None or caller.seconds <= 0:
            continue
        share = own.seconds / caller.seconds
        if share >= limits.own_share:
            yield Finding(
                rule="own_files",
                layer=own.layer,
                text=f"{spoken(own.layer)} makes {own.calls:,} calls of {spoken(own.below)} on {own.files:,} files of "
                f"its own, such as {own.examples[0]}: {share:.1%} of its time",
                value=share,
                threshold=limits.own_share,
                seconds=own.seconds,
                numbers={"files": own.files, "calls": own.calls},
            )


def _churn(view: View, report: Layers, limits: Thresholds) -> Iterator[Finding]:
    """Files are opened again and again for little."""
    process, node, sums = view.by_node
    tree = view.analyzer.handles
    layer, kind = np.array(tree.layers)[node], np.array(tree.classes)[node]
    inner = np.array(tree.parents)  # what lies in an opened file, such as a dataset, is no file
    inner = (inner != ROOT) & (np.array(tree.layers)[inner] == np.array(tree.layers))
    sums = np.where(inner[node, None], 0, sums)
    files = np.bincount(np.array(view.analyzer.files.classes), minlength=len(view.analyzer.files.names))
    at = {name: NODE.index(name) for name in NODE}
    for each in np.unique(np.stack([layer, kind]), axis=1).T.tolist():
        rows = (layer == each[0]) & (kind == each[1])
        total = sums[rows].sum(axis=0)
        opens = int(total[at["opens"]])
        if not each[1] or not opens:
            continue
        times = opens / max(1, int(files[each[1]]), len(np.unique(process[rows & (sums[:, at["opens"]] > 0)])))
        moves = (int(total[at["reads"]]) + int(total[at["writes"]])) / opens
        if times >= limits.churn_opens and moves < limits.churn_moves:
            name = layer_name(each[0])
            yield Finding(
                rule="churn",
                layer=name,
                text=f"{view.class_path(each[1])} is opened {opens:,} times in {spoken(name)} ({times:.0f} times "
                f"a file and process) for {moves:.1f} reads and writes each time",
                value=times,
                threshold=limits.churn_opens,
                seconds=int(total[at["exclusive_ns"]]) / 1e9,
                numbers={"opens": opens, "moves_each": moves},
            )


def _metadata(view: View, report: Layers, limits: Thresholds) -> Iterator[Finding]:
    """Most of a layer's own time goes to calls that move nothing."""
    for row in report.layers:
        if row.exclusive_seconds < limits.least_s or not row.reads + row.writes:
            continue
        share = row.metadata_seconds / row.exclusive_seconds
        if share >= limits.metadata_share:
            calls = row.opens + row.closes + row.others
            yield Finding(
                rule="metadata",
                layer=row.layer,
                text=f"{share:.0%} of {spoken(row.layer)}'s own time goes to {calls:,} calls that move no data",
                value=share,
                threshold=limits.metadata_share,
                seconds=row.metadata_seconds,
                numbers={"calls": calls, "layer_seconds": row.exclusive_seconds},
            )


def _failed(view: View, report: Layers, limits: Thresholds) -> Iterator[Finding]:
    """Many of a layer's calls fail."""
    for row in report.layers:
        share = row.failed / row.calls if row.calls else 0.0
        if share >= limits.failed_share:
            number = next(at for at in range(LAYERS) if layer_name(at) == row.layer)
            yield Finding(
                rule="failed",
                layer=row.layer,
                text=f"{share:.0%} of {spoken(row.layer)}'s {row.calls:,} calls fail",
                value=share,
                threshold=limits.failed_share,
                seconds=view.of_layer(number, "failed_ns") / 1e9,
                numbers={"failed": row.failed, "calls": row.calls},
            )


def _local(view: View, report: Layers, limits: Thresholds) -> Iterator[Finding]:
    """A job of several nodes works on file systems that each node has for itself."""
    moved = sum(row.bytes_read + row.bytes_written for row in report.mounts)
    local = [row for row in report.mounts if row.scope == "local" and row.hosts > 1]
    mine = sum(row.bytes_read + row.bytes_written for row in local)
    if moved and mine / moved >= limits.local_share:
        yield Finding(
            rule="node_local",
            layer="",
            text=f"{mine / moved:.0%} of all bytes go to {', '.join(row.mount_point for row in local[:3])}, which each "
            f"of {max(row.hosts for row in local)} nodes has for itself",
            value=mine / moved,
            threshold=limits.local_share,
            seconds=sum(row.seconds for row in local),
            numbers={"bytes": mine, "of": moved},
        )


def _apiece(each: Collective) -> str:
    others = each.processes - each.movers
    return f" ({each.waiting_seconds / others:.3g} s each)" if others else ""


def _past(account: Account) -> str:
    return "read" if account.way == "read" else "written"


_RULES: Final[tuple[Callable[[View, Layers, Thresholds], Iterator[Finding]], ...]] = (
    _concentrated,
    _movers,
    _amplified,
    _small,
    _own,
    _churn,
    _metadata,
    _failed,
    _local,
)
