"""Programs with known periodic I/O, and signals without a period."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from iotide.events import EventBatch, Kind, make_batch

TYPES = np.zeros(2, np.uint8)
UNIX_S = 1_700_000_000.0


@dataclass(frozen=True)
class Program:
    """Events in order of time, and the true starts of the I/O phases in seconds."""

    batch: EventBatch
    starts_s: npt.NDArray[np.float64]

    @property
    def period_s(self) -> float:
        return float(np.diff(self.starts_s).mean())

    def until(self, now_s: float, since_s: float = 0.0) -> EventBatch:
        """Events that end in (since, now]."""
        ends = self.batch.end / 1e9
        return self.batch.select((ends > since_s) & (ends <= now_s))


def checkpointing(
    *,
    phases: int = 12,
    period_s: float = 2.0,
    jitter: float = 0.0,
    burst_s: float = 0.1,
    start_up: bool = False,
    background: bool = False,
    zero_s: float = UNIX_S,
    seed: int = 0,
) -> Program:
    """A program that writes 256 blocks of 64 KiB every ``period_s``, 0.7 s after its start."""
    rng = np.random.default_rng(seed)
    periods = period_s * (1 + jitter * rng.standard_normal(phases - 1))
    starts = zero_s + 0.7 + np.concatenate([[0.0], np.cumsum(periods)])
    at = [(starts[:, None] + np.linspace(0, burst_s, 256, endpoint=False)).ravel()]
    size = [np.full(256 * phases, 65536)]
    kind = [np.full(256 * phases, int(Kind.WRITE))]
    if start_up:  # an interpreter that loads its libraries
        at.append(zero_s + rng.uniform(0, 0.4, 300))
        size.append(rng.integers(100, 20_000, 300))
        kind.append(np.full(300, int(Kind.READ)))
    if background:  # a log
        count = phases * 10
        at.append(rng.uniform(zero_s, starts[-1], count))
        size.append(np.full(count, 300))
        kind.append(np.full(count, int(Kind.WRITE)))
    time, order = np.concatenate(at), np.argsort(np.concatenate(at), kind="stable")
    batch = make_batch(
        len(time),
        {
            "start": np.rint(time[order] * 1e9).astype(np.int64),
            "duration": round(burst_s / 256 * 0.8e9),
            "bytes": np.concatenate(size)[order],
            "kind": np.concatenate(kind)[order],
            "file": 1,
        },
    )
    return Program(batch, starts)
