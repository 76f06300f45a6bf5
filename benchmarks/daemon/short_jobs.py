"""Cost of a short job in the aggregator: streams opened, a few batches, closed, final report, removed.

Messages pass through the wire's core, with all analyzers on and a listener that encodes the published results, at full
speed. Time is CPU time of one core, including the aging of jobs. Messages are always queued, so no period is computed
for runs of less than a second; a second figure computes every period, as with few jobs.
"""

from __future__ import annotations

import sys
import time
from typing import Final

import msgspec
import numpy as np
from iotide.benchmarks.common.figures import Figure, report
from iotide.daemon.aggregator import Aggregator
from iotide.daemon.ingest.ingest_core import IngestCore
from iotide.daemon.ingest.ingest_settings import IngestSettings
from iotide.daemon.jobs.job_state import State
from iotide.daemon.settings import AggregatorSettings
from iotide.events import EventBatch, FileInfo, FileType, Interner, Kind, StreamInfo, make_batch
from iotide.events.network.wire import Bye, Frame, Hello, encode, encode_batch
from iotide.results.jobs.job import JobSummary
from iotide.results.prediction import Prediction

JOBS: Final = 2000
LASTS_S: Final = 0.5
SHAPES: Final = {"one batch": (1, 1, 40), "several batches": (1, 4, 20), "several processes": (4, 1, 30)}
"""Streams per job, batches per stream, events per batch."""


def calls(interner: Interner, at_s: float, count: int, pid: int) -> EventBatch:
    """Return the calls of a small program that opens, reads and writes a few files."""
    names = [interner.string(name) for name in ("openat", "read", "write", "close")]
    paths = ("/etc/hosts", "/home/u/in.dat", "/home/u/out.dat", "/usr/lib/libx.so")
    files = [interner.file(path, FileInfo(path, FileType.REGULAR, "/home", "nfs4", True)) for path in paths]
    step = np.arange(count)
    kinds = np.array([Kind.CREATE, Kind.READ, Kind.WRITE, Kind.DESTROY], np.uint8)
    return make_batch(
        count,
        {
            "start": (at_s * 1e9 + step * 5e6).astype(np.int64),
            "duration": 20_000,
            "call": np.array(names)[step % 4],
            "kind": kinds[step % 4],
            "layer": 1,
            "pid": pid,
            "tid": pid,
            "file": np.array(files)[step // 4 % 4],
            "handle": 3 + step // 4,
            "bytes": np.where((step % 4 == 1) | (step % 4 == 2), 4096, 0),
        },
    )


def messages_of(number: int, at_s: float, shape: tuple[int, int, int]) -> tuple[list[list[Frame]], list[list[Frame]]]:
    """Return a collector's messages at the start of a job, and after its end."""
    streams, batches, events = shape
    first: list[list[Frame]] = []
    last: list[list[Frame]] = []
    for one in range(streams):
        name, pid = f"stream{number}.{one}", 1000 + number * streams + one
        info = StreamInfo(job=f"job{number}", source="bench", host="n1", pid=pid, command="/usr/bin/true")
        first.append(encode(Hello(collector="bench", stream=name, info=info)))
        interner = Interner()
        for seq in range(1, batches + 1):
            batch = calls(interner, at_s + LASTS_S * (seq - 1) / batches, events, pid)
            (first if seq == 1 else last).append(encode_batch(name, seq, batch, interner.take_fresh()))
        last.append(encode(Bye(stream=name, last_seq=batches)))
    return first, last


class Publishing:
    """Encode published results, as the ZeroMQ publisher does."""

    def __init__(self, aggregator: Aggregator) -> None:
        self.ended = self.predictions = 0
        aggregator.on_job(self._job)
        aggregator.on_prediction(self._prediction)

    def _job(self, summary: JobSummary) -> None:
        msgspec.msgpack.encode(summary.model_dump())
        self.ended += summary.state == "ended" and summary.last_word is not None

    def _prediction(self, prediction: Prediction) -> None:
        msgspec.msgpack.encode(prediction.model_dump())
        self.predictions += 1


def at_full_speed(shape: tuple[int, int, int], jobs: int = JOBS) -> tuple[float, float]:
    """Return the CPU time per job in s, without and with its period computed."""
    settings = AggregatorSettings(linger_s=0.05, retain_s=0.2, max_ended_jobs=200)
    every = settings.model_copy(update={"short_jobs_share": 1.0})
    return _cost(settings, shape, jobs, crowded=True), _cost(every, shape, jobs, crowded=False)


def _cost(settings: AggregatorSettings, shape: tuple[int, int, int], jobs: int, *, crowded: bool) -> float:
    """Deliver all messages at full speed; the jobs live and end by the monotonic clock meanwhile."""
    aggregator = Aggregator(settings, time.time, time.process_time)
    aggregator.pressure.is_backlogged = crowded
    core = IngestCore(aggregator, IngestSettings())
    publishing = Publishing(aggregator)
    now_s = time.time()
    sent = [message for number in range(jobs) for half in messages_of(number, now_s, shape) for message in half]
    begun = time.process_time()
    for at, message in enumerate(sent):
        core.receive(b"bench", message, time.process_time())
        if at % 64 == 63 or aggregator.pressure.behind_s > 0.1:
            aggregator.tick()
    while any(session.state is not State.ENDED for session in aggregator.jobs.values()):
        aggregator.tick()
    spent = time.process_time() - begun
    assert publishing.ended >= jobs
    assert len(aggregator.jobs) <= settings.max_ended_jobs
    return spent / jobs


def main() -> None:
    """Measure each shape of job."""
    jobs = int(sys.argv[1]) if len(sys.argv) > 1 else JOBS
    at_full_speed(SHAPES["one batch"], 50)
    figures = []
    for name, shape in SHAPES.items():
        cost, with_period = at_full_speed(shape, jobs)
        figures.append(
            Figure(
                f"short job, {name}",
                cost * 1e3,
                "ms",
                "<= 2 ms",
                "every period computed",
                with_period * 1e3,
                "lower",
            )
        )
        figures.append(Figure(f"short jobs per core, {name}", 1 / cost, "a second", ">= 500"))
    report(figures)


if __name__ == "__main__":
    main()
