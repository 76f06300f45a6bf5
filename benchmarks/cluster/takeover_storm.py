"""Simulate the loss of members of a large cluster: takeovers, introductions of streams, buffered events.

The CPU times of one message at a gateway (real sockets on loopback), of one HELLO and of one event at an owner (all
analyzers on) are measured first. The simulation then plays the loss of 1, 2 and half of the members in steps of 0.1 s,
with the cluster's own plan for who takes over which partition. A partition has one core at most, and a member's
processes share its cores. Results: time until the last partition has caught up, the most bytes that one node buffers,
and the share of the survivors' cores that the cluster needs in the long run. The figures "nodes at which" are the sizes
at which one resource is used up, in the same mix.

    IOTIDE_NODES=10000 IOTIDE_JOBS=5000 python benchmarks/run.py takeover_storm

Further sizes: IOTIDE_STREAMS (processes per node, 16), IOTIDE_EVENTS (events/s per node, 300), IOTIDE_MEMBERS (8),
IOTIDE_PARTITIONS (32) and IOTIDE_CORES (cores per member, 16).
"""

from __future__ import annotations

import math
import multiprocessing
import os
import time
from collections import Counter
from dataclasses import dataclass
from typing import Final

import numpy as np
import zmq
import zmq.asyncio
from iotide.benchmarks.common.events import DEFINITIONS, make_batches
from iotide.benchmarks.common.figures import Figure, report
from iotide.daemon.access.access import Access
from iotide.daemon.access.settings import AccessSettings
from iotide.daemon.aggregator import Aggregator
from iotide.daemon.cluster.gateway import Gateway
from iotide.daemon.cluster.members import Worker
from iotide.daemon.cluster.partitions import partition_of, plan
from iotide.daemon.ingest.ingest_core import IngestCore
from iotide.daemon.ingest.ingest_settings import IngestSettings
from iotide.daemon.settings import AggregatorSettings
from iotide.events import Definitions, StreamInfo
from iotide.events.network.wire import Heartbeat, Hello, encode, encode_batch

NODES: Final = int(os.environ.get("IOTIDE_NODES", "10000"))
JOBS: Final = int(os.environ.get("IOTIDE_JOBS", "5000"))
STREAMS: Final = int(os.environ.get("IOTIDE_STREAMS", "16"))
EVENTS: Final = float(os.environ.get("IOTIDE_EVENTS", "300"))
MEMBERS: Final = int(os.environ.get("IOTIDE_MEMBERS", "8"))
PARTITIONS: Final = int(os.environ.get("IOTIDE_PARTITIONS", "32"))
CORES: Final = int(os.environ.get("IOTIDE_CORES", "16"))
LEASE_S: Final = 3.0
RECOVERY_S: Final = 2.0
"""Default of ``journal.recovery_s``: approximate maximum CPU time of the replay at a takeover, s."""
EVENT_BYTES: Final = 58
"""Bytes per event in the journal and on the wire, measured by ``stream_journal``."""
STEP_S: Final = 0.1
MESSAGES: Final = 20_000
HELLOS: Final = 5_000
LONGEST_S: Final = 3600.0
SMALL: Final = (1, 16, 256)
"""Events of small batches."""
SMALL_STREAMS: Final = 160
SMALL_BATCHES: Final = 40


@dataclass(frozen=True)
class Costs:
    """CPU times in seconds."""

    gateway: float
    """One message of a collector at its gateway, forwarded."""
    hello: float
    """One HELLO at the owner of its job."""
    event: float
    """One event at the owner, with all analyzers."""


def _send(endpoint: str, sink: str, count: int) -> None:
    """Run as collector and owner in a separate process: send messages, and receive the forwarded ones."""
    context = zmq.Context()
    owner, collector = context.socket(zmq.ROUTER), context.socket(zmq.DEALER)
    owner.bind(sink)
    collector.sndhwm = 64
    collector.connect(endpoint)
    info = StreamInfo(job="job", source="bench")
    collector.send_multipart(encode(Hello(collector="c", stream="s", info=info)))
    owner.recv_multipart()
    (batch,) = make_batches(1, 64)
    frames = encode_batch("s", 1, batch, DEFINITIONS)
    for _ in range(count // 50):  # limits the messages in transit to what the sockets buffer
        for _ in range(50):
            collector.send_multipart(frames, copy=False)
        for _ in range(50):
            owner.recv_multipart(copy=False)
    collector.send_multipart(encode(Heartbeat(collector="end")))
    owner.recv_multipart()
    collector.close(0)
    owner.close(0)


def gateway_seconds() -> float:
    """Return the CPU time of one batch at a gateway, without that of the sender and the owner."""
    import asyncio
    import tempfile

    async def work(folder: str) -> float:
        context = zmq.asyncio.Context()
        counters: Counter[str] = Counter()
        gateway = Gateway(
            context,
            f"ipc://{folder}/in",
            1,
            max_streams=10,
            forget_after_s=1e9,
            allow_plaintext=False,
            access=Access(AccessSettings(), lambda _: None, counters),
            connections_per_peer=10,
            counters=counters,
        )
        gateway.bind()
        gateway.set_owners({0: Worker(ingest=f"ipc://{folder}/owner", started="1")})
        running = asyncio.create_task(gateway.run())
        arguments = (f"ipc://{folder}/in", f"ipc://{folder}/owner", MESSAGES)
        sender = multiprocessing.get_context("spawn").Process(target=_send, args=arguments)
        sender.start()
        while gateway.routes.counters["forwarded"] < MESSAGES // 10:  # noqa: ASYNC110 - which is no event
            await asyncio.sleep(0.01)
        begun, before = time.process_time(), gateway.routes.counters["forwarded"]
        while sender.is_alive():  # noqa: ASYNC110 - likewise
            await asyncio.sleep(0.05)
        spent = time.process_time() - begun
        forwarded = gateway.routes.counters["forwarded"] - before
        running.cancel()
        await asyncio.wait([running])
        gateway.close()
        context.term()
        return spent / forwarded

    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(work(folder))


def owner_seconds() -> tuple[float, float]:
    """Return the CPU time of one HELLO, and of one event, at the owner of a job."""
    aggregator = Aggregator(AggregatorSettings(), lambda: 1.7e9)
    core = IngestCore(aggregator, IngestSettings())
    hellos = [
        encode(Hello(collector=f"c{at}", stream=f"s{at}", info=StreamInfo(job=f"j{at % 500}", source="bench", pid=at)))
        for at in range(HELLOS)
    ]
    start = time.process_time()
    for at, frames in enumerate(hellos):
        core.receive(b"%d" % at, frames, 0.0)
    hello = (time.process_time() - start) / HELLOS
    batches = make_batches(100, start_ns=int(1.7e18))
    messages = [encode_batch("s0", at, batch, DEFINITIONS) for at, batch in enumerate(batches, 1)]
    start = time.process_time()
    for frames in messages:
        core.receive(b"0", frames, 0.0)
    aggregator.jobs["j0"].analyzers.losses("layers")  # the query makes the analyzers process their queued events
    return hello, (time.process_time() - start) / (len(batches) * len(batches[0]))


def batch_seconds(length: int) -> float:
    """Return the CPU time of a batch of a few events at the owner of its job: one of many streams, as of a process."""
    aggregator = Aggregator(AggregatorSettings(), lambda: 1.7e9)
    core = IngestCore(aggregator, IngestSettings())
    names = [f"s{number}" for number in range(SMALL_STREAMS)]
    for at, name in enumerate(names):
        info = StreamInfo(job=f"j{at // STREAMS}", source="bench", pid=at + 1)
        core.receive(b"0", encode(Hello(collector="c", stream=name, info=info)), 0.0)
    batches = make_batches(SMALL_BATCHES, length, start_ns=int(1.7e18))
    nothing = Definitions([], [])
    messages = [
        encode_batch(name, at, batch, DEFINITIONS if at == 1 else nothing)
        for at, batch in enumerate(batches, 1)
        for name in names
    ]
    start = time.process_time()
    for frames in messages:
        core.receive(b"0", frames, 0.0)
    for session in aggregator.jobs.awake:
        session.analyzers.losses("layers")
        session.compact()
    return (time.process_time() - start) / len(messages)


def storm(costs: Costs, lost: int) -> tuple[float, float, float]:
    """Simulate the loss of members.

    Returns:
        Time until all partitions have caught up in s, infinite if never; maximum bytes that a node buffers; share of
        the
        survivors' cores that the cluster needs in the long run.
    """
    names = [f"m{number}" for number in range(MEMBERS)]
    before = plan({name: set() for name in names}, PARTITIONS)
    held = {name: set(before[name].serves) for name in names[lost:]}
    after = plan(held, PARTITIONS)
    moved = {number for name, part in after.items() for number in part.serves - held[name]}
    share = np.zeros(PARTITIONS)
    for job, nodes in enumerate(nodes_of_jobs()):
        share[partition_of(f"job{job}", PARTITIONS)] += nodes
    rate = share * EVENTS * costs.event  # cores in the long run
    introduced = share * STREAMS * (costs.hello + costs.gateway)
    waiting = np.zeros(PARTITIONS)  # CPU seconds of work per partition
    outage = np.zeros(PARTITIONS)
    owners = {number: name for name, part in after.items() for number in part.serves}
    gateway = NODES * costs.gateway * 2 / len(held)  # a batch and a heartbeat per node and second
    now_s = 0.0
    for number in moved:
        waiting[number] = RECOVERY_S + introduced[number]
    while now_s < LONGEST_S:
        now_s += STEP_S
        waiting += rate * STEP_S
        for name in held:
            mine = [number for number, owner in owners.items() if owner == name]
            busy = [number for number in mine if waiting[number] > 0 and (number not in moved or now_s > LEASE_S)]
            each = min(1.0, max(CORES - gateway, 0.0) / max(len(busy), 1))
            for number in busy:
                waiting[number] = max(waiting[number] - each * STEP_S, 0.0)
        late = waiting > np.maximum(rate, 1e-9) * 2 * STEP_S
        outage[late] = now_s
        if now_s > LEASE_S and not late[sorted(moved)].any():
            break
    longest = float(outage[sorted(moved)].max()) if moved else 0.0
    ended = longest if now_s < LONGEST_S else math.inf
    return ended, min(ended, LONGEST_S) * EVENTS * EVENT_BYTES, float(rate.sum()) / (CORES * len(held))


def largest_share() -> float:
    """Return the busiest partition's share of the events."""
    share = np.zeros(PARTITIONS)
    for job, nodes in enumerate(nodes_of_jobs()):
        share[partition_of(f"job{job}", PARTITIONS)] += nodes
    return float(share.max() / share.sum())


def nodes_of_jobs() -> list[float]:
    """Return the size of each job in nodes: a few jobs are large."""
    sizes = np.random.default_rng(1).pareto(1.2, JOBS) + 0.2
    found: list[float] = (sizes / sizes.sum() * NODES).tolist()
    return found


def measure() -> list[Figure]:
    """Return the measured costs, and the results of the simulated losses."""
    hello, event = owner_seconds()
    costs = Costs(gateway_seconds(), hello, event)
    figures = [
        Figure("one message at a gateway, CPU time", costs.gateway * 1e6, "us", better="lower"),
        Figure("one HELLO at the owner, CPU time", costs.hello * 1e6, "us", better="lower"),
        Figure("one event at the owner, CPU time", costs.event * 1e9, "ns", better="lower"),
        *(
            Figure(
                f"batch of {length} events at the owner, CPU time", batch_seconds(length) * 1e6, "us", better="lower"
            )
            for length in SMALL
        ),
        Figure("gateways busy with messages and heartbeats", NODES * costs.gateway * 2, "cores", better="lower"),
        Figure("partitions busy with events", NODES * EVENTS * costs.event, "cores", better="lower"),
        Figure("journal, before replication", NODES * EVENTS * EVENT_BYTES / 1e6, "MB/s", better="lower"),
        Figure("busiest partition's share of the events", largest_share(), "", better="lower"),
        Figure(
            "nodes at which the busiest partition saturates a core", 1 / (largest_share() * EVENTS * costs.event), ""
        ),
        Figure("nodes at which a gateway saturates a core", 1 / (2 * costs.gateway), ""),
        Figure("nodes at which a gateway reaches bounds.max_streams", IngestSettings().max_streams / STREAMS, ""),
    ]
    for lost in sorted({1, 2, MEMBERS // 2}):
        ended_s, buffered, share = storm(costs, lost)
        title = f"{lost} of {MEMBERS} members lost"
        figures += [
            Figure(f"{title}: until all partitions have caught up", ended_s, "s", better="lower"),
            Figure(f"{title}: maximum bytes buffered by a node", buffered / 1e6, "MB", better="lower"),
            Figure(f"{title}: share of the remaining cores needed", share, "", better="lower"),
        ]
    return figures


if __name__ == "__main__":
    report(measure())
