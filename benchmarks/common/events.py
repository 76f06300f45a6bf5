"""Batches as from a traced program."""

from __future__ import annotations

import numpy as np
from iotide.events import Definitions, EventBatch, FileInfo, FileType, Flag, Kind, Layer, make_batch

DEFINITIONS = Definitions(
    [(1, "read"), (2, "write"), (3, "lseek")],
    [(number, FileInfo(f"/scratch/run/plot-{number:04d}", FileType.REGULAR)) for number in range(1, 101)],
)


def make_batches(count: int, length: int = 4096, *, start_ns: int = 0, step_ns: int = 20_000) -> list[EventBatch]:
    """Make ``count`` batches of ``length`` events, with ten varying columns, as from the preload library."""
    random = np.random.default_rng(1)
    batches = []
    for at in range(count):
        start = start_ns + (at * length + np.arange(length)) * step_ns
        kind = np.where(np.arange(length) % 8 < 6, int(Kind.WRITE), int(Kind.READ)).astype("u1")
        size = random.integers(1, 1 << 20, length)
        batches.append(
            make_batch(
                length,
                {
                    "start": start,
                    "duration": random.integers(1_000, 200_000, length),
                    "call": np.where(kind == int(Kind.WRITE), 2, 1),
                    "layer": int(Layer.POSIX),
                    "kind": kind,
                    "rank": 3,
                    "pid": 4711,
                    "tid": random.integers(4711, 4719, length),
                    "file": random.integers(1, 101, length),
                    "handle": random.integers(1, 101, length),
                    "offset": random.integers(0, 1 << 40, length),
                    "requested": size,
                    "bytes": size,
                    "flags": int(Flag.BLOCKING),
                },
            )
        )
    return batches
