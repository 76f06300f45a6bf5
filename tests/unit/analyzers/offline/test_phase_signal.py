"""The signal of a finished trace is independent of the batches, and its memory does not grow with their number."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import numpy as np
import pytest
from iotide.analyzers.common.sorting import Reiterable
from iotide.analyzers.offline.phase_signal import phases_of, signal_of
from iotide.analyzers.offline.trace import detect
from iotide.analyzers.settings import DetectSettings
from iotide.events import EventBatch, Kind, make_batch
from support.jobs.periodic_jobs import TYPES, checkpointing


def test_pieces_of_a_trace_have_its_signal() -> None:
    settings = DetectSettings(mode="write")
    batch = checkpointing(phases=20, period_s=2.0, zero_s=0.0).batch
    prediction = detect([(batch, TYPES)], settings, "job")
    whole = signal_of([(batch, TYPES)], settings, prediction)
    order = np.random.default_rng(1).permutation(len(batch))
    pieces = [(batch.select(rows), TYPES) for rows in np.array_split(order, 7)]
    apart = signal_of(pieces, settings, prediction)
    assert apart.start_s == whole.start_s
    assert np.allclose(apart.total, whole.total, rtol=1e-12)
    assert whole.total.sum() * whole.bin_s > 0


def test_first_lines_of_a_log_do_not_hide_its_later_ones() -> None:
    starts = np.arange(30) * 2 * 10**9
    sizes = np.full(30, 75)
    sizes[0] = 5000
    batch = make_batch(
        30, {"start": starts, "duration": np.full(30, 10**7), "bytes": sizes, "kind": np.full(30, Kind.WRITE)}
    )
    settings = DetectSettings(mode="write")
    prediction = detect([(batch, TYPES)], settings, "job")
    phases = phases_of(signal_of([(batch, TYPES)], settings, prediction), prediction)
    assert phases.volume_bytes == pytest.approx(sizes)


@pytest.mark.slow
def test_memory_does_not_grow_with_the_trace() -> None:
    settings = DetectSettings(mode="write")
    batch = checkpointing(phases=20, period_s=2.0, zero_s=0.0).batch
    prediction = detect([(batch, TYPES)], settings, "job")
    rows = np.tile(np.arange(len(batch)), 100)

    def most_bytes(times: int) -> int:
        def pieces() -> Iterator[tuple[EventBatch, np.ndarray]]:
            for _ in range(times):
                yield batch.select(rows), TYPES

        tracemalloc.start()
        try:
            signal_of(Reiterable(pieces), settings, prediction)
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    most_bytes(1)
    assert most_bytes(16) < 1.5 * most_bytes(2)
