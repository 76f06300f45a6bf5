"""Report of a job's layers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ....results.layers import Collective, CollectiveRank, Layers, Nesting
from ...common.sorting import sorted_distinct
from ..findings.findings import findings
from ..report_context import OTHER_NAME, ReportContext
from ..state.arrivals import Wait
from ..state.call_tables import SITE, split_site
from ..update import LayerAnalyzer
from .report_files import (
    files,
    handles,
    host_layers,
    mounts,
    own_files,
    process_handles,
    process_layers,
    timeline_marks,
)
from .report_layers import accounts, fates, layer_stats, named_calls, sizes, steps

_CALLS, _NANO, _BYTES, _SYSTEM_NS, _SYSTEM_BYTES = range(len(SITE))


def collectives(view: ReportContext, top: int, most_ranks: int) -> list[Collective]:
    """Return the collective calls with the most time."""
    key, sums = view.analyzer.tables.sites.rows()
    site, process = split_site(key)
    sites = view.analyzer.sites
    waits = view.analyzer.arrivals.waits()
    made = []
    for number in sorted_distinct(site).tolist():
        rows = np.flatnonzero(site == number)
        mine = sums[rows]
        moves = mine[:, _SYSTEM_BYTES] > 0
        order = np.lexsort((-mine[:, _NANO], -mine[:, _SYSTEM_BYTES]))
        ranks = [
            CollectiveRank(
                process=view.process(int(process[rows[at]])),
                host=view.host_name(int(process[rows[at]])),
                calls=int(mine[at, _CALLS]),
                seconds=int(mine[at, _NANO]) / _NS,
                bytes=int(mine[at, _BYTES]),
                moved_bytes=int(mine[at, _SYSTEM_BYTES]),
                moving_seconds=int(mine[at, _SYSTEM_NS]) / _NS,
            )
            for at in order[:most_ranks].tolist()
        ]
        total = mine.sum(axis=0)
        wait = waits.get((sites.calls[number], sites.classes[number]), Wait(0, 0, {}))
        last, times = max(wait.last.items(), key=lambda each: each[1], default=(0, 0))
        made.append(
            Collective(
                call=view.call_name(sites.calls[number]) or OTHER_NAME,
                file=view.class_path(sites.classes[number]),
                calls=int(total[_CALLS]),
                processes=len(rows),
                movers=int(moves.sum()),
                seconds=int(total[_NANO]) / _NS,
                moving_seconds=int(total[_SYSTEM_NS]) / _NS,
                waiting_seconds=int((mine[:, _NANO] - mine[:, _SYSTEM_NS])[~moves].sum()) / _NS,
                late_seconds=wait.ns / _NS,
                rounds=wait.rounds,
                last_process=view.process(last) if times else "",
                last_rounds=times,
                bytes=int(total[_BYTES]),
                moved_bytes=int(total[_SYSTEM_BYTES]),
                ranks=ranks,
                ranks_left_out=len(rows) - len(ranks),
            )
        )
    return sorted(made, key=lambda row: -row.seconds)[:top]


_NS: Final = 1e9


@dataclass(frozen=True, slots=True)
class Cut:
    """Maximum length of each list in a report."""

    handles: int = 200
    files: int = 200
    processes: int = 500
    hosts: int = 200
    collectives: int = 50
    ranks: int = 64
    calls: int = 50


def make_report(
    analyzer: LayerAnalyzer,
    calls: Sequence[str],
    job: str = "",
    *,
    nesting: Nesting | None = None,
    has_handles: bool = True,
    cut: Cut = Cut(),
) -> Layers:
    """Return the report as if all calls ended now.

    Args:
        analyzer: layer analyzer; it is not changed.
        calls: call names by number.
        job: name of the report.
        nesting: source of the nesting of calls; by default according to their depths.
        has_handles: False if handles were made from files.
        cut: maximum lengths of the lists.
    """
    waiting = analyzer.waiting
    view = ReportContext(analyzer.closed() if waiting else analyzer, calls)
    whole = view.analyzer
    tree, handles_left_out = handles(view, cut.handles)
    nodes = {row.node for row in tree}
    file_rows, files_left_out = files(view, cut.files)
    by_layer, layers_left_out = process_layers(view, cut.processes)
    by_host, hosts_left_out = host_layers(view, cut.hosts)
    by_node, nodes_left_out = process_handles(view, nodes, cut.processes)
    stats = layer_stats(view)
    report = Layers(
        job=job,
        events=whole.events,
        summaries=whole.summaries,
        first_s=whole.first_ns / _NS,
        last_s=whole.last_ns / _NS,
        nesting=nesting or ("recorded" if whole.deepest else "flat"),
        handles_known=has_handles and whole.without_handle < whole.events,
        waiting=waiting,
        processes=whole.processes.serials,
        threads_seconds=sum(view.of_layer(layer, "root_ns") for layer in range(len(view.layer_sums))) / _NS,
        layers=stats,
        steps=steps(view),
        sizes=sizes(view),
        fates=fates(view),
        accounts=accounts(view),
        findings=[],
        collectives=collectives(view, cut.collectives, cut.ranks),
        own_files=own_files(view),
        mounts=mounts(view),
        files=file_rows,
        files_left_out=files_left_out,
        handles=tree,
        handles_left_out=handles_left_out,
        process_layers=by_layer,
        process_layers_left_out=layers_left_out,
        host_layers=by_host,
        host_layers_left_out=hosts_left_out,
        process_handles=by_node,
        process_handles_left_out=nodes_left_out,
        calls=named_calls(view, cut.calls),
        marks=timeline_marks(view, nodes),
        losses={reason: lost for reason, lost in whole.losses().items() if lost},
    )
    return report.model_copy(update={"findings": findings(view, report, analyzer.settings.thresholds)})
