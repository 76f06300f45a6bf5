"""Throughput and added latency of ``iotide serve --workers 2`` against one aggregator, on the same two cores.

Real processes: the aggregator, and a sender that has encoded its batches before. Each round sends
IOTIDE_EVENTS events of IOTIDE_JOBS jobs, which all partitions share evenly, and ends when the last batch is
acknowledged, thus journaled. Then single batches measure the time to the acknowledgement (IOTIDE_PROBES, every 20 ms).

Senders and the NATS server of ``--workers`` share the two cores with the aggregators. So the CPU time of each part is
measured too: of the aggregators (one process, or gateway and partitions), of the NATS server and of the senders. The
ratio of events per CPU second of the aggregators shows what a message costs more behind a gateway.

One worker is limited by its one process, while senders, server, gateway and snapshots run on the other core. Two
workers are limited by both cores. At the CPU time per event of one worker, the cores allow at most cores / (cores that
its run used) times its events. This bound is a figure, too.

IOTIDE_WORKER_CORES=0.4 measures workers of equal speed, too, as on a machine with a core for each: the process of each
partition may use that share of a core (cgroup v1, as root). Senders, server and gateway use the rest of the two cores.

    IOTIDE_EVENTS=6000000 python benchmarks/run.py workers
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import re
import signal
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

import msgspec
import zmq
from iotide.benchmarks.common.cpu_account import cpu_account, grown, owners_of
from iotide.benchmarks.common.events import DEFINITIONS, make_batches
from iotide.benchmarks.common.figures import Figure, report
from iotide.benchmarks.common.served import Peer, Served
from iotide.daemon.cluster.partitions import partition_of
from iotide.events import Definitions, StreamInfo
from iotide.events.network.wire import Ack, Hello, decode_header, encode, encode_batch

EVENTS: Final = int(os.environ.get("IOTIDE_EVENTS", "6000000"))
JOBS: Final = int(os.environ.get("IOTIDE_JOBS", "16"))
LENGTH: Final = int(os.environ.get("IOTIDE_BATCH", "1024"))
PROBES: Final = int(os.environ.get("IOTIDE_PROBES", "500"))
PAIRS: Final = int(os.environ.get("IOTIDE_PAIRS", "1"))
CORES: Final = 2
WORKERS: Final = 2
WORKER_CORES: Final = float(os.environ.get("IOTIDE_WORKER_CORES", "0"))
GROUPS: Final = Path("/sys/fs/cgroup/cpu")
PROBE_S: Final = 0.02
QUOTA_PERIOD_US: Final = int(os.environ.get("IOTIDE_QUOTA_PERIOD_US", "10000"))
EVENT_S: Final = 20e-6
"""Time between two events of a stream, s."""
TOTAL: Final = EVENTS // LENGTH // JOBS * JOBS * LENGTH
"""Events of a round."""
_STAGE: Final = re.compile(r'^iotide_stage_seconds_total\{stage="(\w+)"\} (\S+)$', re.MULTILINE)
_SETTLED_S: Final = 1.0
"""Time within which a gateway has asked the streams of a new owner for HELLO, s."""
_SLOWEST_MS: Final = 60_000


@dataclass(frozen=True)
class Round:
    """Results of one aggregator."""

    wall_s: float
    cpu_s: dict[str, float]
    """By part, as ``cpu_account`` returns it, and ``senders``."""
    stages_s: dict[str, float]
    """CPU time of the owners' loops by stage."""
    latencies_s: list[float]

    @property
    def aggregators_s(self) -> float:
        """CPU time of all parts but senders and NATS server, s."""
        return sum(spent_s for part, spent_s in self.cpu_s.items() if part not in ("senders", "nats"))

    @property
    def p99_s(self) -> float:
        """Return the 99th percentile of the time to an acknowledgement, s."""
        return self.latencies_s[int(len(self.latencies_s) * 0.99)]


def jobs() -> list[str]:
    """Return jobs that are evenly distributed over the partitions."""
    wanted = dict.fromkeys(range(WORKERS), JOBS // WORKERS)
    found = []
    for number in range(10_000):
        job = f"job-{number}"
        if wanted[at := partition_of(job, WORKERS)]:
            wanted[at] -= 1
            found.append(job)
    return found


def encoded(own: list[str]) -> list[list[zmq.Frame]]:
    """Return the messages of jobs in the order of sending. The jobs share the frames of their columns."""
    count = EVENTS // LENGTH // JOBS
    begin_ns = time.time_ns() - int(count * LENGTH * EVENT_S * 1e9)
    messages = []
    for at, batch in enumerate(make_batches(count, LENGTH, start_ns=begin_ns, step_ns=int(EVENT_S * 1e9)), 1):
        header, *columns = encode_batch("", at, batch, DEFINITIONS if at == 1 else Definitions([], []))
        shared = [zmq.Frame(column) for column in columns]
        fields = msgspec.msgpack.decode(header)
        for job in own:
            named = msgspec.msgpack.encode(fields | {"stream": f"bench:{job}"})
            messages.append([zmq.Frame(named), *shared])
    return messages


def introduced(endpoint: str, own: list[str]) -> Peer:
    """Return a peer that has sent the HELLO of its jobs."""
    name = f"bench-{own[0]}"
    peer = Peer(endpoint, name)
    for job in own:
        info = StreamInfo(job=job, source="bench", host="n", pid=1)
        peer.send(encode(Hello(collector=name, stream=f"bench:{job}", info=info)), answered=False)
    return peer


def send(endpoint: str, own: list[str], steering: Connection) -> None:
    """Encode the batches of some jobs, and send them on a command. Report the CPU time until all are acknowledged."""
    messages = encoded(own)
    peer = introduced(endpoint, own)
    steering.send("ready")
    steering.recv()
    begun_s = time.process_time()
    for message in messages:
        peer.send(message)
    peer.settle()
    spent_s = time.process_time() - begun_s
    assert not peer.rejected, peer.rejected
    steering.send(spent_s)
    peer.close()


def latencies(endpoint: str) -> list[float]:
    """Return the times from sending single batches of 64 events to their acknowledgements, s, sorted."""
    found = []
    names = jobs()[: WORKERS * 2]
    with zmq.Context() as context, context.socket(zmq.DEALER) as socket:
        socket.linger = 0
        socket.connect(endpoint)
        for job in names:
            info = StreamInfo(job=f"{job}", source="bench", host="n", pid=2)
            socket.send_multipart(encode(Hello(collector="probe", stream=f"probe:{job}", info=info)))
        batches = make_batches(PROBES, 64, start_ns=time.time_ns())
        for at, batch in enumerate(batches):
            stream, seq = f"probe:{names[at % len(names)]}", at // len(names) + 1
            message = encode_batch(stream, seq, batch, DEFINITIONS if seq == 1 else Definitions([], []))
            begun_s = time.perf_counter()
            socket.send_multipart(message)
            while True:
                assert socket.poll(_SLOWEST_MS), f"batch {at} was not acknowledged"
                answer = decode_header(socket.recv_multipart()[0])
                if isinstance(answer, Ack) and (answer.stream, answer.seq) == (stream, seq):
                    break
            found.append(time.perf_counter() - begun_s)
            time.sleep(PROBE_S)
    return sorted(found)


@contextlib.contextmanager
def limited(pid: int, cores: float) -> Iterator[None]:
    """Limit each partition's process of an aggregator to a share of a core, with the processes that it starts."""
    groups = []
    for child in owners_of(pid) if cores else []:
        group = GROUPS / f"iotide-worker-{child}"
        group.mkdir()
        groups.append(group)
        (group / "cpu.cfs_period_us").write_text(str(QUOTA_PERIOD_US))
        (group / "cpu.cfs_quota_us").write_text(str(int(QUOTA_PERIOD_US * cores)))
        (group / "cgroup.procs").write_text(str(child))
    yield
    for group in groups:
        for process in (group / "cgroup.procs").read_text().split():
            (GROUPS / "cgroup.procs").write_text(process)
        group.rmdir()


def stage_s(server: Served, workers: int) -> dict[str, float]:
    """Return the CPU time of the owners' loops until now by stage, s."""
    paths = [f"/partitions/{number}/metrics" for number in range(workers)] or ["/metrics"]
    found: dict[str, float] = defaultdict(float)
    for path in paths:
        for stage, value in _STAGE.findall(server.get(path).decode()):
            found[stage] += float(value)
    return found


def measured(folder: Path, workers: int, *, cores: float = 0) -> Round:
    """Run an aggregator, and measure it.

    Args:
        folder: folder of its state and its socket.
        workers: number of partitions; 0 for one aggregator without a cluster.
        cores: limit of each worker; 0 for none.
    """
    server = Served(folder, *(("--workers", str(workers)) if workers else ()))
    server.start()
    context = multiprocessing.get_context("spawn")
    limits = contextlib.ExitStack()
    here, there = context.Pipe()
    sender = context.Process(target=send, args=(server.endpoint, jobs(), there))
    try:
        while server.answers("/api/v1/cluster") and b'"unserved":[]' not in server.get("/api/v1/cluster"):
            time.sleep(0.05)
        time.sleep(_SETTLED_S)
        limits.enter_context(limited(server.pid, cores))
        sender.start()
        assert here.recv() == "ready"
        stages = stage_s(server, workers)
        before, begun_s = cpu_account(server.pid, in_cluster=workers > 0), time.monotonic()
        here.send("go")
        sent_s = here.recv()
        wall_s = time.monotonic() - begun_s
        spent = grown(cpu_account(server.pid, in_cluster=workers > 0), before) | {"senders": sent_s}
        in_stages = grown(stage_s(server, workers), stages)
        return Round(wall_s, spent, in_stages, latencies(server.endpoint) if PROBES else [])
    finally:
        limits.close()
        sender.kill()
        sender.join()
        server.kill(signal.SIGTERM)


def equally_fast() -> list[Figure]:
    """Compare workers that each have the same share of a core."""
    rounds = {}
    for workers in (1, WORKERS):
        with tempfile.TemporaryDirectory() as folder:
            name = f"{workers} of {WORKER_CORES:g} cores"
            rounds[name] = measured(Path(folder), workers, cores=WORKER_CORES)
    one, several = rounds.values()
    figures = [figure for name, each in rounds.items() for figure in of_rounds(name, [each])]
    name = f"{WORKERS} workers of {WORKER_CORES:g} cores each against one such worker"
    return [*figures, Figure(name, one.wall_s / several.wall_s, "times", ">= 1.7 times")]


def of_rounds(name: str, rounds: list[Round]) -> list[Figure]:
    """Return the medians of one aggregator's figures."""

    def middle(value: Callable[[Round], float]) -> float:
        return statistics.median(map(value, rounds))

    figures = [Figure(f"{name}: throughput", middle(lambda each: TOTAL / each.wall_s / 1e6), "M events/s")]
    per_event = 1e9 / TOTAL

    def cost(text: str, value: Callable[[Round], float]) -> None:
        figures.append(Figure(f"{name}: CPU time, {text}", middle(value) * per_event, "ns/event", better="lower"))

    cost("aggregators", lambda each: each.aggregators_s)
    for part in sorted(rounds[0].cpu_s):
        cost(part, lambda each, part=part: each.cpu_s[part])  # type: ignore[misc]
    for stage in sorted(rounds[0].stages_s):
        cost(f"owners: loop: {stage}", lambda each, stage=stage: each.stages_s[stage])  # type: ignore[misc]
    if PROBES:
        for text, value in (
            ("median", lambda each: statistics.median(each.latencies_s)),
            ("p99", lambda each: each.p99_s),
        ):
            figures.append(Figure(f"{name}: batch acknowledged, {text}", middle(value) * 1e3, "ms", better="lower"))
    return figures


def measure() -> list[Figure]:
    """Measure one aggregator, a cluster of one partition, and one of two."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    kinds = {"one aggregator": 0, "1 worker": 1, f"{WORKERS} workers": WORKERS}
    rounds: dict[str, list[Round]] = {name: [] for name in kinds}
    for _ in range(PAIRS):
        for name, workers in kinds.items():
            with tempfile.TemporaryDirectory() as folder:
                rounds[name].append(measured(Path(folder), workers))
    figures = [figure for name, each in rounds.items() for figure in of_rounds(name, each)]
    alone, single, several = rounds.values()
    ratios = sorted(one.wall_s / two.wall_s for one, two in zip(single, several, strict=True))
    bound = statistics.median(CORES / (sum(each.cpu_s.values()) / each.wall_s) for each in single)
    against = statistics.median(one.wall_s / two.wall_s for one, two in zip(alone, several, strict=True))
    figures += [
        Figure(f"{WORKERS} workers against 1 worker", statistics.median(ratios), "times", ">= 1.7 times"),
        Figure(f"{WORKERS} workers against 1 worker, least pair", ratios[0], "times"),
        Figure(f"{WORKERS} workers against 1 worker, best pair", ratios[-1], "times"),
        Figure(f"{CORES} cores allow, at one worker's CPU time per event", bound, "times"),
        Figure(f"{WORKERS} workers against one aggregator", against, "times"),
    ]
    if PROBES:
        added = statistics.median(two.p99_s - one.p99_s for one, two in zip(alone, several, strict=True))
        name = f"{WORKERS} workers: added latency, p99"
        figures.append(Figure(name, added * 1e3, "ms", "<= 100 ms", better="lower"))
    return [*figures, *equally_fast()] if WORKER_CORES else figures


if __name__ == "__main__":
    report(measure())
