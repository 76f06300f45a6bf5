"""What stands out of calls that move no data: files of a layer's own, opens, metadata, failures."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...events.layers import Finding, Layers, LayerStats
from .groups import DATA
from .handles import ROOT
from .settings import Thresholds
from .spoken import lasting, some, spoken
from .tables import NAMED, NODE, WAYS, layer_name, split_named
from .view import View

_OTHER = WAYS.index("other")


def own_files(view: View, report: Layers, limits: Thresholds) -> Iterator[Finding]:
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
                text=f"{spoken(own.layer)} makes {some(own.calls, 'call')} of {spoken(own.below)} on "
                f"{some(own.files, 'file')} of its own, such as {own.examples[0]}: {share:.1%} of its time",
                value=share,
                threshold=limits.own_share,
                seconds=own.seconds,
                numbers={"files": own.files, "calls": own.calls},
            )


def churn(view: View, report: Layers, limits: Thresholds) -> Iterator[Finding]:
    """Files of data are opened again and again for little."""
    process, node, sums = view.by_node
    tree = view.analyzer.handles
    layer, kind = np.array(tree.layers)[node], np.array(tree.classes)[node]
    inner = np.array(tree.parents)  # what lies in an opened file, such as a dataset, is no file
    inner = (inner != ROOT) & (np.array(tree.layers)[inner] == np.array(tree.layers))
    aside = np.array(view.analyzer.files.class_groups)[kind] != DATA
    sums = np.where(inner[node, None] | aside[:, None], 0, sums)
    files = np.bincount(np.array(view.analyzer.files.classes), minlength=len(view.analyzer.files.names))
    at = {name: NODE.index(name) for name in NODE}
    moving = sums[:, at["reads"]] + sums[:, at["writes"]]
    opened = np.flatnonzero(sums[:, at["opens"]])
    for each in np.unique(np.stack([layer[opened], kind[opened]]), axis=1).T.tolist():
        rows = (layer == each[0]) & (kind == each[1])
        total = sums[rows].sum(axis=0)
        opens = int(total[at["opens"]])
        mine = layer == each[0]
        if not each[1] or moving[mine & (kind == 0)].sum() > moving[mine].sum() // 2:
            continue  # the trace does not say what was read and written
        times = opens / max(1, int(files[each[1]]), len(np.unique(process[rows & (sums[:, at["opens"]] > 0)])))
        moves = (int(total[at["reads"]]) + int(total[at["writes"]])) / opens
        if times >= limits.churn_opens and moves < limits.churn_moves:
            name = layer_name(each[0])
            seconds = int(total[at["exclusive_ns"]]) / 1e9
            use = f"for {moves:.1f} reads and writes each time" if moves else "and neither read nor written"
            yield Finding(
                rule="churn",
                layer=name,
                text=f"{view.class_path(each[1])} is opened {opens:,} times in {spoken(name)} ({times:,.0f} times "
                f"a file and process) {use} ({lasting(seconds)})",
                value=times,
                threshold=limits.churn_opens,
                seconds=seconds,
                numbers={"opens": opens, "moves_each": moves},
            )


def metadata(view: View, report: Layers, limits: Thresholds) -> Iterator[Finding]:
    """Most of a layer's own time on data goes to calls that move nothing."""
    for row in report.layers:
        if row.data_seconds < limits.least_s or not row.reads + row.writes:
            continue
        share = row.metadata_seconds / row.data_seconds
        if share >= limits.metadata_share:
            call, count, seconds = _busiest(view, row, "exclusive_ns")
            yield Finding(
                rule="metadata",
                layer=row.layer,
                text=f"{share:.0%} of {spoken(row.layer)}'s own time on data goes to calls that move none, most of it "
                f"to {call} ({lasting(seconds / 1e9)} in {some(count, 'call')})",
                value=share,
                threshold=limits.metadata_share,
                seconds=row.metadata_seconds,
                numbers={"layer_seconds": row.data_seconds},
            )


def failed(view: View, report: Layers, limits: Thresholds) -> Iterator[Finding]:
    """Many of a layer's calls fail."""
    for row in report.layers:
        share = row.failed / row.calls if row.calls else 0.0
        if share >= limits.failed_share:
            call, _, times = _busiest(view, row, "failed")
            yield Finding(
                rule="failed",
                layer=row.layer,
                text=f"{share:.0%} of {spoken(row.layer)}'s {some(row.calls, 'call')} fail, {times:,} of them in "
                f"{call}",
                value=share,
                threshold=limits.failed_share,
                seconds=view.of_layer(view.number(row.layer), "failed_ns") / 1e9,
                numbers={"failed": row.failed, "calls": row.calls},
            )


def _busiest(view: View, layer: LayerStats, by: str) -> tuple[str, int, int]:
    """Returns the call of a layer that stands out by a sum, how often it was called, and the sum.

    Of failures those of all calls count, of times those of calls that move nothing and are on data.
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
    return view.call(int(calls[row])) or "calls without a name", int(total[row, 0]), int(total[row, NAMED.index(by)])
