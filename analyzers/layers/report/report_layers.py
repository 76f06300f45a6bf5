"""Report section on layers.

It has sums, calls between layers, sizes, translations of requests, and bytes in and out.
"""

from __future__ import annotations

import numpy as np

from ....events import Layer
from ....results.layers import Account, CallLayer, FateRow, LayerStats, SizeRow, Step
from ...common.sorting import sorted_distinct
from ...common.state import Ints
from ...file_groups import GROUPS
from ..calls import FATES, LAYERS, PROGRAM, TOP_DOWN
from ..report_context import ReportContext, amounts, largest
from ..state.call_tables import FATE, NAMED, PROCESS, SIZES, WAYS, layer_name, split, split_named

_NS = 1e9


def layer_stats(view: ReportContext) -> list[LayerStats]:
    """Return the observed layers, from top to bottom."""
    process, layers, _ = view.by_process
    key, sizes = view.analyzer.tables.sizes.rows()
    _, layer, way, size = split(key, LAYERS, len(WAYS), SIZES)
    made = []
    for number in sorted(range(LAYERS), key=_order):
        mine = layers == number
        if not mine.any():
            continue
        get = dict(zip(PROCESS, view.layer_sums[number].tolist(), strict=True))
        medians = [
            _median(size[chosen], sizes[chosen, 0]) for chosen in ((layer == number) & (way == w) for w in (0, 1))
        ]
        made.append(
            LayerStats(
                layer=layer_name(number),
                inner_calls=get["calls"] - get["outer_calls"],
                processes=len(sorted_distinct(process[mine])),
                program_seconds=get["root_ns"] / _NS,
                data_seconds=(get["exclusive_ns"] - get["channel_ns"] - get["system_ns"]) / _NS,
                metadata_seconds=get["other_ns"] / _NS,
                median_read=medians[0],
                median_write=medians[1],
                **amounts(LayerStats, PROCESS, view.layer_sums[number]),
            )
        )
    return made


def steps(view: ReportContext) -> list[Step]:
    """Return the calls between layers by descending time."""
    key, sums = view.analyzer.tables.down.rows()
    over, over_way, layer, way = split(key, len(WAYS), LAYERS, len(WAYS))
    return [
        Step(
            caller=layer_name(int(over[row])),
            caller_way=WAYS[over_way[row]],
            layer=layer_name(int(layer[row])),
            way=WAYS[way[row]],
            calls=int(sums[row, 0]),
            seconds=int(sums[row, 1]) / _NS,
            bytes=int(sums[row, 3]),
        )
        for row in largest(sums[:, 1], len(sums)).tolist()
    ]


def sizes(view: ReportContext) -> list[SizeRow]:
    """Return the sizes of requests by calling layer."""
    key, sums = view.analyzer.tables.sizes.rows()
    over, layer, way, size = (part.tolist() for part in split(key, LAYERS, len(WAYS), SIZES))
    return [
        SizeRow(
            caller=layer_name(over[row]),
            layer=layer_name(layer[row]),
            way=WAYS[way[row]],
            from_bytes=_least(size[row]),
            calls=int(sums[row, 0]),
        )
        for row in range(len(key))
    ]


def fates(view: ReportContext) -> list[FateRow]:
    """Return the translations of requests by layer."""
    key, sums = view.analyzer.tables.fates.rows()
    layer, way, fate = (part.tolist() for part in split(key, len(WAYS), 8))
    return [
        FateRow(
            layer=layer_name(layer[row]),
            way=WAYS[way[row]],
            fate=FATES[fate[row]],
            **amounts(FateRow, FATE, sums[row]),
        )
        for row in range(len(key))
    ]


def accounts(view: ReportContext) -> list[Account]:
    """Return the input and output of each layer that calls other layers."""
    key, sums = view.analyzer.tables.down.rows()
    over, over_way, layer, way = split(key, len(WAYS), LAYERS, len(WAYS))
    further = layer != over
    made = []
    for number in sorted(set(over[further & (over != PROGRAM)].tolist()), key=_order):
        for which, name in enumerate(("read", "write")):
            out = further & (over == number) & (way == which)
            same, other = sums[out & (over_way == which)], sums[out & (over_way != which)]
            calls = view.of_layer(number, f"{name}s")
            if calls or len(same) or len(other):
                made.append(
                    Account(
                        layer=layer_name(number),
                        way=WAYS[which],
                        calls=calls,
                        bytes=view.of_layer(number, "bytes_read" if which == 0 else "bytes_written"),
                        below_calls=int(same[:, 2].sum()),
                        below_bytes=int(same[:, 3].sum()),
                        other_calls=int(other[:, 2].sum()),
                        other_bytes=int(other[:, 3].sum()),
                    )
                )
    return made


def named_calls(view: ReportContext, top: int) -> list[CallLayer]:
    """Return the calls with the most exclusive time."""
    key, sums = view.analyzer.tables.named.rows()
    layer, group, way, call = split_named(key)
    return [
        CallLayer(
            layer=layer_name(int(layer[row])),
            group=GROUPS[group[row]],
            way=WAYS[way[row]],
            call=view.call_name(int(call[row])),
            **amounts(CallLayer, NAMED, sums[row]),
        )
        for row in largest(sums[:, NAMED.index("exclusive_ns")], top).tolist()
    ]


def _order(layer: int) -> int:
    return TOP_DOWN.index(Layer(layer))


def _least(size: int) -> int:
    return 1 << size - 1 if size else 0


def _median(size: Ints, count: Ints) -> int | None:
    if not count.sum():
        return None
    order = np.argsort(size, kind="stable")
    at = np.searchsorted(np.cumsum(count[order]) * 2, count.sum())
    return _least(int(size[order][at]))
