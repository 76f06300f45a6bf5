"""Findings on calls that move no data, and on the distribution of work over processes and nodes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ....events.counted_text import counted
from ....results.layers import Finding, Layers, LayerStats
from ...common.state import Ints
from ...common.texts import duration_text, layer_label, list_text
from ...file_groups import DATA
from ..calls import LAYERS
from ..report_context import ReportContext
from ..settings import Thresholds
from ..state.call_tables import NAMED, NODE, WAYS, layer_name, split_named, split_opened
from ..state.handles import ROOT

_OTHER = WAYS.index("other")


def own_files(view: ReportContext, report: Layers, limits: Thresholds) -> Iterator[Finding]:
    """Report layers that spend time on files that their caller never named."""
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
                text=f"{layer_label(own.layer)} makes {counted(own.calls, 'calls')} of {layer_label(own.below)} on "
                f"{counted(own.files, 'files')} of its own, such as {own.examples[0]}: {share:.1%} of its time",
                value=share,
                threshold=limits.own_share,
                seconds=own.seconds,
                numbers={"files": own.files, "calls": own.calls},
            )


def churn(view: ReportContext, report: Layers, limits: Thresholds) -> Iterator[Finding]:
    """Report data files that are opened repeatedly for little data."""
    if view.analyzer.tables.opened.dropped:
        return  # opens are not known completely
    _, node, sums = view.by_node
    tree, files = view.analyzer.handles, view.analyzer.files
    layers, parents = np.array(tree.layers), np.array(tree.parents)
    inner = (parents != ROOT) & (
        layers[parents] == layers
    )  # an object inside an opened file, such as a dataset, is no file
    opens, reads, writes, own = (sums[:, NODE.index(name)] for name in ("opens", "reads", "writes", "exclusive_ns"))
    size = len(files.names) * LAYERS
    key = np.array(tree.classes)[node] * LAYERS + layers[node]
    opened = _by_key(key, np.where(inner[node], 0, opens), size)
    moved, spent = _by_key(key, reads + writes, size), _by_key(key, own, size)
    file, layer = split_opened(view.analyzer.tables.opened.rows()[0])
    pairs = np.bincount(files.class_of(file) * LAYERS + layer, minlength=size)
    times = opened / np.maximum(pairs, 1)
    found = (times >= limits.churn_opens) & (moved < limits.churn_moves * opened) & (pairs > 0)
    unknown = moved[:LAYERS] > moved.reshape(-1, LAYERS).sum(axis=0) // 2  # the trace does not name the files
    for at in np.flatnonzero(found).tolist():
        kind, number = divmod(at, LAYERS)
        if not kind or unknown[number]:
            continue
        name, count, seconds = layer_name(number), int(opened[at]), int(spent[at]) / 1e9
        moves = int(moved[at]) / count
        use = f"for {moves:.1f} reads and writes each time" if moves else "and neither read nor written"
        yield Finding(
            rule="churn",
            layer=name,
            text=f"{view.class_path(kind)} is opened {count:,} times in {layer_label(name)} ({times[at]:,.0f} times "
            f"a file and process) {use} ({duration_text(seconds)})",
            value=float(times[at]),
            threshold=limits.churn_opens,
            seconds=seconds,
            numbers={"opens": count, "moves_each": moves},
        )


def metadata(view: ReportContext, report: Layers, limits: Thresholds) -> Iterator[Finding]:
    """Report layers whose own time on data is mostly in calls that move no data."""
    for row in report.layers:
        if row.data_seconds < limits.least_s or not row.reads + row.writes:
            continue
        share = row.metadata_seconds / row.data_seconds
        if share >= limits.metadata_share:
            call, count, seconds = _busiest(view, row, "exclusive_ns")
            yield Finding(
                rule="metadata",
                layer=row.layer,
                text=f"{share:.0%} of {layer_label(row.layer)}'s own time on data goes to calls that move "
                f"none, most of it "
                f"to {call} ({duration_text(seconds / 1e9)} in {counted(count, 'calls')})",
                value=share,
                threshold=limits.metadata_share,
                seconds=row.metadata_seconds,
                numbers={"layer_seconds": row.data_seconds},
            )


def failed(view: ReportContext, report: Layers, limits: Thresholds) -> Iterator[Finding]:
    """Report layers with many failed calls."""
    for row in report.layers:
        share = row.failed / row.calls if row.calls else 0.0
        if share >= limits.failed_share:
            call, _, times = _busiest(view, row, "failed")
            yield Finding(
                rule="failed",
                layer=row.layer,
                text=f"{share:.0%} of {layer_label(row.layer)}'s {counted(row.calls, 'calls')} fail, "
                f"{times:,} of them in "
                f"{call}",
                value=share,
                threshold=limits.failed_share,
                seconds=view.of_layer(view.number(row.layer), "failed_ns") / 1e9,
                numbers={"failed": row.failed, "calls": row.calls},
            )


def _by_key(key: Ints, values: Ints, size: int) -> Ints:
    total = np.zeros(size, np.int64)
    np.add.at(total, key, values)
    return total


def _busiest(view: ReportContext, layer: LayerStats, by: str) -> tuple[str, int, int]:
    """Return the call of a layer with the largest sum. It also returns its number of calls and the sum.

    For failures all calls count; for times only calls on data that move no bytes.
    """
    key, sums = view.analyzer.tables.named.rows()
    number, group, way, call = split_named(key)
    mine = number == view.number(layer.layer)
    if by != "failed":
        mine &= (group == DATA) & (way == _OTHER)
    calls, at = np.unique(call[mine], return_inverse=True)
    total = np.zeros((len(calls), len(NAMED)), np.int64)
    np.add.at(total, at, sums[mine])
    row = int(np.argmax(total[:, NAMED.index(by)]))
    return (
        view.call_name(int(calls[row])) or "calls without a name",
        int(total[row, 0]),
        int(total[row, NAMED.index(by)]),
    )


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
