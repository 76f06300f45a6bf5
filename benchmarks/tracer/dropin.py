"""Messages of FTIO's tracers: received per second, share kept, and delay of replies.

The peer is ftio-hpc's own predictor on the same stream of messages; see ``ftio`` for its interpreter.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgpack
import zmq
from iotide.benchmarks.common.figures import Figure, report
from iotide.benchmarks.common.ftio import interpreter
from iotide.collectors.settings import FtioSettings
from iotide.collectors.source import Origin
from iotide.collectors.sources.tmio.ftio import FtioSource

BURSTS, RANKS, INTERVALS = 12, 4, 10
BETWEEN_BURSTS_S = 0.4
START_S = 60.0

_SENDER = """
import msgpack, sys, zmq
endpoint, messages, intervals = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
starts = [0.001 * number for number in range(intervals)]
message = msgpack.packb({"ranks": 4, "b": [1e9] * intervals, "ts": starts, "te": [at + 0.001 for at in starts]})
with zmq.Context() as context, context.socket(zmq.PUSH) as sender:
    sender.connect(endpoint)
    for _ in range(messages):
        sender.send(message)
"""


def seconds_to_take(messages: int, intervals: int) -> float:
    """Return messages per core and second, from the socket's queue to columns of events."""
    with tempfile.TemporaryDirectory() as folder:
        source = FtioSource(FtioSettings(endpoint=f"ipc://{folder}/ftio", high_water=messages), Origin(job="-"))
        command = [sys.executable, "-c", _SENDER, source.endpoint, str(messages), str(intervals)]
        subprocess.run(command, check=True)  # returns when everything is sent
        begin = time.process_time()
        while source.counters["messages"] < messages:
            source.poll()
        seconds = time.process_time() - begin
        source.close()
    if source.counters["events"] != messages * intervals:
        raise AssertionError(f"received {source.counters['events']} of {messages * intervals} intervals")
    return messages / seconds


@dataclass(frozen=True)
class Outcome:
    """Results of one predictor for the stream."""

    kept: float
    """Share of messages whose intervals are in the analysis."""
    replies: int
    """While the stream was sent."""
    wait_s: float
    """From the last message to the next reply."""


def burst(number: int) -> bytes:
    """A rank's message: one second of writes every ten seconds, by its own clock."""
    starts = [10.0 * number + 0.1 * at for at in range(INTERVALS)]
    packed: bytes = msgpack.packb(
        {"ranks": RANKS, "b": [1e7] * INTERVALS, "ts": starts, "te": [at + 0.1 for at in starts]}
    )
    return packed


def stream(endpoint: str, replies: zmq.Socket[bytes]) -> tuple[int, float]:
    """Send every rank's message of every burst; return the replies meanwhile and the wait for the next, s."""
    with zmq.Context() as context, context.socket(zmq.PUSH) as sender:
        sender.connect(endpoint)
        for number in range(BURSTS):
            for _ in range(RANKS):
                sender.send(burst(number))
            if number < BURSTS - 1:
                time.sleep(BETWEEN_BURSTS_S)
        sent, meanwhile = time.monotonic(), 0
        while replies.poll(0):
            replies.recv()
            meanwhile += 1
        if not replies.poll(30_000):
            raise AssertionError("no reply within 30 s")
        return meanwhile, time.monotonic() - sent


@contextlib.contextmanager
def listening() -> Iterator[tuple[zmq.Socket[bytes], int]]:
    """Yield a socket for replies and its port."""
    with zmq.Context() as context, context.socket(zmq.PULL) as replies:
        yield replies, replies.bind_to_random_port("tcp://127.0.0.1")


@contextlib.contextmanager
def running(command: list[str], ready: str) -> Iterator[tuple[re.Match[str], Path]]:
    """Run a predictor; yield its output until it was ready, and the file with its whole output."""
    with tempfile.TemporaryDirectory() as folder:
        said = Path(folder) / "said"
        with said.open("wb") as output:
            process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=output, start_new_session=True)
        try:
            limit = time.monotonic() + START_S
            while (match := re.search(ready, said.read_text())) is None:
                if time.monotonic() > limit or process.poll() is not None:
                    raise AssertionError(f"not ready within {START_S} s: {said.read_text()}")
                time.sleep(0.02)
            yield match, said
        finally:
            os.killpg(process.pid, signal.SIGKILL)  # includes the peer's helper processes
            process.wait()


def iotide_outcome() -> Outcome:
    with listening() as (replies, port):
        options = ["--ingest", "tcp://127.0.0.1:*", "--publish", "none", "--http", "127.0.0.1:0"]
        ftio = ["--ftio-listen", "tcp://127.0.0.1:*", "--ftio-reply", f"tcp://127.0.0.1:{port}"]
        command = [sys.executable, "-m", "iotide", "serve", "--state", "none", *options, *ftio]
        with running(command, r"http (\S+), .*ftio (\S+)\n") as (match, _):
            meanwhile, wait_s = stream(match[2], replies)
            time.sleep(0.5)
            with urllib.request.urlopen(f"{match[1]}/api/v1/jobs/ftio") as answer:
                events = json.load(answer)["events"]
    return Outcome(events / (BURSTS * RANKS * INTERVALS), meanwhile, wait_s)


def ftio_outcome(python: str) -> Outcome:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port_in = free.getsockname()[1]
    with listening() as (replies, port):
        ports = ["--zmq_address", "127.0.0.1", "--zmq_port", str(port_in), "--zmq_port_reply", str(port)]
        command = [python, "-m", "ftio.cli.predictor", "--zmq", *ports, "-e", "no", "-f", "10"]
        with running(command, r"No messages") as (_, output):
            meanwhile, wait_s = stream(f"tcp://127.0.0.1:{port_in}", replies)
            batches = re.findall(r"Got message from\D*(\d+)", output.read_text())
    if sum(map(int, batches)) != BURSTS * RANKS:
        raise AssertionError(f"ftio-hpc got {batches} messages of {BURSTS * RANKS}")
    return Outcome(len(batches) / (BURSTS * RANKS), meanwhile, wait_s)  # the last message of each batch


def measure() -> list[Figure]:
    small, large = seconds_to_take(40_000, 10), seconds_to_take(2_000, 1000)
    ours = iotide_outcome()
    python = interpreter()
    peer = ftio_outcome(python) if python else None
    name = "ftio-hpc" if peer else ""
    return [
        Figure("messages of 10 intervals, per core", small / 1e3, "k/s"),
        Figure("intervals in messages of 1000, per core", large * 1000 / 1e6, "M/s"),
        Figure("messages kept", 100 * ours.kept, "%", "100", name, peer and 100 * peer.kept),
        Figure("replies during 12 bursts in 4.4 s", ours.replies, "", "", name, peer and peer.replies),
        Figure("from last message to reply", ours.wait_s, "s", "", name, peer and peer.wait_s, "lower"),
    ]


if __name__ == "__main__":
    report(measure())
