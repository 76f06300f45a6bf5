"""Six real programs on one bandwidth: their slowdown, the effect of policies, and the accuracy of predictions.

Three programs with periods near 2 s and three near 10 s, each an eighth of the load, write with direct I/O on a disk
that a ``blkio`` group (cgroup v1, as root) limits to 20 MB/s, and are traced live. Results come from their own logs:
I/O slowdown is time in I/O over the time of the same phases alone in the group; yield is the time of the work alone
over the elapsed time. The group shares the bandwidth equally. The same logs yield the error of predicted starts, and
jobs for the simulator, which computes the effect of policies with true predictions. The simulated bandwidth is the one
that the group provides to successive phases; a real phase after a pause is 4 to 12 % faster. Two predictions of the
next start are compared with the logs: that of a job alone (``/api/v1/jobs/JOB/prediction``), and that of the contention
analysis, which knows the phases of the other jobs (``next_phases`` of ``/api/v1/contention``, once per second).

Each run is made without, and then with ``iotide schedule`` beside the programs from half of the warm-up on, by live
predictions. IOTIDE_SCHEDULE contains its options, several sets separated by ``;`` (``--backend preload --policy
volume-first``; empty: only without). IOTIDE_RUNS runs (5; starts and jitter by the number of the run), IOTIDE_WARM_S
seconds to learn the periods (60), IOTIDE_MEASURED_S measured seconds (120). IOTIDE_SPREAD is the relative difference of
the periods near 2 and near 10 s (0.1: 1.8, 2 and 2.2 s): the more alike they are, the longer jobs that do not overlap
stay so. Figures are medians over the runs.
"""

from __future__ import annotations

import contextlib
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from iotide.benchmarks.common.figures import Figure
from iotide.benchmarks.common.processes import answer, started, wait_for
from iotide.clients.schedulers.backends.cgroup import device_of
from iotide.clients.schedulers.fluid import Job
from iotide.clients.schedulers.predictions import true_forecasts
from iotide.clients.schedulers.study import run as simulate
from iotide.scheduling.named_policies import policy_named

CAPACITY: Final = 20_000_000
GROUP: Final = Path("/sys/fs/cgroup/blkio/iotide-six")
LOAD: Final = 0.75
SPREAD: Final = float(os.environ.get("IOTIDE_SPREAD", "0.1"))
PERIODS_S: Final = tuple(near * (1 + off) for near in (2.0, 10.0) for off in (-SPREAD, 0.0, SPREAD))
JITTER: Final = 0.05
BLOCK: Final = 1 << 19
RUNS: Final = int(os.environ.get("IOTIDE_RUNS", "5"))
WARM_S: Final = float(os.environ.get("IOTIDE_WARM_S", "60"))
MEASURED_S: Final = float(os.environ.get("IOTIDE_MEASURED_S", "120"))
SCHEDULES: Final = [
    words.split()
    for words in os.environ.get("IOTIDE_SCHEDULE", "--backend preload --policy volume-first").split(";")
    if words.strip()
]
POLICIES: Final = ("fair-share", "set-10", "lowest-yield", "volume-first")
IOTIDE: Final = [sys.executable, "-m", "iotide"]
PROGRAM: Final = """
import mmap, os, random, sys, time
file, log, compute_s, blocks, jitter, seed, phases = sys.argv[1:]
chance, compute_s, blocks, size = random.Random(seed), float(compute_s), int(blocks), 1 << 19
data = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_DIRECT, 0o600)
block = mmap.mmap(-1, size)
time.sleep(chance.uniform(0, compute_s))
with open(log, "w", buffering=1) as told:
    for _ in range(int(phases)):
        computed = max(0.1, chance.gauss(compute_s, float(jitter) * compute_s))
        time.sleep(computed)
        begun = time.time()
        told.write(f"{begun} {computed}")
        for step in range(blocks):
            os.pwrite(data, block, step * size)
        told.write(f" {time.time()}\\n")
"""


class Shape(NamedTuple):
    """A program: compute time and number of blocks per iteration."""

    name: str
    period_s: float
    compute_s: float
    blocks: int


class Phase(NamedTuple):
    """A line of a program's own log, Unix time."""

    start_s: float
    computed_s: float
    end_s: float


class Forecast(NamedTuple):
    """A predicted start, of the job alone or given the other jobs."""

    made_at_s: float
    start_s: float
    low_s: float
    high_s: float
    period_s: float
    known_until_s: float | None = None
    """End of the last call that the prediction knows, if it says so."""


class Outcome(NamedTuple):
    """Results of the jobs in one run."""

    slowdowns: list[float]
    lowest_yield: float
    off: list[float]
    """Median error of the next start of each job, in periods."""
    held: list[float]
    """Share of starts within the 90 % intervals, of each job."""
    off_given_others: list[float]
    """Median error of the next start by the contention analysis, in periods."""
    held_given_others: list[float]
    """Share of starts within its 90 % intervals."""
    would: dict[str, tuple[float, float]]
    """Slowdown and lowest yield of the same jobs in the simulator, by policy."""


def shapes() -> list[Shape]:
    """Return the six programs."""
    made = []
    for number, period_s in enumerate(PERIODS_S):
        blocks = max(1, round(LOAD / len(PERIODS_S) * period_s * CAPACITY / BLOCK))
        made.append(Shape(f"p{number}-{period_s:g}s", period_s, period_s - blocks * BLOCK / CAPACITY, blocks))
    return made


def words_of(shape: Shape, folder: Path, seed: int, phases: int = 1_000_000) -> list[str]:
    """Return the command of a program in the group."""
    enter = ["sh", "-c", f'echo $$ > {GROUP}/cgroup.procs; exec "$@"', "sh"]
    facts = [shape.compute_s, shape.blocks, JITTER, f"{seed}-{shape.name}", phases]
    return [*enter, sys.executable, "-c", PROGRAM, f"{folder}/files/{shape.name}", f"{folder}/{shape.name}.log",
            *map(str, facts)]  # fmt: skip


def phases_of(folder: Path, shape: Shape) -> list[Phase]:
    """Read a program's log; a phase in progress ends now."""
    log = folder / f"{shape.name}.log"
    rows = [list(map(float, line.split())) for line in log.read_text().splitlines() if line]
    return [Phase(row[0], row[1], row[2] if len(row) > 2 else time.time()) for row in rows if len(row) > 1]


def seconds_alone(shape: Shape, folder: Path) -> float:
    """Return the duration of a program's phase alone in the group, s."""
    few = shape._replace(compute_s=0.3)
    subprocess.run(words_of(few, folder, 0, 5), check=True)
    return statistics.median(phase.end_s - phase.start_s for phase in phases_of(folder, shape))


@contextlib.contextmanager
def monitored(folder: Path, schedule: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Run aggregator and collector; yield the aggregator's address and the environment of traced programs."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("IOTIDE_", "SLURM_"))}
    log, config = folder / "serve.log", folder / "serve.toml"
    config.write_text(
        f'[analyzers.filesystems.names]\n"{folder}/files" = "scratch"\n'
        f"[contention]\ninterval_s = 1.0\nshare = 0.5\nhorizon_s = 60\n[contention.capacity]\nscratch = {CAPACITY}\n"
    )
    with contextlib.ExitStack() as stack:
        words = [*IOTIDE, "serve", "--config", str(config), "--ingest", f"ipc://{folder}/in", "--http", "127.0.0.1:0"]
        words += ["--publish", "none", "--state", "none", "--verbose"]
        stack.enter_context(started(words, env=plain, stderr=stack.enter_context(log.open("wb"))))
        url = wait_for(lambda: re.search(r"http://127[\d.:]+", log.read_text()), "the aggregator")
        paced = ["--pace", f"{folder}/files"] if "preload" in schedule else []
        words = [*IOTIDE, "collect", "--socket", f"{folder}/t", "--connect", f"ipc://{folder}/in", *paced]
        stack.enter_context(started(words, env=plain))
        wait_for((folder / "t").exists, "the collector")
        words = [*IOTIDE, "collect", "--socket", f"{folder}/t", "--print-environment", *paced]
        printed = subprocess.run(words, env=plain, capture_output=True, text=True, check=True).stdout
        yield url[0], plain | dict(line.split("=", 1) for line in printed.split())


def forecasts_of(url: str, jobs: Sequence[Shape]) -> dict[str, Forecast]:
    """Return the current predictions of the jobs with a period."""
    forecasts = {}
    for shape in jobs:
        with contextlib.suppress(OSError):
            found: dict[str, Any] = answer(f"{url}/api/v1/jobs/{shape.name}/prediction")
            if found["period_s"] and (coming := found["next_phase"]) and found["confidence"] > 0.5:
                start = coming["start_s"]
                forecasts[shape.name] = Forecast(
                    found["made_at_s"], start["value"], start["low"], start["high"], found["period_s"]["value"]
                )
    return forecasts


def forecasts_given_others(url: str) -> dict[str, Forecast]:
    """Return the next start of each job, given the I/O of the others."""
    with contextlib.suppress(OSError):
        found: dict[str, Any] = answer(f"{url}/api/v1/contention")
        return {
            each["job"]: Forecast(
                found["made_at_s"],
                each["start_s"]["value"],
                each["start_s"]["low"],
                each["start_s"]["high"],
                each["period_s"],
                each["known_until_s"],
            )
            for each in found["next_phases"]
            if each["confidence"] > 0.5
        }
    return {}


def errors(forecasts: Sequence[Forecast], phases: Sequence[Phase], blocks: int) -> tuple[float, float]:
    """Return the median error of the next start in periods, and the share of starts in their intervals.

    The next phase is the first one without a call that the prediction knows. Without that knowledge it is the first one
    without a complete call at the time of the prediction.
    """
    off, held = [], []
    for each in forecasts:
        if each.known_until_s is None:
            ends = [phase.start_s + (phase.end_s - phase.start_s) / blocks for phase in phases]
            later = [phase.start_s for phase, end in zip(phases, ends, strict=True) if end > each.made_at_s]
        else:
            later = [phase.start_s for phase in phases if phase.start_s > each.known_until_s]
        if later:
            off.append(abs(later[0] - each.start_s) / each.period_s)
            held.append(each.low_s <= later[0] <= each.high_s)
    return (statistics.median(off), statistics.fmean(held)) if off else (float("nan"), float("nan"))


def simulated(policy: str, rows: Sequence[tuple[Shape, list[Phase]]], alone_s: dict[str, float]) -> tuple[float, float]:
    """Return I/O slowdown and lowest yield of the same jobs in the simulator, with true predictions."""
    began_s = min(phases[0].start_s - phases[0].computed_s for _, phases in rows)
    jobs = []
    for shape, phases in rows:
        gaps = (phases[0].start_s - began_s, *(phase.computed_s for phase in phases[1:]))
        volumes = (float(shape.blocks * BLOCK),) * len(phases)
        jobs.append(Job(shape.name, gaps, volumes, CAPACITY, true_forecasts(gaps, volumes, CAPACITY)))
    result = simulate(*policy_named(policy), jobs, CAPACITY)
    slowdowns, yields = [], []
    for (shape, phases), job in zip(rows, result.jobs, strict=True):
        assert job.io_slowdown is not None
        took_s, took_alone_s = job.io_slowdown * shape.blocks * BLOCK / CAPACITY, alone_s[shape.name]
        computed_s = statistics.fmean(phase.computed_s for phase in phases)
        slowdowns.append(took_s / took_alone_s)
        yields.append((computed_s + took_alone_s) / (computed_s + took_s))
    return statistics.fmean(slowdowns), min(yields)


def run(seed: int, alone_s: dict[str, float], schedule: Sequence[str]) -> Outcome:
    """Run the six programs once."""
    jobs, scheduler = shapes(), None
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        (folder / "files").mkdir()
        url, environment = stack.enter_context(monitored(folder, schedule))
        for shape in jobs:
            job = {"IOTIDE_JOB": shape.name}
            stack.enter_context(started(words_of(shape, folder, seed), env=environment | job))
        time.sleep(WARM_S / 2)
        if schedule:
            words = [*IOTIDE, "schedule", url, "--file-system", "scratch", "--capacity", str(CAPACITY), *schedule]
            scheduler = stack.enter_context(started(words, env=environment, stdout=subprocess.DEVNULL))
        time.sleep(WARM_S / 2)
        begun_s = time.time()
        received: dict[str, list[Forecast]] = {shape.name: [] for shape in jobs}
        given_others: dict[str, list[Forecast]] = {shape.name: [] for shape in jobs}
        while time.time() < begun_s + MEASURED_S:
            time.sleep(0.5)
            for kept, fresh in ((received, forecasts_of(url, jobs)), (given_others, forecasts_given_others(url))):
                for job_name, each in fresh.items():
                    if not kept[job_name] or kept[job_name][-1] != each:
                        kept[job_name].append(each)
        time.sleep(2 * max(alone_s.values()))  # lets current phases end
        if scheduler is not None and scheduler.poll() is not None:
            raise RuntimeError(f"iotide schedule ended with status {scheduler.returncode}")
        slowdowns, yields, off, held, rows = [], [], [], [], []
        off_given_others, held_given_others = [], []
        for shape in jobs:
            phases = phases_of(folder, shape)
            rows.append((shape, phases))
            counted = [phase for phase in phases if begun_s <= phase.start_s < begun_s + MEASURED_S]
            in_io = sum(phase.end_s - phase.start_s for phase in counted)
            computed = sum(phase.computed_s for phase in counted)
            slowdowns.append(in_io / (len(counted) * alone_s[shape.name]))
            yields.append((computed + len(counted) * alone_s[shape.name]) / (computed + in_io))
            error, share = errors(received[shape.name], phases, shape.blocks)
            off.append(error)
            held.append(share)
            error, share = errors(given_others[shape.name], phases, shape.blocks)
            off_given_others.append(error)
            held_given_others.append(share)
    would = {policy: simulated(policy, rows, alone_s) for policy in POLICIES}
    return Outcome(slowdowns, min(yields), off, held, off_given_others, held_given_others, would)


def alone_in_group() -> dict[str, float]:
    """Create the group with its limit, and return the duration of a phase of each program alone in it, s."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as name:
        folder = Path(name)
        (folder / "files").mkdir()
        GROUP.mkdir(exist_ok=True)
        try:
            (GROUP / "blkio.throttle.write_bps_device").write_text(f"{device_of(folder)} {CAPACITY}")
        except OSError as error:
            raise RuntimeError(f"no blkio group limits {folder}: {error.strerror}") from None
        alone_s = {shape.name: seconds_alone(shape, folder) for shape in shapes()}
    print("alone:", ", ".join(f"{name} {took:.2f} s" for name, took in alone_s.items()), flush=True)
    return alone_s


def measure() -> list[Figure]:
    """Run the programs several times, print each run, and return the medians."""
    alone_s = alone_in_group()
    outcomes: list[Outcome] = []
    scheduled: dict[str, list[Outcome]] = {" ".join(words): [] for words in SCHEDULES}
    for seed in range(RUNS):
        outcomes.append(print_outcome(f"{seed}", run(seed, alone_s, [])))
        for words in SCHEDULES:
            scheduled[" ".join(words)].append(print_outcome(f"{seed}, {' '.join(words)}", run(seed, alone_s, words)))
    with contextlib.suppress(OSError):
        GROUP.rmdir()
    slowdown, least = medians(outcomes)
    figures = [Figure("I/O slowdown", slowdown, "", better="lower"), Figure("lowest yield", least, "")]
    for options, made in scheduled.items():
        ours, ours_least = medians(made)
        name = f"with iotide schedule {options}"
        figures.append(Figure(f"I/O slowdown {name}", ours, "", "<= 0.75 x", "unscheduled", slowdown, "lower"))
        figures.append(Figure(f"lowest yield {name}", ours_least, "", ">= 1 x", "unscheduled", least))
    for name, off, held in (
        ("", [each.off for each in outcomes], [each.held for each in outcomes]),
        (
            ", given the other jobs",
            [each.off_given_others for each in outcomes],
            [each.held_given_others for each in outcomes],
        ),
    ):
        figures.append(Figure(f"error of the next start, periods{name}", median_of(off), "", better="lower"))
        figures.append(Figure(f"starts within 90 % intervals{name}", median_of(held), "", "0.9"))
    for policy in POLICIES:
        slowdown = statistics.median(each.would[policy][0] for each in outcomes)
        figures.append(Figure(f"I/O slowdown, simulated, {policy}", slowdown, "", better="lower"))
        least = statistics.median(each.would[policy][1] for each in outcomes)
        figures.append(Figure(f"lowest yield, simulated, {policy}", least, ""))
    return figures


def median_of(rows: Sequence[Sequence[float]]) -> float:
    """Return the median over programs and runs; programs without predictions do not count."""
    return statistics.median(value for row in rows for value in row if value == value)


def medians(outcomes: Sequence[Outcome]) -> tuple[float, float]:
    """Return I/O slowdown and lowest yield."""
    slowdown = statistics.median(statistics.fmean(each.slowdowns) for each in outcomes)
    return slowdown, statistics.median(each.lowest_yield for each in outcomes)


def print_outcome(name: str, outcome: Outcome) -> Outcome:
    """Print the results of one run."""
    rows = (
        outcome.slowdowns,
        outcome.off,
        outcome.held,
        outcome.off_given_others,
        outcome.held_given_others,
    )
    slowdowns, off, held, off_given, held_given = (" ".join(f"{each:.2f}" for each in row) for row in rows)
    would = ", ".join(f"{policy} {slow:.2f} ({least:.3f})" for policy, (slow, least) in outcome.would.items())
    print(
        f"{name}: slowdown {statistics.fmean(outcome.slowdowns):.2f} ({slowdowns}), lowest yield "
        f"{outcome.lowest_yield:.3f}; simulated: {would}; next start off by {off} periods, interval coverage {held}; "
        f"given the other jobs: off by {off_given}, coverage {held_given}; "
        f"load {os.getloadavg()[0]:.0f}",
        flush=True,
    )
    return outcome
