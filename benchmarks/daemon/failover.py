"""Time until jobs continue after machine failures, and differences from a run without failures.

Three NATS servers and three aggregators on loopback, collectors configured with all of them, and IOTIDE_JOBS jobs (200)
that continue meanwhile. The aggregator with the jobs is killed. Then the NATS server that leads the stream is killed,
and restarted. Then the next aggregator is stopped (as if disconnected from the network) and resumed. At last the
aggregator that took over is stopped at the moment at which the leading server is killed: a lease then expires two
thirds of ``lease_s`` after the servers answer again. The result is the time from each failure until
the aggregator then active has all calls, of which half were made after the failure. Finally each job is compared with a
run of a single aggregator: calls, bytes, files, losses, and the final period.

    IOTIDE_JOBS=200 python benchmarks/run.py failover
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any, Final

import nats
from iotide.benchmarks.common.figures import Figure, report
from iotide.daemon.journal.jetstream.resources import stream_names

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from support.servers.nats_servers import NatsServers, nats_servers
from support.servers.running_aggregator import Fed, collecting
from support.servers.served_process import Served

JOBS: Final = int(os.environ.get("IOTIDE_JOBS", "200"))
COLLECTORS: Final = 8
PARTS: Final = 10
PERIODS: Final = 3
CALLS: Final = 10 * PERIODS
_SAME: Final = ("events", "bytes_written", "files", "calls", "losses", "streams")
_SLOWEST_S: Final = 300.0


class Feeding:
    """Jobs that do I/O in parts: each part is three bursts, five seconds apart."""

    def __init__(self, until_s: float) -> None:
        self._until_s = until_s
        self.sources = [Fed() for _ in range(COLLECTORS)]
        for number in range(JOBS):
            source = self.sources[number % COLLECTORS]
            source.open(f"s{number}", f"job{number}", host=f"n{number % COLLECTORS}", pid=number)
        self._part = 0

    @property
    def made(self) -> int:
        return JOBS * CALLS * self._part

    def feed(self) -> None:
        """Let all jobs do the next part."""
        self._part += 1
        behind_s = 5.0 * PERIODS * (PARTS - self._part)
        for number in range(JOBS):
            end_s = self._until_s - behind_s - 0.001 * number
            self.sources[number % COLLECTORS].periodic(f"s{number}", periods=PERIODS, until_s=end_s)

    def end(self) -> None:
        for number in range(JOBS):
            self.sources[number % COLLECTORS].end(f"s{number}")


@contextlib.asynccontextmanager
async def collectors(feeding: Feeding, endpoints: Sequence[str]) -> AsyncIterator[None]:
    first, *others = endpoints
    async with contextlib.AsyncExitStack() as stack:
        for source in feeding.sources:
            await stack.enter_async_context(collecting(first, [source], others=tuple(others)))
        yield


def json_of(url: str, path: str) -> Any:
    with urllib.request.urlopen(f"{url}/api/v1/{path}", timeout=_SLOWEST_S) as answer:
        return json.loads(answer.read())


def events_at(server: Served) -> int:
    with contextlib.suppress(OSError, ValueError):
        return sum(int(job["events"]) for job in json_of(server.url, "jobs")["jobs"])
    return -1


async def wait_for_all_calls(server: Served, feeding: Feeding) -> None:
    until_s = time.monotonic() + _SLOWEST_S
    while (events := await asyncio.to_thread(events_at, server)) != feeding.made:
        assert time.monotonic() < until_s, f"{events} of {feeding.made} calls"
        assert events <= feeding.made
        await asyncio.sleep(0.05)


async def final_reports(server: Served) -> dict[str, object]:
    """Return the report on each job after all have ended."""
    until_s = time.monotonic() + _SLOWEST_S
    while True:
        jobs = (await asyncio.to_thread(json_of, server.url, "jobs"))["jobs"]
        if len(jobs) == JOBS and all(job["state"] == "ended" for job in jobs):
            break
        assert time.monotonic() < until_s
        await asyncio.sleep(0.2)
    found: dict[str, object] = {}
    for number in range(JOBS):
        job = await asyncio.to_thread(json_of, server.url, f"jobs/job{number}")
        last = {name: each for name, each in job["last_word"].items() if name not in ("made_at_s", "seq")}
        found[f"job{number}"] = [job[name] for name in _SAME] + [last]
    return found


async def leader(servers: NatsServers) -> int:
    """Return the number of the server that leads the journal's stream."""
    client = await nats.connect(list(servers.urls))
    info = await client.jetstream().stream_info(stream_names("main")[0])
    await client.close()
    assert info.cluster is not None
    return int((info.cluster.leader or "s0")[1:])


async def results_without_failure(folder: Path, until_s: float) -> dict[str, object]:
    feeding, server = Feeding(until_s), Served(folder)
    server.start()
    try:
        async with collectors(feeding, [server.endpoint]):
            for _ in range(PARTS):
                feeding.feed()
                await wait_for_all_calls(server, feeding)
            feeding.end()
            return await final_reports(server)
    finally:
        server.kill()


async def _begin_standby(aggregator: Served) -> None:
    aggregator.begin()
    await asyncio.to_thread(aggregator.wait_for_line, "stands by")


async def _taken_over_by(waiting: list[Served]) -> Served:
    """Return the aggregator that takes over; the others have no data."""
    while True:
        for each in waiting:
            if each.has_the_jobs():
                return each
        await asyncio.sleep(0.02)


async def results_with_failures(
    folder: Path, servers: NatsServers, until_s: float
) -> tuple[dict[str, object], list[float]]:
    feeding, recovery_s = Feeding(until_s), []
    names = "abc"
    for name in names:
        (folder / name).mkdir()
    aggregators = [Served(folder / name, "--journal", ",".join(servers.urls)) for name in names]
    first, *others = aggregators
    first.start()
    for each in others:
        await _begin_standby(each)

    async def fail_and_measure(fail: Callable[[], None], waiting: list[Served], active: Served | None = None) -> Served:
        """Make calls, let something fail, make further calls, and wait until an aggregator has all.

        ``active`` keeps the jobs; otherwise one of ``waiting`` takes over.
        """
        feeding.feed()
        begun = time.monotonic()
        fail()
        feeding.feed()
        found = active or await _taken_over_by(waiting)
        taken_s = time.monotonic() - begun
        await wait_for_all_calls(found, feeding)
        recovery_s.append(time.monotonic() - begun)
        print(f"  taken over after {taken_s:.1f} s, all calls after {recovery_s[-1]:.1f} s", file=sys.stderr)
        return found

    def both(number: int, aggregator: Served) -> Callable[[], None]:
        def fail() -> None:
            servers.kill(number)
            os.kill(aggregator.pid, signal.SIGSTOP)

        return fail

    try:
        async with collectors(feeding, [each.endpoint for each in aggregators]):
            feeding.feed()
            await wait_for_all_calls(first, feeding)
            second = await fail_and_measure(first.kill, others)
            leading = await leader(servers)
            await fail_and_measure(lambda: servers.kill(leading), [], active=second)
            await asyncio.to_thread(servers.start, leading)
            await _begin_standby(first)
            others.remove(second)
            third = await fail_and_measure(lambda: os.kill(second.pid, signal.SIGSTOP), [*others, first])
            os.kill(second.pid, signal.SIGCONT)
            assert await asyncio.to_thread(second.wait) == 1
            await _begin_standby(second)
            leading = await leader(servers)
            waiting = [each for each in aggregators if each is not third]
            last = await fail_and_measure(both(leading, third), waiting)
            os.kill(third.pid, signal.SIGCONT)
            assert await asyncio.to_thread(third.wait) == 1
            feeding.feed()
            await wait_for_all_calls(last, feeding)
            feeding.end()
            return await final_reports(last), recovery_s
    finally:
        for each in aggregators:
            each.kill()


def measure() -> list[Figure]:
    until_s = time.time() - 10.0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "alone").mkdir()
        alone = asyncio.run(results_without_failure(folder / "alone", until_s))
        with nats_servers(folder / "nats", 3) as servers:
            found, recovery_s = asyncio.run(results_with_failures(folder, servers, until_s))
    other = [job for job in alone if found[job] != alone[job]]
    for job in other[:3]:
        print(f"{job}: {found[job]}\n  alone: {alone[job]}", file=sys.stderr)
    figures = [Figure(f"{JOBS} jobs, different from the undisturbed run", len(other), "jobs", "0", better="lower")]
    causes = {
        "kill -9 of the aggregator": "<= 10",
        "kill -9 of a NATS server": "<= 10",
        "SIGSTOP of the aggregator": "<= 10",
        "both at once": "",
    }
    for (cause, budget), each in zip(causes.items(), recovery_s, strict=True):
        figures.append(Figure(f"{cause}: jobs continue after", each, "s", budget, better="lower"))
    return figures


if __name__ == "__main__":
    report(measure())
