"""Cost of the job list for the aggregator while a browser requests it each second.

There are ten thousand jobs, of which a thousand do I/O and are predicted; their own processing is not counted. The
result is the CPU time of a whole response, including that of the client in this process.
"""

from __future__ import annotations

import asyncio
import statistics
import time

import httpx
import numpy as np
from iotide.benchmarks.common.figures import Figure, report
from iotide.clients.pages.live_pages import LivePages
from iotide.daemon.aggregator import Aggregator
from iotide.daemon.publish.http.application import make_application
from iotide.daemon.settings import AggregatorSettings
from iotide.events import Definitions, FileInfo, Kind, StreamInfo, make_batch
from prometheus_client import CollectorRegistry

LIVE, ALL = 1000, 10_000
PERIODS_S = (2.0, 3.0)
WARM_UP_S, SECONDS = 14, 7


def _burst(aggregator: Aggregator, job: int, now_s: float, events: int = 16) -> None:
    start = int(now_s * 1e9) + np.arange(events) * 1_000_000 - 40_000_000
    columns = {"start": start, "duration": 900_000, "bytes": 10**6, "kind": int(Kind.WRITE), "file": 1, "call": 1}
    aggregator.batch(f"s{job}", make_batch(events, columns), Definitions())


def _second(aggregator: Aggregator, now: list[float]) -> None:
    """Simulate one second: a burst lasts a fifth of its period and arrives in pieces of half a second."""
    for _ in range(2):
        now[0] += 0.5
        for job in range(LIVE):
            period_s = PERIODS_S[job % len(PERIODS_S)]
            if (now[0] + 0.37 * job) % period_s < max(0.2 * period_s, 0.5):
                _burst(aggregator, job, now[0])
        aggregator.tick()


async def _asked(*searches: str) -> tuple[list[list[float]], int]:
    """Return the CPU times of responses to each search in s, and the number of jobs with a period."""
    now = [time.time()]
    settings = AggregatorSettings(max_jobs=2 * ALL, prediction_share=1.0)
    aggregator = Aggregator(settings, lambda: now[0], lambda: now[0])
    for job in range(ALL):
        name = f"job-{job}"
        aggregator.opened(f"s{job}", StreamInfo(job=name, source="bench", user=f"u{job % 50}", command="app -x"))
        defined = Definitions([(1, "write")], [(1, FileInfo(f"/scratch/{name}"))])
        aggregator.batch(f"s{job}", make_batch(1, {"start": int(now[0] * 1e9) - 10**9, "call": 1}), defined)
    for _ in range(WARM_UP_S):
        _second(aggregator, now)
    app = make_application(aggregator, CollectorRegistry(), lambda: "", lambda: now[0], LivePages())
    taken: list[list[float]] = [[] for _ in searches]
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://here") as client:
        for _ in range(SECONDS):
            for search, times in zip(searches, taken, strict=True):
                _second(aggregator, now)
                await asyncio.sleep(1.0)  # after which the rows are stale
                began_s = time.process_time()
                answer = await client.get(f"/api/v1/fleet?{search}")
                times.append(time.process_time() - began_s)
                assert len(answer.json()["jobs"]) == 50, answer.text
    periods = sum(session.prediction is not None and session.prediction.periodic for session in aggregator.jobs.awake)
    return [times[1:] for times in taken], periods


def measure() -> list[Figure]:
    """Return the share of a core for one request per second."""
    (by_bandwidth, by_search), periods = asyncio.run(
        _asked("count=50", "count=50&search=job-1&sort=next&descending=false")
    )
    return [
        Figure("list by bandwidth, each second", statistics.median(by_bandwidth), "cores", "< 0.1", better="lower"),
        Figure("longest response", max(by_bandwidth), "s", better="lower"),
        Figure("list by search and next phase", statistics.median(by_search), "cores", "< 0.1", better="lower"),
        Figure("jobs with a period", periods, "jobs"),
    ]


if __name__ == "__main__":
    report(measure())
