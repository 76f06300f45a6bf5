"""Memory of many jobs, and the cost of a thousand predictions per second, as in a running aggregator."""

from __future__ import annotations

import asyncio
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from iotide.benchmarks.common.events import DEFINITIONS, make_batches
from iotide.benchmarks.common.figures import Figure, report
from iotide.daemon.aggregator import Aggregator
from iotide.daemon.ingest.ingest_settings import IngestStats
from iotide.daemon.publish.cached_samples import MAX_RENEWED
from iotide.daemon.publish.metrics import AggregatorCollector
from iotide.daemon.settings import AggregatorSettings
from iotide.events import Definitions, EventBatch, StreamInfo

JOBS = 700
"""Jobs whose memory is measured. From 683 on, none queues more events than one of 10,000 jobs."""
BURSTS = 120
EVENTS = 16
STEP_S = 10.0
DUE_S = 1.0
LIVE_JOBS = 1000
MANY_JOBS = 10_000
LOGGING_JOBS = 50
LIVE_S = 12
WARM_UP_PERIODS = 8
PERIODS_S = (2.0, 3.0, 5.0, 8.0)
LONGER_S = (20.0, 30.0, 60.0)
PIECE_S = 0.5
SILENCE_S = 600
IDLE_S = 20


def resident() -> int:
    """Current memory of the process (not the peak), bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def job_costs(settings: AggregatorSettings) -> tuple[float, float]:
    """Return the final memory per job in bytes, and the time per job of one prediction round in s.

    Each job makes a burst every ten seconds and is predicted after it. The memory of imported modules, which a first
    job loads, is not counted.
    """
    _bursts_of(1, settings)
    return _bursts_of(JOBS, settings)


def _bursts_of(jobs: int, settings: AggregatorSettings) -> tuple[float, float]:
    now = [1.7e9]
    aggregator = Aggregator(settings, lambda: now[0])
    (batch,) = make_batches(1, EVENTS)
    rounds = []
    before = resident()
    for burst in range(BURSTS):
        stamped = batch.replace(start=int(now[0] * 1e9) - 2_000_000 + np.arange(EVENTS) * 1000)
        for number in range(jobs):
            if not burst:
                aggregator.opened(f"s{number}", StreamInfo(job=f"job{number}", source="bench"))
            aggregator.batch(f"s{number}", stamped, Definitions([], []) if burst else DEFINITIONS)
        now[0] += DUE_S  # new data may wait for a prediction that long
        start = time.perf_counter()
        while aggregator.tick():
            pass
        rounds.append(time.perf_counter() - start)
        now[0] += STEP_S - DUE_S
    assert all(session.predictions >= BURSTS for session in aggregator.jobs.values())
    return (resident() - before) / jobs, rounds[-1] / jobs


def live(jobs: int, periods_s: tuple[float, ...], *, log: bool) -> tuple[float, float, float, float, float]:
    """Run jobs of some periods at default settings; a burst lasts a fifth of its period and arrives in pieces.

    Time is simulated, so that the warm-up takes no real time. With ``log``, each job also writes a line every second,
    so that each job has new data and is predicted each second.

    Returns:
        The cores for the predictions of a second, the cores for receiving the events, the predictions per job and
        second,
        the longest time of ``tick`` in the event loop in s, and the cores for the same jobs after ten silent minutes.
    """
    now, begun = [1.7e9], [0.0]

    def steady() -> float:
        return now[0] + min(time.process_time() - begun[0], 0.99 * PIECE_S)

    aggregator = Aggregator(AggregatorSettings(), lambda: now[0], steady)
    (batch,) = make_batches(1, EVENTS)
    rng = np.random.default_rng(1)
    period = rng.choice(periods_s, jobs)
    warm_up_s = round(WARM_UP_PERIODS * max(periods_s))
    line = batch.select(slice(0, 1)).replace(bytes=100)
    phase = rng.uniform(0, 1, jobs)
    for number in range(jobs):
        aggregator.opened(f"s{number}", StreamInfo(job=f"job{number}", source="bench"))
        aggregator.batch(f"s{number}", batch.select(slice(0, 0)), DEFINITIONS)
    predicting, taking, longest, made = 0.0, 0.0, 0.0, 0
    for step in range(int((warm_up_s + LIVE_S) / PIECE_S)):
        at = step * PIECE_S
        if at == warm_up_s:
            predicting, taking, longest, made = 0.0, 0.0, 0.0, aggregator.counters["predictions"]
        start = begun[0] = time.process_time()
        piece = at / period + phase
        for number in np.flatnonzero(piece % 1 < np.maximum(0.2, PIECE_S / period)).tolist():
            aggregator.batch(f"s{number}", _shifted_to(batch, now[0]), Definitions([], []))
        if log and at % 1 == 0:
            for number in range(jobs):
                aggregator.batch(f"s{number}", line.replace(start=int(now[0] * 1e9) - 10**8), Definitions([], []))
        taking += time.process_time() - start
        waiting = True
        while waiting:
            start = time.process_time()
            waiting = aggregator.tick()
            longest = max(longest, time.process_time() - start)
            predicting += time.process_time() - start
        now[0] += PIECE_S
    made = aggregator.counters["predictions"] - made

    def pass_time(seconds: float) -> None:
        now[0] += seconds
        begun[0] = time.process_time()

    idle = _idle_cores(aggregator, pass_time)
    assert len(aggregator.jobs) == jobs
    return predicting / LIVE_S, taking / LIVE_S, made / jobs / LIVE_S, longest, idle


def _idle_cores(aggregator: Aggregator, pass_time: Callable[[float], None]) -> float:
    """Return the cores for jobs that have been silent for ten minutes."""
    for _ in range(SILENCE_S):
        pass_time(1.0)
        while aggregator.tick():
            pass
    start = time.process_time()
    for _ in range(4 * IDLE_S):
        pass_time(0.25)
        aggregator.tick()
    return (time.process_time() - start) / IDLE_S


def _shifted_to(batch: EventBatch, now_s: float) -> EventBatch:
    return batch.replace(start=int(now_s * 1e9) - 400_000_000 + np.arange(EVENTS) * 20_000_000)


def scrape(jobs: int, series: int = AggregatorSettings().max_job_series, *, silent: bool = False) -> float:
    """Return the CPU time in s of a scrape with that many jobs, after those that compute the samples of all.

    Args:
        jobs: number of jobs.
        series: maximum number of jobs with series.
        silent: whether the jobs have no new events since the first scrape.
    """
    now_s = time.time()
    aggregator = Aggregator(AggregatorSettings(), lambda: now_s)
    (batch,) = make_batches(1, 1200, start_ns=int((now_s - 100) * 1e9), step_ns=8 * 10**7)
    (short,) = make_batches(1, EVENTS, start_ns=int((now_s - 100) * 1e9), step_ns=8 * 10**7)
    for number in reversed(range(jobs)):  # those with the most data are the latest, and have series
        aggregator.opened(f"s{number}", StreamInfo(job=f"job{number}", source="bench"))
        aggregator.batch(f"s{number}", batch if number < LIVE_JOBS else short, DEFINITIONS)
        aggregator.jobs[f"job{number}"].heard_at_s -= number  # else which of them have series is arbitrary
    while aggregator.tick():
        pass
    collector = AggregatorCollector(aggregator, IngestStats, series, lambda: now_s)
    for _ in range(-(-min(jobs, series) // MAX_RENEWED)):
        asyncio.run(collector.gathered()).encode("")
    if not silent:
        for number in range(jobs):
            aggregator.batch(f"s{number}", short, Definitions([], []))
            aggregator.jobs[f"job{number}"].heard_at_s -= number
    start = time.process_time()
    asyncio.run(collector.gathered()).encode("")
    return time.process_time() - start


def scrapes() -> list[Figure]:
    """Measure scrapes: the jobs have new events, or none since the scrape before."""
    all_silent_s = scrape(MANY_JOBS, MANY_JOBS, silent=True)
    return [
        Figure("scrape with series of 1,000 jobs", scrape(LIVE_JOBS), "s", "<= 0.3 s", better="lower"),
        Figure("scrape with 10,000 jobs, 1,000 with series", scrape(MANY_JOBS), "s", "<= 0.3 s", better="lower"),
        Figure("scrape with series of 10,000 silent jobs", all_silent_s, "s", better="lower"),
    ]


def _job_costs_in_process(settings: AggregatorSettings) -> tuple[float, float]:
    """Run ``job_costs`` in a separate process, because memory freed by an earlier run would hide its memory."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(job_costs, settings).result()


def measure() -> list[Figure]:
    held, _ = _job_costs_in_process(AggregatorSettings(history=1))
    remembering, round_s = _job_costs_in_process(AggregatorSettings())
    cores, taking, rate, longest_s, idle = live(LIVE_JOBS, PERIODS_S, log=False)
    busy_cores, busy_taking, busy_rate, _, _ = live(LOGGING_JOBS, LONGER_S, log=True)
    gib = 10_000 / 2**30
    return [
        Figure("10,000 jobs, 120 predictions each, default", remembering * gib, "GiB", "<= 4 GiB", better="lower"),
        Figure("10,000 jobs, one prediction stored per job", held * gib, "GiB", "<= 4 GiB", better="lower"),
        Figure("one prediction, with all subsequent work", round_s * 1e3, "ms", "<= 1 ms", better="lower"),
        Figure("1,000 live jobs, cores used", cores + taking, "cores", "<= 1 core", better="lower"),
        Figure("CPU time of a live job's prediction", cores / rate, "ms", "<= 1 ms", better="lower"),
        Figure("predictions per live job and second", rate, "1/s"),
        Figure(
            "1,000 live jobs with data each second, cores",
            (busy_cores + busy_taking) * LIVE_JOBS / LOGGING_JOBS,
            "cores",
            "<= 1 core",
            better="lower",
        ),
        Figure("predictions per such job and second", busy_rate, "1/s"),
        Figure("the same jobs after ten silent minutes", idle, "cores", better="lower"),
        *scrapes(),
        Figure("longest time of a tick in the event loop", longest_s * 1e3, "ms", better="lower"),
    ]


if __name__ == "__main__":
    report(measure())
