"""Random programs as parts of jobs with several programs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from iotide.benchmarks.generators.grouped import Grouped, Program
from iotide.events import FileInfo, FileType

Times = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

Draw = np.random.Generator


def log_uniform(rng: Draw, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def ranks_of(rng: Draw, most: int = 64) -> int:
    return max(1, min(most, round(log_uniform(rng, 0.7, most + 0.5))))


def starts_of(rng: Draw, period: float, from_s: float, until_s: float, jitter: float) -> Times:
    """Return starts with independently varying distances, like the compute of a program."""
    count = max(int((until_s - from_s) / period), 4)
    distances = period * np.maximum(rng.normal(1, jitter, count), 0.3)
    return np.asarray(from_s + rng.uniform(0, period) + np.cumsum(distances) - distances[0])


def program_of(
    rng: Draw,
    starts: Times,
    period: float | None,
    ranks: Sequence[int],
    files: Sequence[int],
    *,
    volume: float = 1e7,
    uneven: float = 0.1,
    imbalance: float = 0.0,
    delay: float = 0.0,
    missed: float = 0.0,
    length: float | None = None,
    host: str = "node0",
    command: str = "",
    pid: int = 0,
) -> Program:
    """Make phases of requests.

    Args:
        rng: of all random draws here.
        starts: of the phases.
        period: reported true period; None without a period.
        ranks: participating ranks, -1 for a process without a rank.
        files: numbers of the files, in turn.
        volume: mean bytes of a phase.
        uneven: relative deviation of lengths and volumes of phases.
        imbalance: deviation of the logarithm of each rank's share.
        delay: mean delay of a rank, in lengths of a phase.
        missed: share of the phases in which a rank does no I/O.
        length: mean length of a phase in seconds; None draws it.
        host, command, pid: of its stream.
    """
    pace = period if period is not None else float(np.diff(starts).mean())
    lasting = length if length is not None else pace * log_uniform(rng, 0.02, 0.2)
    count, number, requests = len(starts), len(ranks), int(rng.integers(1, 9))
    lengths = np.maximum(lasting * rng.normal(1, uneven, count), 0.05 * lasting)
    shares = np.exp(rng.normal(0, imbalance, number)) if imbalance else np.ones(number)
    volumes = np.maximum(volume * rng.normal(1, uneven, count), 0.02 * volume)
    late = rng.exponential(delay, (count, number)) * lasting if delay else np.zeros((count, number))
    each = np.linspace(0, 1, requests + 1)
    edges = starts[:, None, None] + late[:, :, None] + each[None, None, :] * lengths[:, None, None]
    begin, end = edges[:, :, :-1], edges[:, :, :-1] + 0.95 * np.diff(edges, axis=2)
    size = (volumes[:, None] * (shares / shares.sum())[None, :])[:, :, None] / requests
    shape = begin.shape
    rank = np.broadcast_to(np.asarray(ranks, np.int64)[None, :, None], shape)
    which = np.asarray(files, np.int64)
    at = np.arange(count)[:, None, None] + np.arange(requests)[None, None, :]
    path = np.broadcast_to(which[at % len(which)], shape)
    kept = np.broadcast_to((rng.random((count, number)) >= missed)[:, :, None], shape)
    columns = (begin, end, np.broadcast_to(size, shape), rank, path)
    start_s, end_s, moved, ranks_of, paths = (column[kept] for column in columns)
    return Program(
        start_s, end_s, np.maximum(moved, 1.0), ranks_of, paths, period, starts, command, host, pid
    )  # fmt: skip


def files_of(*paths: str) -> list[FileInfo]:
    return [FileInfo(""), *(FileInfo(path, FileType.REGULAR) for path in paths)]


def beside(rng: Draw, periods: Sequence[float], volumes: Sequence[float], *, phases: float = 0.0) -> Grouped:
    """Make concurrent programs, separable by rank; one file each, or one shared file."""
    until = max(periods) * (phases or float(rng.uniform(12, 40)))
    first, made = 0, []
    shared = bool(rng.random() < 0.3)
    for number, (period, volume) in enumerate(zip(periods, volumes, strict=True)):
        ranks = range(first, first + ranks_of(rng))
        first = ranks.stop
        starts = starts_of(rng, period, 0.0, until, float(rng.uniform(0, 0.03)))
        files = [1] if shared else [number + 1]
        delay = float(rng.choice([0.0, rng.uniform(0, 0.5)]))
        made.append(program_of(rng, starts, period, ranks, files, volume=volume, delay=delay))
    return Grouped(made, files_of(*(f"/p/{name}/out" for name in ("alpha", "beta", "gamma", "delta"))))
