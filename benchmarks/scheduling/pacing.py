"""Cost of pacing decisions: the jobs of ``six_programs.py``, simulated call by call, with the real pacer.

Programs compute and write blocks of 512 KiB in turns on one bandwidth of 20 MB/s. The decision part of the pacer reads
the simulated reports of their processes every two milliseconds, and holds back calls as on a node. A call that has
begun is not stopped. For comparison, the same policy runs in the simulator of ``iotide simulate``, which decides in no
time and stops phases anywhere: the bound of pacing. ``clairvoyant`` knows all phases of the next 16 s: about the bound
of any order. Predictions are true means. No clock is read, so load on the machine has no effect. IOTIDE_MIXES mixes
(4), from seed IOTIDE_SEED on (1000), of IOTIDE_LASTING_S seconds (300).
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final, NamedTuple

from iotide.benchmarks.common.figures import Figure, report
from iotide.benchmarks.generators.clairvoyant import clairvoyant
from iotide.benchmarks.scheduling.scheduling import six_jobs
from iotide.clients.schedulers.fluid import Job
from iotide.clients.schedulers.mixes import draw
from iotide.clients.schedulers.study import run
from iotide.collectors.pacing.constants import TICK_S
from iotide.collectors.pacing.job_turns import JobTurns
from iotide.collectors.pacing.local_jobs import Activity
from iotide.results.pacing import PacedJob, PacingPlan, PhaseForecast
from iotide.scheduling.named_policies import policy_named

CAPACITY: Final = 20e6
LOAD: Final = 0.75
BLOCK: Final = 1 << 19
MIXES: Final = int(os.environ.get("IOTIDE_MIXES", "4"))
SEED: Final = int(os.environ.get("IOTIDE_SEED", "1000"))
LASTING_S: Final = float(os.environ.get("IOTIDE_LASTING_S", "300"))
SPREADS: Final = (0.1, 0.05, 0.0)
BOUND: Final = "clairvoyant"
POLICIES: Final = ("fair-share", "set-10", "lowest-yield", "volume-first", BOUND)


class Row(NamedTuple):
    """Results of the jobs: mean I/O slowdown and lowest yield."""

    slowdown: float
    lowest_yield: float


@dataclass(slots=True)
class Program:
    """A program that computes and writes; times are s."""

    job: Job
    due_s: float
    phase: int = 0
    begun_s: float | None = None
    in_call_s: float | None = None
    moved: float = 0.0
    announced: int = 0
    before: int = 0
    is_held: bool = False
    io_s: float = 0.0
    alone_s: float = 0.0
    computed_s: float = 0.0

    def begin(self, now_s: float) -> None:
        """Begin a phase that is due."""
        if self.begun_s is None and self.due_s <= now_s:
            self.begun_s = self.in_call_s = now_s
            self.computed_s += self.job.gaps_s[self.phase]

    def write(self, amount: float, now_s: float) -> None:
        """Move bytes up to now. A call checks at its start whether it is held; bytes are reported at ends of calls."""
        assert self.begun_s is not None
        volume = self.job.volumes[self.phase]
        while amount > 0 and not (self.is_held and self.moved == self.announced):
            step = min(amount, self.announced + BLOCK - self.moved, volume - self.moved)
            self.moved += step
            amount -= step
            if self.moved >= volume - 1:
                self._end(volume, now_s - amount / CAPACITY)
                return
            if self.moved >= self.announced + BLOCK - 1:
                self.announced += BLOCK
                self.moved, self.in_call_s = float(self.announced), now_s

    def _end(self, volume: float, now_s: float) -> None:
        assert self.begun_s is not None
        self.io_s += now_s - self.begun_s
        self.alone_s += volume / CAPACITY
        self.before += int(volume)
        self.phase, self.moved, self.announced, self.begun_s, self.in_call_s = self.phase + 1, 0.0, 0, None, None
        self.due_s = now_s + self.job.gaps_s[self.phase]


def plan_of(jobs: Sequence[Job], policy: str) -> PacingPlan:
    """Return a plan with each job's means."""
    paced_jobs = []
    for job in jobs:
        volume, gap = fmean(job.volumes), fmean(job.gaps_s[1:])
        forecast = PhaseForecast(
            period_s=gap + volume / CAPACITY, volume_bytes=volume, gap_s=gap, confidence=0.99, next_confidence=0.9
        )
        paced_jobs.append(PacedJob(job=job.name, limit_bytes_per_s=CAPACITY, forecast=forecast))
    return PacingPlan(file_system="s", policy=policy, capacity_bytes_per_s=CAPACITY, lasts_s=60, jobs=paced_jobs)


def paced(jobs: Sequence[Job], policy: str) -> Row:
    """Run jobs with the pacer; "" for none."""
    programs = {job.name: Program(job, job.gaps_s[0]) for job in jobs}
    turns, held, plan = JobTurns(), frozenset[str](), plan_of(jobs, policy) if policy else None
    for step in range(1, int(LASTING_S / TICK_S)):
        now_s = step * TICK_S
        for each in programs.values():
            each.begin(now_s)
        going = [
            each
            for each in programs.values()
            if each.begun_s is not None and (not each.is_held or each.moved > each.announced)
        ]
        for each in going:
            each.write(CAPACITY * TICK_S / len(going), now_s)
        turns.set_plan(plan, now_s)
        activities = {name: Activity(each.before + each.announced, each.in_call_s) for name, each in programs.items()}
        held = turns.update(now_s, activities)
        for name, each in programs.items():
            each.is_held = name in held
    rows = programs.values()
    return Row(
        fmean(each.io_s / each.alone_s for each in rows),
        min((each.computed_s + each.alone_s) / (each.computed_s + each.io_s) for each in rows),
    )


def simulated(jobs: Sequence[Job], policy: str) -> Row:
    """Run jobs in the simulator."""
    chosen = clairvoyant(jobs, CAPACITY) if policy == BOUND else policy_named(policy)[1]
    result = run(policy, chosen, jobs, CAPACITY, LASTING_S)
    assert result.io_slowdown is not None
    return Row(result.io_slowdown, result.yield_lowest)


def outcome_of(case: tuple[float, str, int]) -> tuple[Row, Row]:
    """Return the results of a policy on one mix, paced and simulated."""
    spread, policy, seed = case
    jobs = draw(six_jobs(spread), LOAD, CAPACITY, 1.5 * LASTING_S, seed)
    ideal = simulated(jobs, policy)
    return ideal if policy == BOUND else paced(jobs, "" if policy == "fair-share" else policy), ideal


def measure() -> list[Figure]:
    """Print a row for each spread and policy; return the documented figures."""
    figures = []
    print(f"{'spread':<7} {'policy':<14} {'paced':>14} {'simulated':>14} {'below fair share':>22}")
    with multiprocessing.Pool() as pool:
        for spread in SPREADS:
            fair: tuple[Row, Row] | None = None
            for policy in POLICIES:
                found = pool.map(outcome_of, [(spread, policy, seed) for seed in range(SEED, SEED + MIXES)])
                real, ideal = (Row(*map(fmean, zip(*rows, strict=True))) for rows in zip(*found, strict=True))
                fair = fair or (real, ideal)
                less = [1 - one.slowdown / base.slowdown for one, base in zip((real, ideal), fair, strict=True)]
                print(
                    f"{spread:<7g} {policy:<14} {real.slowdown:>7.2f} {real.lowest_yield:>6.3f} "
                    f"{ideal.slowdown:>7.2f} {ideal.lowest_yield:>6.3f} {less[0]:>11.0%} {less[1]:>10.0%}",
                    flush=True,
                )
                if policy in ("set-10", "volume-first"):
                    name = f"I/O slowdown paced, {policy}, periods that differ by {spread:.0%}"
                    figures.append(Figure(name, real.slowdown, "", "", "in no time", ideal.slowdown, "lower"))
    return figures


if __name__ == "__main__":
    report(measure())
