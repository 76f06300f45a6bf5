"""1,000 collectors with 10,000 running jobs, and a Prometheus that scrapes: memory, CPU, and delays of predictions.

``iotide serve`` is a separate process with a journal. Each collector has a connection of its own, heartbeats and the
streams of ten jobs. A job has a burst in each of its periods of 30, 60 or 120 s, of which its first batch has five, so
that its period is known. The delay is the time from the sending of a burst to the arrival of its prediction at a
subscriber.

    IOTIDE_SECONDS=120 IOTIDE_COLLECTORS=1000 python benchmarks/run.py many_collectors
"""

from __future__ import annotations

import heapq
import os
import random
import tempfile
import threading
import time
from pathlib import Path
from typing import Final

import msgspec
import numpy as np
import zmq
from iotide.benchmarks.common.events import DEFINITIONS, make_batches
from iotide.benchmarks.common.figures import Figure, report
from iotide.benchmarks.common.served import Served, served
from iotide.events import Definitions, EventBatch, StreamInfo
from iotide.events.network.descriptors import raise_limit
from iotide.events.network.wire import Frame, Heartbeat, Hello, encode, encode_batch

COLLECTORS: Final = int(os.environ.get("IOTIDE_COLLECTORS", "1000"))
SECONDS: Final = float(os.environ.get("IOTIDE_SECONDS", "60"))
JOBS_EACH: Final = 10
EVENTS: Final = 16
BEGIN_S: Final = 40.0
"""Time over which the jobs begin, s."""
PERIODS_S: Final = (30.0, 60.0, 120.0)
PAST_BURSTS: Final = 5
HEARTBEAT_S: Final = 1.0
SCRAPE_S: Final = 15.0


class Job:
    """A job of one stream, with a burst in each period."""

    def __init__(self, number: int, period_s: float) -> None:
        self.name = f"job{number}"
        self.period_s = period_s
        self.sent = 0


class Collectors:
    """All collectors in one thread; answers are read when a collector sends next."""

    def __init__(self, endpoint: str, context: zmq.Context[zmq.Socket[bytes]]) -> None:
        self._sockets: list[zmq.Socket[bytes]] = []
        for _ in range(COLLECTORS):
            socket = context.socket(zmq.DEALER)
            socket.linger = 0
            socket.connect(endpoint)
            self._sockets.append(socket)
        draw = random.Random(1)
        self.jobs = [Job(number, draw.choice(PERIODS_S)) for number in range(COLLECTORS * JOBS_EACH)]
        (self._burst,) = make_batches(1, EVENTS)
        self.burst_at_s: dict[str, float] = {}
        """Time of the unanswered burst by job, s."""
        begun_s = time.monotonic()
        self._due = [(begun_s + BEGIN_S * draw.random(), number) for number in range(len(self.jobs))]
        self._due += [(begun_s + HEARTBEAT_S * draw.random(), -1 - number) for number in range(COLLECTORS)]
        heapq.heapify(self._due)

    def run(self, until_s: float) -> None:
        """Send bursts and heartbeats when they are due."""
        while (now_s := time.monotonic()) < until_s:
            while self._due[0][0] <= now_s:
                due_s, number = heapq.heappop(self._due)
                if number < 0:
                    self._send(-1 - number, encode(Heartbeat(collector=f"c{-1 - number}", host=f"n{-1 - number}")))
                    heapq.heappush(self._due, (due_s + HEARTBEAT_S, number))
                else:
                    self._send_burst(number)
                    heapq.heappush(self._due, (due_s + self.jobs[number].period_s, number))
            time.sleep(max(0.0, min(self._due[0][0] - time.monotonic(), 0.05)))

    def close(self) -> None:
        """Close all sockets."""
        for socket in self._sockets:
            socket.close()

    def _send_burst(self, number: int) -> None:
        job, collector = self.jobs[number], number // JOBS_EACH
        now_ns = time.time_ns() - 2_000_000
        definitions, bursts = Definitions(), [now_ns]
        if not job.sent:
            info = StreamInfo(job=job.name, source="bench", host=f"n{collector}", user="bench")
            self._send(collector, encode(Hello(collector=f"c{collector}", stream=job.name, info=info)))
            definitions = DEFINITIONS
            bursts = [now_ns - int(ago * job.period_s * 1e9) for ago in range(PAST_BURSTS, -1, -1)]
        job.sent += 1
        self.burst_at_s[job.name] = time.time()
        self._send(collector, encode_batch(job.name, job.sent, self._at(bursts), definitions))

    def _at(self, bursts: list[int]) -> EventBatch:
        start = np.concatenate([at_ns + np.arange(EVENTS) * 1000 for at_ns in bursts])
        return self._burst.select(np.tile(np.arange(EVENTS), len(bursts))).replace(start=start)

    def _send(self, collector: int, frames: list[Frame]) -> None:
        socket = self._sockets[collector]
        socket.send_multipart(frames)
        while socket.poll(0):
            socket.recv_multipart()


class Delays:
    """Receives predictions in a thread, and measures those of bursts."""

    def __init__(self, endpoint: str, context: zmq.Context[zmq.Socket[bytes]], collectors: Collectors) -> None:
        self._socket = context.socket(zmq.SUB)
        self._socket.rcvhwm = 0
        self._socket.subscribe("prediction.")
        self._socket.connect(endpoint)
        self._collectors = collectors
        self._ended = threading.Event()
        self.delays_s: list[float] = []
        self.with_period = 0
        self._thread = threading.Thread(target=self._receive)
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._ended.set()
        self._thread.join()
        self._socket.close()

    def _receive(self) -> None:
        sent_at_s = self._collectors.burst_at_s
        while not self._ended.is_set():
            if not self._socket.poll(200):
                continue
            _, body = self._socket.recv_multipart()
            prediction = msgspec.msgpack.decode(body)
            at_s = sent_at_s.get(prediction["job"], float("inf"))
            if prediction["made_at_s"] >= at_s:
                self.delays_s.append(time.time() - at_s)
                self.with_period += prediction["period_s"] is not None
                sent_at_s.pop(prediction["job"], None)


def observed(server: Served, endpoint: str) -> list[Figure]:
    context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    context.max_sockets = COLLECTORS + 64
    collectors = Collectors(server.endpoint, context)
    delays = Delays(endpoint, context, collectors)
    try:
        collectors.run(time.monotonic() + BEGIN_S + PERIODS_S[0])  # the first predictions are over then
        delays.delays_s.clear()
        delays.with_period = 0
        begun_s, cpu_s, scrapes = time.monotonic(), server.cpu_s(), []

        def scrape() -> None:
            while not ended.wait(max(0.0, SCRAPE_S * len(scrapes) - (time.monotonic() - begun_s))):
                asked_s = time.monotonic()
                server.get("/metrics")
                scrapes.append(time.monotonic() - asked_s)

        ended = threading.Event()
        scraping = threading.Thread(target=scrape)
        scraping.start()
        collectors.run(begun_s + SECONDS)
        ended.set()
        scraping.join()
        cores = (server.cpu_s() - cpu_s) / (time.monotonic() - begun_s)
        running = server.metric("iotide_jobs")
        late = server.metric("iotide_predictions_late_total")
    finally:
        delays.close()
        collectors.close()
        context.term()
    found = sorted(delays.delays_s)
    name = f"{COLLECTORS} collectors, {len(collectors.jobs)} jobs, "
    return [
        Figure(name + "jobs known", running, "jobs", str(len(collectors.jobs))),
        Figure(name + "memory", server.memory("VmHWM") / 2**30, "GiB", "<= 4 GiB", better="lower"),
        Figure(name + "cores", cores, "cores", "<= 1 core", better="lower"),
        Figure("predictions of bursts", len(found) / SECONDS, "1/s"),
        Figure("those with a period", delays.with_period / max(len(found), 1), "of all"),
        Figure("predictions late by more than an interval, with the first ones", late, "", better="lower"),
        Figure("burst to its prediction, median", found[len(found) // 2], "s", better="lower"),
        Figure("the same, p99", found[int(len(found) * 0.99)], "s", "<= 2 s", better="lower"),
        Figure("longest scrape", max(scrapes), "s", better="lower"),
    ]


def measure() -> list[Figure]:
    raise_limit()
    with tempfile.TemporaryDirectory(dir=os.environ.get("IOTIDE_FOLDER", "/var/tmp")) as folder:
        endpoint = f"ipc://{folder}/out"
        with served(Path(folder), "--publish", endpoint) as server:
            return observed(server, endpoint)


if __name__ == "__main__":
    report(measure())
