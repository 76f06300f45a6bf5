"""Events per second into a directly-follows graph with its statistics, beside pm4py's graph of the same log.

pm4py counts edges, starts and ends only. Both are measured in CPU time, the least of some runs. Before the timing,
pm4py's graphs of random logs are compared with ours.
"""

from __future__ import annotations

import resource
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from iotide.analyzers.dfg.settings import DfgSettings
from iotide.analyzers.dfg.update import DfgAnalyzer
from iotide.benchmarks.common.figures import Figure, report
from iotide.benchmarks.common.pm4py import discover

EVENTS = 1 << 21
PEER_EVENTS = 1 << 19
STREAMED = 50_000
CASES = 64
ACTIVITIES = 48
STEP_NS = 20_000
START_NS = 1_700_000_000 * 10**9
RANDOM_LOGS = 100
ROUNDS = 20

Ints = npt.NDArray[np.int64]


class Log(NamedTuple):
    """Columns of a log, as for ``DfgAnalyzer.update``."""

    case: Ints
    activity: npt.NDArray[np.int32]
    start: Ints
    duration: Ints
    size: Ints


def make_log(events: int, cases: int = CASES, activities: int = ACTIVITIES, seed: int = 1) -> Log:
    """Make a log in which each activity is followed by few others; a third of the activities have no size."""
    rng = np.random.default_rng(seed)
    case = rng.integers(0, cases, events)
    step = rng.choice([0, 0, 0, 1, 1, 2, 7], events)
    activity = np.empty(events, np.int64)
    for each in range(cases):
        rows = np.flatnonzero(case == each)
        activity[rows] = np.cumsum(step[rows]) % activities
    size = np.where(activity % 3 == 0, -1, rng.integers(0, 1 << 20, events))
    start = START_NS + np.arange(events) * STEP_NS
    return Log(case, activity.astype(np.int32), start, rng.integers(1_000, 200_000, events), size)


def feed(analyzer: DfgAnalyzer, log: Log, batch: int) -> None:
    for at in range(0, len(log.case), batch):
        analyzer.update(*(column[at : at + batch] for column in log))


def cpu_seconds(log: Log, batch: int) -> float:
    """Return the least CPU time of seven graphs of a log."""
    pieces = [[column[at : at + batch] for column in log] for at in range(0, len(log.case), batch)]
    least = float("inf")
    for _ in range(7):
        analyzer = DfgAnalyzer(DfgSettings())
        begun = time.process_time()
        for piece in pieces:
            analyzer.update(*piece)
        analyzer.compact()
        least = min(least, time.process_time() - begun)
    return least


def compare_with_peer() -> None:
    """Compare nodes, edges, starts and ends of random logs with pm4py's."""
    rng = np.random.default_rng(2)
    logs = []
    for seed in range(RANDOM_LOGS):
        log = make_log(int(rng.integers(1, 400)), int(rng.integers(1, 9)), int(rng.integers(1, 12)), seed)
        logs.append(log._replace(activity=rng.integers(0, 12, len(log.case)).astype(np.int32)))
    answers = discover([(log.case, log.activity.astype(np.int64), log.start) for log in logs])
    for log, answer in zip(logs, answers or [], strict=False):
        analyzer = DfgAnalyzer(DfgSettings())
        order = rng.permutation(len(log.case))  # all within the bound on lateness
        feed(analyzer, Log(*(column[order] for column in log)), 37)
        graph = analyzer.graph([str(number) for number in range(12)])
        assert {(int(e.source), int(e.target)): e.count for e in graph.edges} == answer.edges
        assert {int(node.name): node.events for node in graph.activities} == answer.nodes
        assert {int(node.name): node.starts for node in graph.activities if node.starts} == answer.starts
        assert {int(node.name): node.ends for node in graph.activities if node.ends} == answer.ends


def growth() -> tuple[float, float]:
    """Return the peak memory of a graph in bytes, after a first round of events and after all of them."""

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

    log = make_log(EVENTS // 4)
    span = int(log.start[-1] - log.start[0]) + STEP_NS
    analyzer = DfgAnalyzer(DfgSettings())
    before = resident()
    held = []
    for number in range(ROUNDS):
        feed(analyzer, log._replace(start=log.start + number * span), 4096)
        held.append(resident() - before)
    return float(held[1]), float(held[-1])


def measure() -> list[Figure]:
    compare_with_peer()
    log = make_log(EVENTS)
    part = Log(*(column[:PEER_EVENTS] for column in log))
    answers = discover([(part.case, part.activity.astype(np.int64), part.start)], repeats=2, streamed=STREAMED)
    batch = None if answers is None else PEER_EVENTS / answers[0].batch_s / 1e6
    stream = None if answers is None else 1 / answers[0].event_s / 1e6
    whole, one_by_one = ("pm4py, whole log", batch), ("pm4py, streaming", stream)
    figures = []
    for size, events, peer in (
        (65_536, EVENTS, whole),
        (4096, EVENTS, whole),
        (64, STREAMED, one_by_one),
        (1, STREAMED, one_by_one),
    ):
        few = Log(*(column[:events] for column in log))
        figures.append(
            Figure(
                f"graph and statistics, batches of {size}",
                events / cpu_seconds(few, size) / 1e6,
                "M events/s",
                ">= 10 M events/s" if size >= 4096 else "",
                peer=peer[0],
                peer_value=peer[1],
            )
        )
    analyzer = DfgAnalyzer(DfgSettings())
    feed(analyzer, log, 65_536)
    begun = time.perf_counter()
    analyzer.graph([str(number) for number in range(ACTIVITIES)])
    shown = time.perf_counter() - begun
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        early, late = pool.submit(growth).result()
    return [
        *figures,
        Figure("current graph as pydantic model", shown * 1e3, "ms", better="lower"),
        Figure(f"memory after {EVENTS // 4 * 2 / 1e6:.0f} M events", early / 2**20, "MiB", better="lower"),
        Figure(f"memory after {EVENTS // 4 * ROUNDS / 1e6:.0f} M events", late / 2**20, "MiB", better="lower"),
    ]


if __name__ == "__main__":
    report(measure())
