"""Findings on the distribution of work: few processes, few movers of a collective, single nodes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ....events.counted_text import counted
from ....results.layers import Finding, Layers
from ...common.texts import duration_text, layer_label, list_text
from ..calls import LAYERS
from ..report_context import ReportContext
from ..settings import Thresholds
from ..state.tables import layer_name


def concentrated(view: ReportContext, report: Layers, limits: Thresholds) -> Iterator[Finding]:
    """Report layers whose time on data is concentrated in few processes."""
    process, layers, _ = view.by_process
    for number in range(LAYERS):
        everyone, noun = view.expected_processes(number)
        count = int(everyone.sum())
        rows = np.flatnonzero((layers == number) & everyone[process])
        rows = rows[np.argsort(-view.data_ns[rows], kind="stable")]
        times = view.data_ns[rows]
        total = int(times.sum())
        if count < 2 or total < limits.least_s * 1e9:
            continue
        few = int(np.searchsorted(np.cumsum(times), limits.time_share * total)) + 1
        share = float(times[:few].sum()) / total
        if few <= limits.few_processes * count:
            busiest = process[rows[:few]].tolist()
            hosts = sorted({view.host_name(each) for each in busiest})
            where = f" on {hosts[0]}" if len(hosts) == 1 and len(view.hosts) > 1 else ""
            yield Finding(
                rule="concentrated",
                layer=layer_name(number),
                text=f"{share:.0%} of {layer_label(layer_name(number))}'s time is spent in {few} of {count} "
                f"{noun}{where}: "
                f"{list_text(view.process(each) for each in busiest)}",
                value=share,
                threshold=limits.time_share,
                seconds=float(times[:few].sum()) / 1e9,
                numbers={"processes": few, "of": count, "layer_seconds": total / 1e9},
            )


def late(view: ReportContext, report: Layers, limits: Thresholds) -> Iterator[Finding]:
    """Report collective calls whose processes arrive at different times."""
    for each in report.collectives:
        share = each.late_seconds / each.seconds if each.seconds else 0.0
        if share < limits.late_share:
            continue
        yield Finding(
            rule="late",
            layer="MPIIO",
            text=f"{each.call} on {each.file}: {share:.0%} of its {duration_text(each.seconds)} passes before "
            f"the last of "
            f"{each.processes:,} processes has come, most often {each.last_process} ({each.last_rounds:,} of "
            f"{counted(each.rounds, 'times')})",
            value=share,
            threshold=limits.late_share,
            seconds=each.late_seconds,
            numbers={"rounds": each.rounds, "last_rounds": each.last_rounds, "call_seconds": each.seconds},
        )


def collectives(view: ReportContext, report: Layers, limits: Thresholds) -> Iterator[Finding]:
    """Report collective calls that move data but spend their time elsewhere.

    That time is outside the layers that move the data.
    """
    for each in report.collectives:
        if each.seconds < limits.least_s or each.processes < 2 or not each.moved_bytes or not each.bytes:
            continue
        few = each.movers <= max(1, limits.few_processes * each.processes)
        outside = each.seconds - each.moving_seconds
        seconds = each.waiting_seconds if few else outside
        share = seconds / each.seconds
        if share < limits.waiting_share:
            continue
        call, of = f"{each.call} on {each.file}", f"{each.movers:,} of {each.processes:,} processes"
        if few:
            others = each.processes - each.movers
            apiece = f" ({duration_text(each.waiting_seconds / others)} each)" if others else ""
            text = (
                f"{call}: {of} move all data below; {share:.0%} of the call's time is spent by the others, who move "
                f"none{apiece}; moving it takes {duration_text(each.moving_seconds)}, and "
                f"{duration_text(each.late_seconds)} pass "
                "before the last has come"
            )
        else:
            text = (
                f"{call}: {of} move data below, which takes {1 - share:.0%} of the call's time; the rest is spent in "
                "exchanging it and waiting for one another"
            )
        yield Finding(
            rule="movers" if few else "exchange",
            layer="MPIIO",
            text=text,
            value=share,
            threshold=limits.waiting_share,
            seconds=seconds,
            numbers={
                "movers": each.movers,
                "processes": each.processes,
                "moved_bytes": each.moved_bytes,
                "moving_seconds": each.moving_seconds,
            },
        )


def node_local(view: ReportContext, report: Layers, limits: Thresholds) -> Iterator[Finding]:
    """Report jobs on several nodes that use node-local file systems."""
    moved = sum(row.bytes_read + row.bytes_written for row in report.mounts)
    local = [row for row in report.mounts if row.scope == "local" and row.hosts > 1]
    mine = sum(row.bytes_read + row.bytes_written for row in local)
    if moved and mine / moved >= limits.local_share:
        yield Finding(
            rule="node_local",
            layer="",
            text=f"{mine / moved:.0%} of all bytes go to {list_text(row.mount_point for row in local)}, which each "
            f"of {max(row.hosts for row in local)} nodes has for itself",
            value=mine / moved,
            threshold=limits.local_share,
            seconds=sum(row.seconds for row in local),
            numbers={"bytes": mine, "of": moved},
        )
