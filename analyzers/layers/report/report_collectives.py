"""Report section on collective calls. It lists ranks that move data, and the waiting time of the others."""

from __future__ import annotations

from typing import Final

import numpy as np

from ....results.layers import Collective, CollectiveRank
from ..report_context import OTHER_NAME, ReportContext
from ..state.arrivals import Wait
from ..state.tables import SITE, split_site

_NS: Final = 1e9
_CALLS, _NANO, _BYTES, _SYSTEM_NS, _SYSTEM_BYTES = range(len(SITE))


def collectives(view: ReportContext, top: int, most_ranks: int) -> list[Collective]:
    """Return the collective calls with the most time."""
    key, sums = view.analyzer.tables.sites.rows()
    site, process = split_site(key)
    sites = view.analyzer.sites
    waits = view.analyzer.arrivals.waits()
    made = []
    for number in np.unique(site).tolist():
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
