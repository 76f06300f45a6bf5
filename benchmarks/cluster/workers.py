"""Throughput and added latency of ``iotide serve --workers 2`` against one aggregator, on the same two cores.

Real processes: the aggregator, and two senders that have encoded their batches before. Each round sends
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
import signal
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final

import zmq
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
SENDERS: Final = 2
CORES: Final = 2
WORKERS: Final = 2
WORKER_CORES: Final = float(os.environ.get("IOTIDE_WORKER_CORES", "0"))
GROUPS: Final = Path("/sys/fs/cgroup/cpu")
PROBE_S: Final = 0.02
_QUOTA_PERIOD_US: Final = 10_000
EVENT_S: Final = 20e-6
"""Time between two events of a stream, s."""
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_CPU_FIELDS: Final = slice(11, 15)
"""utime, stime, cutime and cstime of /proc/PID/stat, counted from the state: with ended children (snapshots)."""
_SETTLED_S: Final = 1.0
"""Time within which a gateway has asked the streams of a new owner for HELLO, s."""
_SLOWEST_MS: Final = 60_000


@dataclass(frozen=True)
class Round:
    """Results of one aggregator."""

    wall_s: float
    cpu_s: dict[str, float]
    """By part: ``aggregators``, ``nats``, ``senders``."""
    latencies_s: list[float]

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


def send(endpoint: str, own: list[str], steering: Connection) -> None:
    """Encode the batches of some jobs, and send them on a command. Report the CPU time until all are acknowledged."""
    count = EVENTS // LENGTH // JOBS
    begin_ns = time.time_ns() - int(count * LENGTH * EVENT_S * 1e9)
    batches = make_batches(count, LENGTH, start_ns=begin_ns, step_ns=int(EVENT_S * 1e9))
    messages = [
        encode_batch(f"bench:{job}", at, batch, DEFINITIONS if at == 1 else Definitions([], []))
        for at, batch in enumerate(batches, 1)
        for job in own
    ]
    name = f"bench-{own[0]}"
    peer = Peer(endpoint, name)
    for job in own:
        info = StreamInfo(job=job, source="bench", host="n", pid=1)
        peer.send(encode(Hello(collector=name, stream=f"bench:{job}", info=info)), answered=False)
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


def processes(pid: int) -> Iterator[tuple[int, str]]:
    """Yield a process and its descendants, with the part to which each belongs."""
    command = Path(f"/proc/{pid}/cmdline").read_bytes()
    yield pid, "nats" if b"nats-server" in command.split(b"\0")[0] else "aggregators"
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        yield from processes(int(child))


def cpu_s(pid: int) -> dict[str, float]:
    """Return the CPU time of an aggregator's parts until now, s."""
    spent = {"aggregators": 0.0, "nats": 0.0}
    for each, part in processes(pid):
        fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
        spent[part] += sum(map(int, fields[_CPU_FIELDS])) / _TICKS
    return spent


@contextlib.contextmanager
def limited(pid: int, cores: float) -> Iterator[None]:
    """Limit each partition's process of an aggregator to a share of a core, with the processes that it starts."""
    groups = []
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split() if cores else []:
        if next(processes(int(child)))[1] == "aggregators":
            group = GROUPS / f"iotide-worker-{child}"
            group.mkdir()
            groups.append(group)
            (group / "cpu.cfs_period_us").write_text(str(_QUOTA_PERIOD_US))
            (group / "cpu.cfs_quota_us").write_text(str(int(_QUOTA_PERIOD_US * cores)))
            (group / "cgroup.procs").write_text(child)
    yield
    for group in groups:
        for process in (group / "cgroup.procs").read_text().split():
            (GROUPS / "cgroup.procs").write_text(process)
        group.rmdir()


def measured(folder: Path, *options: str, cores: float = 0) -> Round:
    """Run an aggregator, and measure it; ``cores``: limit of each worker, 0 for none."""
    server = Served(folder, *options)
    server.start()
    context = multiprocessing.get_context("spawn")
    senders, steering = [], []
    limits = contextlib.ExitStack()
    try:
        while server.answers("/api/v1/cluster") and b'"unserved":[]' not in server.get("/api/v1/cluster"):
            time.sleep(0.05)
        time.sleep(_SETTLED_S)
        limits.enter_context(limited(server.pid, cores))
        for number in range(SENDERS):
            here, there = context.Pipe()
            sender = context.Process(target=send, args=(server.endpoint, jobs()[number::SENDERS], there))
            sender.start()
            senders.append(sender)
            steering.append(here)
        for each in steering:
            assert each.recv() == "ready"
        before, begun_s = cpu_s(server.pid), time.monotonic()
        for each in steering:
            each.send("go")
        sent_s = sum(each.recv() for each in steering)
        wall_s = time.monotonic() - begun_s
        spent = {part: after - before[part] for part, after in cpu_s(server.pid).items()} | {"senders": sent_s}
        return Round(wall_s, spent, latencies(server.endpoint))
    finally:
        limits.close()
        for sender in senders:
            sender.kill()
            sender.join()
        server.kill(signal.SIGTERM)


def equally_fast() -> Figure:
    """Compare workers that each have the same share of a core."""
    walls_s = []
    for workers in (1, WORKERS):
        with tempfile.TemporaryDirectory() as folder:
            walls_s.append(measured(Path(folder), "--workers", str(workers), cores=WORKER_CORES).wall_s)
    name = f"{WORKERS} workers of {WORKER_CORES:g} cores each against one such worker"
    return Figure(name, walls_s[0] / walls_s[1], "times", ">= 1.7 times")


def measure() -> list[Figure]:
    """Measure one aggregator, a cluster of one partition, and one of two."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    rounds = {}
    kinds = {"one aggregator": (), "1 worker": ("--workers", "1"), f"{WORKERS} workers": ("--workers", str(WORKERS))}
    for name, options in kinds.items():
        with tempfile.TemporaryDirectory() as folder:
            rounds[name] = measured(Path(folder), *options)
    equal = [equally_fast()] if WORKER_CORES else []
    events = EVENTS // LENGTH // JOBS * JOBS * LENGTH
    figures = []
    for name, each in rounds.items():
        figures.append(Figure(f"{name}: throughput", events / each.wall_s / 1e6, "M events/s"))
        per_cpu = events / each.cpu_s["aggregators"] / 1e6
        figures.append(Figure(f"{name}: per CPU second of the aggregators", per_cpu, "M events"))
        for part, spent_s in each.cpu_s.items():
            cost = spent_s / events * 1e9
            figures.append(Figure(f"{name}: CPU time, {part}", cost, "ns/event", better="lower"))
        figures.append(
            Figure(
                f"{name}: batch acknowledged, median", statistics.median(each.latencies_s) * 1e3, "ms", better="lower"
            )
        )
        figures.append(Figure(f"{name}: batch acknowledged, p99", each.p99_s * 1e3, "ms", better="lower"))
    one, several = rounds["one aggregator"], rounds[f"{WORKERS} workers"]
    single = rounds["1 worker"]
    used_cores = sum(single.cpu_s.values()) / single.wall_s
    return [
        *figures,
        Figure(f"{WORKERS} workers against 1 worker", single.wall_s / several.wall_s, "times", ">= 1.7 times"),
        Figure(f"{CORES} cores allow, at one worker's CPU time per event", CORES / used_cores, "times"),
        Figure(f"{WORKERS} workers against one aggregator", one.wall_s / several.wall_s, "times"),
        Figure(
            f"{WORKERS} workers: added latency, p99",
            (several.p99_s - one.p99_s) * 1e3,
            "ms",
            "<= 100 ms",
            better="lower",
        ),
        *equal,
    ]


if __name__ == "__main__":
    report(measure())
