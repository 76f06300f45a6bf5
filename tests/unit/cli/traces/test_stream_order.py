"""Nesting by time of traces that are too large for memory."""

from __future__ import annotations

import numpy as np
import pytest
from iotide.cli.traces.stream_order import Nesting
from iotide.events import EventBatch, Layer, concatenate, make_batch
from support.jobs.batches import rows


def calls(handles: bool) -> EventBatch:
    """Calls of three layers and threads in any order; many start together, and some span hundreds of others."""
    rng = np.random.default_rng(11)
    count = 3000
    start = rng.integers(0, 4000, count) * 10
    lasts = np.where(rng.random(count) < 0.03, rng.integers(0, 4000, count), rng.integers(0, 60, count))
    columns = {
        "start": start, "duration": lasts * 1000 + np.arange(count) % 1000, "file": rng.integers(0, 5, count),
        "layer": rng.choice([Layer.HDF5, Layer.MPIIO, Layer.POSIX], count), "tid": rng.integers(1, 4, count),
        "handle": rng.integers(0, 9, count) if handles else 0,
    }  # fmt: skip
    return make_batch(count, columns)


@pytest.mark.parametrize("handles", [True, False])
def test_many_calls_are_nested_like_few(handles: bool) -> None:
    batch = calls(handles)
    pieces = [batch.select(slice(at, at + 70)) for at in range(0, len(batch), 70)]
    few, many = Nesting(), Nesting(most_held=100)
    whole, together = (concatenate(list(nesting(pieces))) for nesting in (few, many))
    assert sorted(rows(whole)) == sorted(rows(together))
    assert together.end.tolist() == sorted(batch.end.tolist())
    assert set(whole.depth.tolist()) == {0, 1, 2}
    assert few.has_handles == many.has_handles == handles
