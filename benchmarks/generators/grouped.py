"""Jobs with groups of members that have different periods, and jobs of one period that must not be split.

Every constant of a kind is drawn anew for each job.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt
from iotide.benchmarks.generators.aperiodic import SIGNALS
from iotide.benchmarks.generators.semisynthetic import Times, Trace
from iotide.benchmarks.generators.semisynthetic import trace as semisynthetic
from iotide.events import EventBatch, FileInfo, FileType, Kind, StreamInfo, make_batch

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Program:
    """Some of a job's requests and the members that make them.

    Attributes:
        start_s, end_s, volume: of its requests.
        rank: the rank of each, -1 without ranks.
        path: the file number of each.
        period_s: None without a period.
        starts_s: of its phases.
        command, host: of its streams.
    """

    start_s: Times
    end_s: Times
    volume: Times
    rank: Ints
    path: Ints
    period_s: float | None
    starts_s: Times
    command: str = ""
    host: str = "node0"
    pid: int = 0


@dataclass(frozen=True)
class Grouped:
    """A job of one or several programs; ``files`` maps file numbers to paths."""

    programs: list[Program]
    files: list[FileInfo] = field(default_factory=list)

    @property
    def periods_s(self) -> list[float]:
        """Period of each program that has one."""
        return [each.period_s for each in self.programs if each.period_s is not None]

    def batches(self) -> list[tuple[EventBatch, StreamInfo]]:
        """Return the events of each program in order of their ends, with their stream."""
        made = []
        for each in self.programs:
            order = np.argsort(each.end_s, kind="stable")
            start, end = (np.rint(column[order] * 1e9).astype(np.int64) for column in (each.start_s, each.end_s))
            columns = {
                "start": start, "duration": end - start, "kind": int(Kind.WRITE), "rank": each.rank[order],
                "bytes": np.rint(each.volume[order]).astype(np.int64), "file": each.path[order],
            }  # fmt: skip
            info = StreamInfo(job="job", source="made", host=each.host, command=each.command, pid=each.pid)
            made.append((make_batch(len(start), columns), info))
        return made

    def requests(self) -> tuple[Times, Times, Times]:
        """Return start, end and bandwidth of all requests."""
        start, end, volume = (
            np.concatenate([getattr(each, name) for each in self.programs]) for name in ("start_s", "end_s", "volume")
        )
        return start, end, volume / (end - start)


Maker = Callable[[int], Grouped]


def _program(
    rng: np.random.Generator,
    until_s: float,
    period_s: float,
    ranks: range,
    path: int | tuple[int, ...],
    *,
    volume: float = 1e7,
    jitter: float = 0.01,
    delay: float = 0.0,
    from_s: float = 0.0,
    requests: int = 6,
    command: str = "",
    host: str = "node0",
    pid: int = 0,
) -> Program:
    """Make phases in which each rank makes some requests, with a delay per rank."""
    count = max(int((until_s - from_s) / period_s), 4)
    starts = from_s + float(rng.uniform(0.5, period_s)) + period_s * np.arange(count)
    starts = starts + rng.normal(0, jitter * period_s, count)
    length = period_s * float(rng.uniform(0.03, 0.2)) * rng.normal(1, 0.05, count)
    number = max(len(ranks), 1)
    late = rng.exponential(delay, (count, number)) * length[:, None] if delay else np.zeros((count, number))
    edges = starts[:, None, None] + late[:, :, None] + np.linspace(0, 1, requests + 1) * length[:, None, None]
    size = volume * rng.normal(1, 0.05, count) / requests / number
    paths = np.array(path if isinstance(path, tuple) else (path,))
    shape = (count, number, requests)
    return Program(
        edges[:, :, :-1].ravel(),
        (edges[:, :, :-1] + 0.97 * np.diff(edges, axis=2)).ravel(),
        np.broadcast_to(size[:, None, None], shape).ravel(),
        np.broadcast_to(np.array(ranks if len(ranks) else [-1])[None, :, None], shape).ravel(),
        np.broadcast_to(paths[np.arange(requests) % len(paths)], shape).ravel(),
        period_s,
        starts,
        command,
        host,
        pid,
    )


def _periods(rng: np.random.Generator, count: int) -> list[float]:
    """Return periods without simple ratios."""
    made = [float(rng.uniform(8, 40))]
    for _ in range(1, count):
        made.append(made[-1] * float(rng.uniform(1.5, 1.9)))
    return made


def _files(*paths: str) -> list[FileInfo]:
    return [FileInfo(""), *(FileInfo(path, FileType.REGULAR) for path in paths)]


def by_rank(seed: int) -> Grouped:
    """Two concurrent programs, separable by rank, with separate files or a shared one."""
    rng = np.random.default_rng(seed)
    periods, ranks = _periods(rng, 2), rng.integers(1, 33, 2)
    until, shared = float(rng.uniform(15, 40)) * periods[1], bool(rng.integers(2))
    first, second = range(int(ranks[0])), range(int(ranks[0]), int(ranks.sum()))
    one = _program(rng, until, periods[0], first, 1)
    other = _program(rng, until, periods[1], second, 1 if shared else 2)
    return Grouped([one, other], _files("/scratch/run/out.dat", "/scratch/run/second.dat"))


def by_command(seed: int) -> Grouped:
    """Two commands without ranks, each one process; file names contain numbers."""
    rng = np.random.default_rng(seed)
    periods = _periods(rng, 2)
    until = float(rng.uniform(15, 40)) * periods[1]
    made = [
        _program(rng, until, period, range(0), tuple(range(1 + 6 * at, 7 + 6 * at)), command=command, pid=100 + at)
        for at, (period, command) in enumerate(zip(periods, ("lmp -in in.lj", "python3 writer.py"), strict=True))
    ]
    names = [f"/scratch/{name}.{number}.chk" for name in ("lj", "field") for number in range(6)]
    return Grouped(made, _files(*names))


def by_file(seed: int) -> Grouped:
    """One program, all of whose ranks write two kinds of files, each with its own period."""
    rng = np.random.default_rng(seed)
    periods, ranks = _periods(rng, 2), range(int(rng.integers(1, 65)))
    until = float(rng.uniform(15, 40)) * periods[1]
    one = _program(rng, until, periods[0], ranks, (1, 2, 3))
    other = _program(rng, until, periods[1], ranks, (4, 5, 6))
    names = [f"/s/run/dump.{number}.chk" for number in range(3)] + [f"/s/run/traj.{number}.xyz" for number in range(3)]
    return Grouped([one, other], _files(*names))


def one_small(seed: int) -> Grouped:
    """Two programs; one moves a hundredth to a thousandth of the other's bytes."""
    rng = np.random.default_rng(seed)
    periods, small = _periods(rng, 2), int(rng.integers(2))
    until = float(rng.uniform(15, 40)) * periods[1]
    volumes = [1e8, 1e8]
    volumes[small] *= float(10 ** rng.uniform(-3, -2))
    made = [
        _program(rng, until, period, range(4 * at, 4 * at + 4), at + 1, volume=volume)
        for at, (period, volume) in enumerate(zip(periods, volumes, strict=True))
    ]
    return Grouped(made, _files("/s/a.dat", "/s/b.dat"))


def three(seed: int) -> Grouped:
    """Three programs on separate hosts."""
    rng = np.random.default_rng(seed)
    periods = _periods(rng, 3)
    until = float(rng.uniform(12, 25)) * periods[2]
    made = [
        _program(rng, until, period, range(8 * at, 8 * at + 8), at + 1, host=f"node{at}")
        for at, period in enumerate(periods)
    ]
    return Grouped(made, _files("/s/a.dat", "/s/b.dat", "/s/c.dat"))


def with_aperiodic(seed: int) -> Grouped:
    """A periodic program beside one that reads and writes at random moments."""
    rng = np.random.default_rng(seed)
    (period,) = _periods(rng, 1)
    until = float(rng.uniform(20, 40)) * period
    one = _program(rng, until, period, range(4), 1)
    count = int(until / period * float(rng.uniform(1, 4)))
    begins = rng.uniform(0, until, count)
    lengths = period * rng.exponential(0.1, count)
    volume = rng.lognormal(0, 1, count) * 1e7 * float(rng.uniform(0.3, 2)) * len(one.starts_s) / count
    ranks = rng.integers(4, 8, count)
    other = Program(begins, begins + lengths, volume, ranks, np.full(count, 2), None, np.zeros(0))
    return Grouped([one, other], _files("/s/a.dat", "/s/b.dat"))


def late_and_leaving(seed: int) -> Grouped:
    """The second program begins after a third of the time; the first ends after two thirds."""
    rng = np.random.default_rng(seed)
    periods = _periods(rng, 2)
    until = float(rng.uniform(30, 50)) * periods[1]
    one = _program(rng, 0.67 * until, periods[0], range(4), 1)
    other = _program(rng, until, periods[1], range(4, 8), 2, from_s=0.33 * until)
    return Grouped([one, other], _files("/s/a.dat", "/s/b.dat"))


def many_ranks(seed: int) -> Grouped:
    """Thousands of ranks in one group, each with its own delay; one request per rank and phase."""
    rng = np.random.default_rng(seed)
    (period,) = _periods(rng, 1)
    ranks = range(10_000)
    job = _program(
        rng,
        15 * period,
        period,
        ranks,
        1,
        jitter=float(rng.uniform(0, 0.1)),
        delay=float(rng.uniform(0, 1)),
        requests=1,
    )
    return Grouped([job], _files("/s/out.dat"))


def jittered(seed: int) -> Grouped:
    """The paper's jobs: 32 processes, compute times with a deviation equal to their mean, and a delay per process."""
    rng = np.random.default_rng(seed)
    made = semisynthetic(
        seed,
        relative_sigma=float(rng.uniform(0, 1)),
        delay_s=float(rng.uniform(0, 22)),
        compute_s=float(rng.uniform(8, 20)),
    )
    return _of_trace(made, rng)


def aperiodic(seed: int) -> Grouped:
    """Jobs without a period: random requests on sixteen ranks, or each rank independent of the others."""
    rng = np.random.default_rng(seed)
    makers = list(SIGNALS.values())
    if seed % 2:
        return _of_trace(makers[int(rng.integers(len(makers)))](rng), rng)
    maker = makers[int(rng.integers(len(makers)))]
    made = [maker(rng) for _ in range(4)]
    return Grouped(
        [
            Program(
                each.start_s, each.end_s, each.volume, np.full(len(each.start_s), at), np.ones(len(each.start_s), int),
                None, np.zeros(0),
            )
            for at, each in enumerate(made)
        ],
        _files("/s/out.dat"),
    )  # fmt: skip


def _of_trace(made: Trace, rng: np.random.Generator) -> Grouped:
    count = len(made.start_s)
    rank = np.arange(count) // max(count // 640, 1) % 32 if count % 2 else rng.integers(0, 32, count)
    period = float(np.diff(made.starts_s).mean()) if len(made.starts_s) > 1 else None
    job = Program(made.start_s, made.end_s, made.volume, rank, np.ones(count, int), period, made.starts_s)
    return Grouped([job], _files("/s/out.dat"))


GROUPED: Final[dict[str, Maker]] = {
    "two by rank": by_rank,
    "two by command": by_command,
    "two kinds of files": by_file,
    "one of two is small": one_small,
    "three by host": three,
    "periodic beside aperiodic": with_aperiodic,
    "one joins late, one leaves": late_and_leaving,
}
WHOLE: Final[dict[str, Maker]] = {
    "10,000 ranks, one group": many_ranks,
    "32 processes, jitter and delays": jittered,
    "aperiodic": aperiodic,
}
