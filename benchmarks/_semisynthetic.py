"""Applications put together from I/O phases of known start, after seed 001, Section 5."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from iotide.events import EventBatch, Kind, make_batch

PROCESSES = 32
COMPUTE_S = 11.0
PHASE_S = 10.4
REQUESTS = 8
REQUEST_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class Trace:
    """Requests as start and end in seconds; all move the same number of bytes. ``period_s`` is the truth."""

    start_s: npt.NDArray[np.float64]
    end_s: npt.NDArray[np.float64]
    period_s: float

    @property
    def bandwidth(self) -> npt.NDArray[np.float64]:
        return REQUEST_BYTES / (self.end_s - self.start_s)

    def batch(self) -> EventBatch:
        order = np.argsort(self.start_s, kind="stable")
        start = np.rint(self.start_s[order] * 1e9).astype(np.int64)
        end = np.rint(self.end_s[order] * 1e9).astype(np.int64)
        return make_batch(
            len(start), {"start": start, "duration": end - start, "bytes": REQUEST_BYTES, "kind": Kind.WRITE}
        )


def trace(seed: int, *, relative_sigma: float = 0.0, delay_s: float = 0.0, iterations: int = 20) -> Trace:
    """Makes one trace.

    Every iteration computes for a time drawn from a normal distribution (mean 11 s, cut at 0) and then does I/O for
    10.4 s, each process after a delay of its own drawn from an exponential distribution. The next iteration starts when
    the last process is done. The truth is the mean time between starts of iterations.

    Args:
        seed: of the random numbers.
        relative_sigma: standard deviation of the compute time over its mean.
        delay_s: mean delay.
        iterations: how many.
    """
    rng = np.random.default_rng(seed)
    now, begins, starts, ends = 0.0, [], [], []
    for _ in range(iterations):
        compute = -1.0
        while compute <= 0:
            compute = float(rng.normal(COMPUTE_S, relative_sigma * COMPUTE_S))
        now += compute
        delays = rng.exponential(delay_s, PROCESSES) if delay_s else np.zeros(PROCESSES)
        # requests of a phase take turns with short pauses; their lengths vary a little as on a real file system
        lengths = rng.uniform(0.9, 1.1, (PROCESSES, REQUESTS))
        edges = np.concatenate([np.zeros((PROCESSES, 1)), np.cumsum(lengths, axis=1)], axis=1)
        edges *= PHASE_S / edges[:, -1:]
        begins.append(now)
        starts.append(now + delays[:, None] + edges[:, :-1])
        ends.append(now + delays[:, None] + edges[:, :-1] + 0.98 * np.diff(edges, axis=1))
        now = float(ends[-1].max())
    period = float(np.diff(begins).mean())
    return Trace(np.concatenate(starts).ravel(), np.concatenate(ends).ravel(), period)
