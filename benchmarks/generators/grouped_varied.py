"""Jobs of several programs with every constant drawn anew, different from those that groups were tuned on.

The kinds of ``GROUPED_VARIED`` have groups. Those of ``WHOLE_VARIED`` have one period or none, and must not be split.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Final

import numpy as np
from iotide.benchmarks.generators.grouped import Grouped, Maker, Program
from iotide.benchmarks.generators.grouped_draws import (
    Draw,
    Times,
    beside,
    files_of,
    log_uniform,
    program_of,
    ranks_of,
    starts_of,
)


def at_ratio(low: float, high: float, seed: int) -> Grouped:
    """Two programs with a ratio of their periods in a given range."""
    rng = np.random.default_rng(seed)
    period = log_uniform(rng, 2, 200)
    return beside(rng, [period, period * float(rng.uniform(low, high))], 1e7 * np.exp(rng.normal(0, 0.7, 2)))


def harmonic(seed: int) -> Grouped:
    """Two programs; one period is exactly two to five times the other."""
    rng = np.random.default_rng(seed)
    period = log_uniform(rng, 2, 100)
    return beside(rng, [period, period * int(rng.integers(2, 6))], 1e7 * np.exp(rng.normal(0, 0.7, 2)))


def one_in_a_hundred(seed: int) -> Grouped:
    """Two programs; one moves a hundredth of the other's bytes per second."""
    rng = np.random.default_rng(seed)
    periods = [log_uniform(rng, 5, 60)]
    periods.append(periods[0] * float(rng.uniform(1.25, 4)))
    rates = [1e7, 1e5] if rng.integers(2) else [1e5, 1e7]
    return beside(rng, periods, [rate * period for rate, period in zip(rates, periods, strict=True)])


def three_or_four(seed: int) -> Grouped:
    """Three or four programs."""
    rng = np.random.default_rng(seed)
    periods = [log_uniform(rng, 4, 30)]
    while len(periods) < 3 + seed % 2:
        periods.append(periods[-1] * float(rng.uniform(1.3, 2.7)))
    return beside(rng, periods, 1e7 * np.exp(rng.normal(0, 0.5, len(periods))), phases=float(rng.uniform(10, 20)))


def beside_aperiodic(seed: int) -> Grouped:
    """One or two programs with a period beside one without."""
    rng = np.random.default_rng(seed)
    periods = [log_uniform(rng, 5, 60)]
    if seed % 2:
        periods.append(periods[0] * float(rng.uniform(1.3, 3)))
    job = beside(rng, periods, [1e7] * len(periods))
    until = max(float(each.starts_s[-1]) for each in job.programs)
    first = max(int(each.rank.max()) for each in job.programs) + 1
    count = int(until / periods[0] * float(rng.uniform(0.7, 3)))
    starts = np.sort(rng.uniform(0, until, max(count, 8)))
    volume = 1e7 * log_uniform(rng, 0.3, 3)
    ranks = range(first, first + ranks_of(rng))
    length = periods[0] * float(rng.uniform(0.02, 0.2))
    noise = program_of(rng, starts, None, ranks, [4], volume=volume, uneven=0.4, length=length)
    return Grouped([*job.programs, replace(noise, starts_s=np.zeros(0))], job.files)


def ends_early(seed: int) -> Grouped:
    """Two programs; one ends after 0.3 to 0.8 of the time."""
    rng = np.random.default_rng(seed)
    periods = [log_uniform(rng, 5, 60)]
    periods.append(periods[0] * float(rng.uniform(1.25, 3)))
    job = beside(rng, periods, [1e7, 1e7], phases=float(rng.uniform(25, 50)))
    shortened, other = job.programs if rng.integers(2) else job.programs[::-1]
    until = float(rng.uniform(0.3, 0.8)) * float(shortened.starts_s[-1])
    return Grouped([_until(shortened, until), other], job.files)


def _until(program: Program, until_s: float, from_s: float = -np.inf) -> Program:
    kept = (program.start_s < until_s) & (program.start_s >= from_s)
    within = (program.starts_s < until_s) & (program.starts_s >= from_s)
    columns = (program.start_s, program.end_s, program.volume, program.rank, program.path)
    start, end, volume, rank, path = (column[kept] for column in columns)
    return replace(
        program, start_s=start, end_s=end, volume=volume, rank=rank, path=path, starts_s=program.starts_s[within]
    )  # fmt: skip


def roles_change(seed: int) -> Grouped:
    """Two programs that exchange their ranks half-way; the members after that count."""
    rng = np.random.default_rng(seed)
    periods = [log_uniform(rng, 5, 60)]
    periods.append(periods[0] * float(rng.uniform(1.25, 2.5)))
    number = ranks_of(rng)
    until = periods[1] * float(rng.uniform(30, 60))
    made = []
    for at, period in enumerate(periods):
        starts = starts_of(rng, period, 0.0, until, float(rng.uniform(0, 0.02)))
        program = program_of(rng, starts, period, range(at * number, at * number + number), [at + 1])
        swapped = np.where(program.start_s > until / 2, (program.rank + number) % (2 * number), program.rank)
        made.append(replace(program, rank=swapped))
    return Grouped(made, files_of("/p/one", "/p/two"))


def by_host(seed: int) -> Grouped:
    """Two programs of processes without ranks, one per host; both write to the same folder."""
    rng = np.random.default_rng(seed)
    periods = [log_uniform(rng, 5, 60)]
    periods.append(periods[0] * float(rng.uniform(1.25, 4)))
    until = periods[1] * float(rng.uniform(12, 40))
    made = [
        program_of(
            rng,
            starts_of(rng, period, 0.0, until, 0.02),
            period,
            [-1],
            [1],
            host=f"h{at}",
            pid=4000 + at,
            command="app",
        )
        for at, period in enumerate(periods)
    ]
    return Grouped(made, files_of("/p/shared.log"))


def in_one_process(seed: int) -> Grouped:
    """One process without a rank that writes two kinds of files, each with its own period."""
    rng = np.random.default_rng(seed)
    periods = [log_uniform(rng, 5, 60)]
    periods.append(periods[0] * float(rng.uniform(1.25, 5)))
    until = periods[1] * float(rng.uniform(12, 40))
    each = int(rng.integers(1, 30))
    made = [
        program_of(
            rng, starts_of(rng, period, 0.0, until, 0.02), period, [-1], range(1 + each * at, 1 + each * at + each),
            volume=1e7 * log_uniform(rng, 0.1, 10), pid=77, command="solver",
        )
        for at, period in enumerate(periods)
    ]  # fmt: skip
    names = [f"/w/{kind}" % number for kind in ("restart-%d.h5", "history_%d.nc") for number in range(each)]
    return Grouped(made, files_of(*names))


def processes(seed: int) -> Grouped:
    """Two commands of one to forty processes each, without ranks, on one host."""
    rng = np.random.default_rng(seed)
    periods = [log_uniform(rng, 5, 60)]
    periods.append(periods[0] * float(rng.uniform(1.25, 4)))
    until = periods[1] * float(rng.uniform(12, 30))
    made = []
    for at, period in enumerate(periods):
        starts = starts_of(rng, period, 0.0, until, 0.02)
        command = ("python3 train.py --out a", "fio job.fio")[at]
        length = period * float(rng.uniform(0.02, 0.15))
        made += [
            program_of(rng, starts, period, [-1], [at + 1], length=length, pid=100 * at + process, command=command)
            for process in range(max(1, ranks_of(rng, 40)))
        ]
    return Grouped(made, files_of("/d/model.pt", "/d/fio.0.0"))


def thousands(seed: int) -> Grouped:
    """Two programs of 500 to 3,000 ranks each, one request per rank and phase."""
    rng = np.random.default_rng(seed)
    periods = [log_uniform(rng, 5, 60)]
    periods.append(periods[0] * float(rng.uniform(1.25, 3)))
    until, first, made = periods[1] * 14, 0, []
    for at, period in enumerate(periods):
        ranks = range(first, first + int(rng.integers(500, 3000)))
        first = ranks.stop
        starts = starts_of(rng, period, 0.0, until, 0.01)
        made.append(program_of(rng, starts, period, ranks, [at + 1], delay=float(rng.uniform(0, 0.3))))
    return Grouped(made, files_of("/p/a.bp", "/p/b.bp"))


def one_period(
    seed: int,
    *,
    jitter: float = 0.01,
    uneven: float = 0.1,
    imbalance: float = 0.0,
    delay: float = 0.0,
    missed: float = 0.0,
    files: int = 1,
    bare: bool = False,
) -> Grouped:
    """Ranks that do I/O together. Each option is the maximum of its draw; with ``bare`` processes have no ranks."""
    rng = np.random.default_rng(seed)
    period, number = log_uniform(rng, 2, 200), max(2, ranks_of(rng))
    starts = starts_of(rng, period, 0.0, period * float(rng.uniform(10, 60)), float(rng.uniform(0, jitter)))
    drawn = {name: float(rng.uniform(0, most)) for name, most in
             (("uneven", uneven), ("imbalance", imbalance), ("delay", delay), ("missed", missed))}  # fmt: skip
    paths = files_of(*(f"/r/{kind}.{at}" for at in range(files) for kind in ("plt", "chk", "log")[: min(files, 3)]))
    numbers = range(1, len(paths))
    length = period * log_uniform(rng, 0.02, 0.25)
    if not bare:
        return Grouped([program_of(rng, starts, period, range(number), numbers, length=length, **drawn)], paths)
    made = [
        program_of(rng, starts, period, [-1], numbers, length=length, pid=10 + at, command="app", **drawn)
        for at in range(number)
    ]
    return Grouped(made, paths)


def one_writes_all(seed: int) -> Grouped:
    """Rank 0 writes the checkpoints; the others write a little now and then, or with it, or nothing."""
    rng = np.random.default_rng(seed)
    job = one_period(seed, jitter=0.1, uneven=0.3)
    (all_ranks,) = job.programs
    first = all_ranks.rank == 0
    quiet = np.where(first, 1.0, (0.0, 1e-3, 1e-2)[seed % 3])
    kept = np.flatnonzero((all_ranks.volume * quiet >= 1.0) & (first | (rng.random(len(first)) < 0.5)))
    columns = (all_ranks.start_s, all_ranks.end_s, all_ranks.volume * quiet, all_ranks.rank, all_ranks.path)
    start, end, volume, rank, path = (column[kept] for column in columns)
    made = replace(all_ranks, start_s=start, end_s=end, volume=volume, rank=rank, path=path)
    return Grouped([made], job.files)


def in_turn(seed: int) -> Grouped:
    """In each phase another rank, or another few ranks, write."""
    rng = np.random.default_rng(seed)
    job = one_period(seed, jitter=0.05)
    (all_ranks,) = job.programs
    number = int(all_ranks.rank.max()) + 1
    phase = np.searchsorted(all_ranks.starts_s, all_ranks.start_s, side="right") - 1
    own = (phase + int(rng.integers(number))) % number == all_ranks.rank
    columns = (all_ranks.start_s, all_ranks.end_s, all_ranks.volume, all_ranks.rank, all_ranks.path)
    start, end, volume, rank, path = (column[own] for column in columns)
    return Grouped([replace(all_ranks, start_s=start, end_s=end, volume=volume, rank=rank, path=path)], job.files)


def no_period(seed: int) -> Grouped:
    """Phases at random, of all ranks together, or of each or of a few ranks independently."""
    rng = np.random.default_rng(seed)
    number, parts = max(2, ranks_of(rng)), (1, 2, 4)[seed % 3]
    until, made = log_uniform(rng, 100, 5000), []
    for at in range(min(parts, number)):
        ranks = range(at * number // parts, max((at + 1) * number // parts, at * number // parts + 1))
        count = int(rng.integers(8, 60))
        gaps = (
            rng.exponential(1, count),
            rng.lognormal(0, 1, count),
            rng.pareto(1.5, count) + 0.1,
            rng.uniform(0, 2, count),
        )
        starts = np.cumsum(gaps[int(rng.integers(4))])
        starts = starts / starts[-1] * until
        made.append(program_of(rng, starts, None, ranks, [1 + at], uneven=0.5, imbalance=0.5))
    return Grouped([replace(each, starts_s=np.zeros(0)) for each in made], files_of(*"abcd"))


def _loop(rng: Draw, starts: Times, period: float, command: str, first_file: int, first_pid: int) -> list[Program]:
    """Make a new process for each phase, like a shell loop."""
    length = period * log_uniform(rng, 0.02, 0.15)
    turns = int(rng.integers(1, 9))
    return [
        program_of(
            rng, starts[at : at + 1], period, [-1], [first_file + at % turns], uneven=0.05, length=length,
            pid=first_pid + 7 * at, command=f"{command} out.{at % turns}",
        )
        for at in range(len(starts))
    ]  # fmt: skip


def _whole(parts: list[Program], starts: Times) -> list[Program]:
    """Return the processes; the first has all starts, the others have none and are not judged."""
    return [replace(each, starts_s=starts, period_s=each.period_s if not at else None) for at, each in enumerate(parts)]


def loops(seed: int) -> Grouped:
    """A shell loop with one process per phase, beside another loop or a long-lived program."""
    rng = np.random.default_rng(seed)
    periods = [log_uniform(rng, 2, 60)]
    periods.append(periods[0] * float(rng.uniform(1.25, 4)))
    if rng.integers(2):
        periods.reverse()
    until = max(periods) * float(rng.uniform(12, 25))
    each = [starts_of(rng, period, 0.0, until, 0.02) for period in periods]
    made = _whole(_loop(rng, each[0], periods[0], "dd if=/dev/zero", 1, 1000), each[0])
    if seed % 2:
        made += _whole(_loop(rng, each[1], periods[1], "tar -cf", 10, 1003), each[1])
    else:
        made.append(program_of(rng, each[1], periods[1], [-1], [10], pid=9, command="python3 solver.py"))
    names = [f"/l/ck.{at}" for at in range(9)] + [f"/l/all{at}.tar" for at in range(9)]
    return Grouped(made, files_of(*names))


def one_loop(seed: int) -> Grouped:
    """A shell loop, each iteration of which starts one to four processes of different commands."""
    rng = np.random.default_rng(seed)
    period = log_uniform(rng, 2, 60)
    starts = starts_of(rng, period, 0.0, period * float(rng.uniform(10, 40)), float(rng.uniform(0, 0.15)))
    made: list[Program] = []
    for at in range(int(rng.integers(1, 5))):
        later = starts + period * 0.12 * at
        made += _loop(rng, later, period, ("dd if=/dev/zero", "cp -r in", "gzip", "sh -c")[at], 1 + 9 * at, 1000 + at)
    return Grouped(made, files_of(*(f"/l/{name}{at}" for name in "abcd" for at in range(9))))


GROUPED_VARIED: Final[dict[str, Maker]] = {
    "1 : 1.2": partial(at_ratio, 1.17, 1.23),
    "2 : 3": partial(at_ratio, 1.45, 1.55),
    "1 : 2": partial(at_ratio, 1.93, 2.07),
    "1 : 10": partial(at_ratio, 9, 11),
    "harmonic": harmonic,
    "volumes 1 : 100": one_in_a_hundred,
    "three or four": three_or_four,
    "beside aperiodic": beside_aperiodic,
    "one ends early": ends_early,
    "ranks change roles": roles_change,
    "by host": by_host,
    "two kinds of files, one process": in_one_process,
    "two commands, many processes": processes,
    "thousands of ranks": thousands,
    "loops of a shell": loops,
}
WHOLE_VARIED: Final[dict[str, Callable[[int], Grouped]]] = {
    "even": one_period,
    "jittered": partial(one_period, jitter=0.4),
    "uneven": partial(one_period, jitter=0.1, uneven=0.6),
    "uneven ranks": partial(one_period, jitter=0.1, imbalance=2.0, delay=1.0),
    "ranks miss phases": partial(one_period, jitter=0.1, missed=0.6, delay=0.5),
    "many files": partial(one_period, jitter=0.1, uneven=0.3, files=40),
    "processes without ranks": partial(one_period, jitter=0.1, uneven=0.3, delay=0.5, bare=True),
    "one rank writes all": one_writes_all,
    "ranks write in turn": in_turn,
    "one loop of a shell": one_loop,
    "no period": no_period,
}
