"""Time until a killed aggregator serves its jobs again: many jobs, and one job with many events.

``iotide serve`` runs as a separate process, receives everything through its socket, is killed after a snapshot and a
tail of the journal after it, and is restarted. Times are wall times from its start; CPU times are those of its process.

    IOTIDE_JOBS=10000 IOTIDE_EVENTS=100 python benchmarks/run.py recovery
"""

from __future__ import annotations

import os
import random
import tempfile
import time
from pathlib import Path
from typing import Final

import numpy as np
from iotide.benchmarks.common.events import DEFINITIONS, make_batches
from iotide.benchmarks.common.figures import Figure, report
from iotide.benchmarks.common.served import Peer, Served, decoded, served
from iotide.events import Definitions, EventBatch, StreamInfo
from iotide.events.network.wire import Hello, encode, encode_batch

JOBS: Final = int(os.environ.get("IOTIDE_JOBS", "10000"))
TAIL_JOBS: Final = max(1, JOBS // 10)
EVENTS: Final = 1200
BURSTS: Final = 12
MILLIONS: Final = int(os.environ.get("IOTIDE_EVENTS", "100"))
LENGTH: Final = 65_536
ASKED: Final = 100


def bursts(now_s: float) -> EventBatch:
    """Return the calls of a job that did I/O every ten seconds of the last two minutes."""
    (batch,) = make_batches(1, EVENTS)
    each = EVENTS // BURSTS
    number = np.arange(EVENTS)
    start_s = now_s - 10.0 * BURSTS + (number // each) * 10.0 + (number % each) * 0.001
    return batch.replace(start=(start_s * 1e9).astype(np.int64))


def hello(number: int) -> list[bytes]:
    info = StreamInfo(job=f"job{number}", source="bench", user="u", host=f"n{number % 100}", pid=1000 + number)
    return [bytes(frame) for frame in encode(Hello(collector="bench", stream=f"s{number}", info=info))]


def wait_for_snapshot(server: Served, peer: Peer) -> None:
    before = server.metric("iotide_snapshots_total")
    while server.metric("iotide_snapshots_total") < before + 2:  # the first may have begun before
        peer.rest()  # its heartbeats change the state; without changes there is no snapshot


def job_totals(server: Served, job: str) -> dict[str, object]:
    """Return the part of a job's report that does not depend on the time of the request."""
    found = decoded(server.get(f"/api/v1/jobs/{job}"))
    return {name: found[name] for name in ("events", "bytes_written", "files", "calls", "losses", "streams")}


def many_jobs(folder: Path) -> list[Figure]:
    """Kill an aggregator of many jobs, a tenth of which continued after the snapshot."""
    settings = {"journal__snapshot_s": "5", "linger_s": "3600", "idle_after_s": "3600", "end_after_s": "7200"}
    with served(folder, **settings) as server:
        peer = Peer(server.endpoint)
        batch = bursts(time.time())
        for number in range(JOBS):
            peer.send(hello(number), answered=False)
            peer.send(encode_batch(f"s{number}", 1, batch, DEFINITIONS))
        peer.settle()
        assert not peer.rejected, peer.rejected
        while server.metric("iotide_predictions_total") < JOBS:
            time.sleep(1)
        wait_for_snapshot(server, peer)
        for number in range(TAIL_JOBS):
            peer.send(encode_batch(f"s{number}", 2, batch.replace(start=batch.start + 10**9), Definitions([], [])))
        peer.settle()
        asked = [f"job{number}" for number in random.Random(1).sample(range(JOBS), min(ASKED, JOBS))]
        before = {job: job_totals(server, job) for job in asked}
        memory = server.memory()
        snapshot_s = server.metric("iotide_snapshot_seconds")
        size = (server.state / "jobs.state").stat().st_size
        peer.close()
        server.kill()
        begun = time.monotonic()
        ready_s = server.start()
        while len(list(decoded(server.get("/api/v1/jobs"))["jobs"])) < JOBS:  # type: ignore[call-overload]
            time.sleep(0.1)
        listed_s = time.monotonic() - begun
        after = {job: job_totals(server, job) for job in asked}
        answered_s = time.monotonic() - begun
        assert after == before
        name = f"{JOBS:,} jobs of {EVENTS} calls, "
        return [
            Figure(name + "killed, until /readyz", ready_s, "s", "<= 30 s", better="lower"),
            Figure(name + "until all are listed", listed_s, "s", "<= 30 s", better="lower"),
            Figure(name + f"until {len(asked)} jobs are served", answered_s, "s", "<= 30 s", better="lower"),
            Figure("CPU time until then", server.cpu_s(), "s", better="lower"),
            Figure("its peak memory", server.memory("VmHWM") / 2**30, "GiB", better="lower"),
            Figure("memory of the killed aggregator", memory / 2**30, "GiB", better="lower"),
            Figure("snapshot of all jobs", snapshot_s, "s", better="lower"),
            Figure("its size", size / 2**20, "MiB", better="lower"),
        ]


def large_job(folder: Path) -> list[Figure]:
    """Kill an aggregator with one job of many events while they arrive."""
    count = MILLIONS * 10**6 // LENGTH
    with served(folder) as server:
        peer = Peer(server.endpoint)
        peer.send(hello(0), answered=False)
        now_ns = time.time_ns()
        step_ns = 2_000
        batches = make_batches(16, LENGTH, step_ns=step_ns)
        start_ns = now_ns - count * LENGTH * step_ns
        begun, spent = time.monotonic(), server.cpu_s()
        for at in range(count):
            batch = batches[at % 16]
            batch = batch.replace(start=batch.start + (start_ns + (at - at % 16) * LENGTH * step_ns))
            peer.send(encode_batch("s0", at + 1, batch, Definitions([], []) if at else DEFINITIONS))
        peer.settle()
        assert not peer.rejected, peer.rejected
        taken_s, spent = time.monotonic() - begun, server.cpu_s() - spent
        before = job_totals(server, "job0")
        tail = sum(path.stat().st_size for path in (server.state / "journal").iterdir())
        peer.close()
        server.kill()
        begun = time.monotonic()
        ready_s = server.start()
        assert job_totals(server, "job0") == before
        answered_s = time.monotonic() - begun
        name = f"a job of {count * LENGTH / 1e6:.0f} M calls, "
        return [
            Figure(name + "killed, until /readyz", ready_s, "s", "<= 5 s", better="lower"),
            Figure(name + "until it is served", answered_s, "s", "<= 5 s", better="lower"),
            Figure("CPU time until then", server.cpu_s(), "s", better="lower"),
            Figure("its peak memory", server.memory("VmHWM") / 2**20, "MiB", better="lower"),
            Figure("tail of the journal", tail / 2**20, "MiB", better="lower"),
            Figure("calls received before", count * LENGTH / taken_s / 1e6, "M/s"),
            Figure("calls received per core", count * LENGTH / spent / 1e6, "M/s"),
        ]


def measure() -> list[Figure]:
    figures = []
    for part in (many_jobs, large_job):
        with tempfile.TemporaryDirectory(dir=os.environ.get("IOTIDE_FOLDER", "/var/tmp")) as folder:
            figures += part(Path(folder))
    return figures


if __name__ == "__main__":
    report(measure())
