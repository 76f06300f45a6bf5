"""Strategies and views of event batches."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from iotide.events import COLUMNS, EventBatch, Kind, Layer, make_batch

_LIMITS = {
    "start": (0, 2**61),
    "duration": (0, 2**61),
    "bytes": (0, 2**61),
    "kind": (0, int(max(Kind))),
    "layer": (0, int(max(Layer))),
}


def rows(batch: EventBatch) -> list[tuple[int, ...]]:
    """Returns the events as tuples in schema order."""
    return list(zip(*(column.tolist() for column in batch.columns().values()), strict=True))


@st.composite
def batches(draw: st.DrawFn, min_size: int = 0, max_size: int = 12) -> EventBatch:
    """Draws a valid batch; some columns are constant, some unknown."""
    length = draw(st.integers(min_size, max_size))
    columns: dict[str, Any] = {}
    for name, (dtype, _) in COLUMNS.items():
        info = np.iinfo(dtype)
        low, high = _LIMITS.get(name, (int(info.min), int(info.max)))
        values = st.integers(low, high)
        drawn = draw(st.one_of(st.none(), values, st.lists(values, min_size=length, max_size=length)))
        if drawn is not None:
            columns[name] = np.array(drawn, dtype) if isinstance(drawn, list) else drawn
    return make_batch(length, columns)
