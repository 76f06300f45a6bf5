"""Applications assembled from I/O phases of known start, after [FTIO], Section 5."""

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
PHASE_RATE = PROCESSES * REQUESTS * REQUEST_BYTES / PHASE_S
"""Bandwidth of a phase with synchronous processes, bytes/s."""
NOISE_PERIOD_S = 22.0
NOISE_BURSTS = 10

Times = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Trace:
    """Requests in seconds and bytes, and the true start of each iteration's I/O, ``starts_s``.

    ``phase`` is the iteration of each request, -1 for noise.
    """

    start_s: Times
    end_s: Times
    volume: Times
    starts_s: Times
    phase: npt.NDArray[np.int64]

    @property
    def period_s(self) -> float:
        """Mean time between starts of iterations."""
        return float(np.diff(self.starts_s).mean())

    @property
    def bandwidth(self) -> Times:
        return self.volume / (self.end_s - self.start_s)

    def batch(self) -> EventBatch:
        """Return the requests as events, in order of time."""
        order = np.argsort(self.start_s, kind="stable")
        start = np.rint(self.start_s[order] * 1e9).astype(np.int64)
        end = np.rint(self.end_s[order] * 1e9).astype(np.int64)
        columns = {
            "start": start,
            "duration": end - start,
            "bytes": np.rint(self.volume[order]).astype(np.int64),
            "kind": Kind.WRITE,
        }
        return make_batch(len(start), columns)


def trace(
    seed: int,
    *,
    relative_sigma: float = 0.0,
    delay_s: float = 0.0,
    compute_s: float = COMPUTE_S,
    noise: float = 0.0,
    uneven: float = 0.0,
    bandwidth_sigma: float = 0.0,
    iterations: int = 20,
) -> Trace:
    """Make one trace.

    Every iteration computes for a normally distributed time (cut at 0) and then does I/O for 10.4 s, each process after
    an exponentially distributed delay of its own. The next iteration starts when the last process has ended its I/O.

    Noise is another process that writes in periods of about 22 s, ten per run, one run after the other, each from a
    random moment on. It writes during about half of each period.

    Args:
        seed: of the random numbers.
        relative_sigma: standard deviation of the compute time over its mean.
        delay_s: mean delay.
        compute_s: mean compute time.
        uneven: standard deviation of length and volume of the phases over their mean (cut at a quarter of it).
        bandwidth_sigma: standard deviation of the logarithm of the phases' bandwidth; their length stays.
        noise: bandwidth of the noise as a share of that of a synchronous phase.
        iterations: number of iterations.
    """
    rng = np.random.default_rng(seed)
    now, begins, starts, ends, sizes = 0.0, [], [], [], []
    for _ in range(iterations):
        compute = -1.0
        while compute <= 0:
            compute = float(rng.normal(compute_s, relative_sigma * compute_s))
        now += compute
        delays = rng.exponential(delay_s, PROCESSES) if delay_s else np.zeros(PROCESSES)
        # requests of a phase alternate with short pauses; their lengths vary slightly, as on a real file system
        lengths = rng.uniform(0.9, 1.1, (PROCESSES, REQUESTS))
        edges = np.concatenate([np.zeros((PROCESSES, 1)), np.cumsum(lengths, axis=1)], axis=1)
        size = max(float(rng.normal(1, uneven)), 0.25) if uneven else 1.0
        edges *= PHASE_S * size / edges[:, -1:]
        sizes.append(size)
        begins.append(now)
        starts.append(now + delays[:, None] + edges[:, :-1])
        ends.append(now + delays[:, None] + edges[:, :-1] + 0.98 * np.diff(edges, axis=1))
        now = float(ends[-1].max())
    start, end = np.concatenate(starts).ravel(), np.concatenate(ends).ravel()
    volume = REQUEST_BYTES * np.repeat(sizes, PROCESSES * REQUESTS)
    phase = np.repeat(np.arange(iterations), PROCESSES * REQUESTS)
    if bandwidth_sigma:
        volume *= rng.lognormal(0.0, bandwidth_sigma, iterations)[phase]
    if noise:
        noise_start, noise_end = _noise(rng, now)
        start, end = np.concatenate([start, noise_start]), np.concatenate([end, noise_end])
        volume = np.concatenate([volume, noise * PHASE_RATE * (noise_end - noise_start)])
        phase = np.concatenate([phase, np.full(len(noise_start), -1)])
    return Trace(start, end, volume, np.array(begins), phase)


def _noise(rng: np.random.Generator, until_s: float) -> tuple[Times, Times]:
    """Return starts and ends of the noise's requests between 0 and ``until_s``."""
    now, starts, ends = 0.0, [], []
    while now < until_s:
        now += float(rng.uniform(0, NOISE_PERIOD_S))
        for begin in now + NOISE_PERIOD_S * np.cumsum(rng.uniform(0.9, 1.1, NOISE_BURSTS)):
            edges = begin + np.linspace(0, NOISE_PERIOD_S / 2 * rng.uniform(0.9, 1.1), REQUESTS + 1)
            starts.append(edges[:-1])
            ends.append(edges[:-1] + 0.98 * np.diff(edges))
            now = float(edges[-1])
    start, end = np.concatenate(starts), np.concatenate(ends)
    inside = start < until_s
    return start[inside], np.minimum(end[inside], until_s)
