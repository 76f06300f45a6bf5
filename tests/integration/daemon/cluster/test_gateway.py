"""A gateway's queues hold what collectors may send within their credit."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
import zmq
import zmq.asyncio
from iotide.daemon.access.access import Access
from iotide.daemon.access.settings import AccessSettings
from iotide.daemon.cluster.gateway import Gateway
from iotide.daemon.cluster.members import Worker
from iotide.daemon.ingest.ingest import Ingest
from iotide.events import Definitions, StreamInfo, empty_batch
from iotide.events.network.wire import Heartbeat, Hello, encode, encode_batch
from support.servers.running_aggregator import until
from support.servers.sinks import RememberingSink
from support.system.waiting import DEADLINE_S

ANSWERS = 20_000
ANSWER_MS = 60_000
"""Wait for an answer that is on its way, ms."""
COLLECTORS = 10
BATCHES = 256
"""Default of ``bounds.credit``."""


class FailingAccess(Access):
    """Fails once."""

    fails = True

    def user_of(self, last: zmq.Frame) -> str | None:
        if self.fails:
            self.fails = False
            raise ValueError("cannot be read")
        return super().user_of(last)


async def test_message_that_fails_is_reported_and_the_next_one_forwarded(tmp_path: Path) -> None:
    counters: Counter[str] = Counter()
    context = zmq.asyncio.Context()
    endpoint = f"ipc://{tmp_path}/in"
    gateway = Gateway(
        context, endpoint, 1, max_streams=10, forget_after_s=600.0, allow_plaintext=False,
        access=FailingAccess(AccessSettings(), lambda _: None, counters), connections_per_peer=100, counters=counters,
    )  # fmt: skip
    gateway.bind()
    collector: zmq.asyncio.Socket = context.socket(zmq.DEALER)
    collector.linger = 0
    collector.connect(endpoint)
    try:
        await collector.send_multipart(encode(Heartbeat(collector="c")))
        async with asyncio.timeout(DEADLINE_S):
            with pytest.raises(ValueError, match="cannot be read"):
                await gateway.run()
        await collector.send_multipart(encode(Heartbeat(collector="c")))
        assert await collector.poll(ANSWER_MS)
    finally:
        gateway.close()
        collector.close()
        context.term()


async def test_no_message_within_the_credit_is_lost_while_an_owner_is_unreachable(tmp_path: Path) -> None:
    counters: Counter[str] = Counter()
    context = zmq.asyncio.Context()
    endpoint = f"ipc://{tmp_path}/in"
    gateway = Gateway(
        context, endpoint, 1, max_streams=10, forget_after_s=600.0, allow_plaintext=False,
        access=Access(AccessSettings(), lambda _: None, counters), connections_per_peer=100, counters=counters,
    )  # fmt: skip
    gateway.bind()
    gateway.set_owners({0: Worker(ingest=f"ipc://{tmp_path}/owner", started="1")})  # it does not listen yet
    running = asyncio.create_task(gateway.run())
    sockets = []
    try:
        for number in range(COLLECTORS):
            sockets.append(collector := context.socket(zmq.DEALER))
            collector.linger = 0
            collector.connect(endpoint)
            name = f"c{number}"
            info = StreamInfo(job="j", source="test")
            await collector.send_multipart(encode(Hello(collector=name, stream=name, info=info)))
            for seq in range(1, BATCHES + 1):
                await collector.send_multipart(encode_batch(name, seq, empty_batch(), Definitions()))
        await until(lambda: counters["forwarded"] == COLLECTORS * (BATCHES + 1))
        assert not counters["lost"]
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        gateway.close()
        for socket in sockets:
            socket.close()
        context.term()


async def test_no_answer_is_lost_at_a_gateway_that_reads_late(tmp_path: Path) -> None:
    context = zmq.asyncio.Context()
    ingest = Ingest(context, f"ipc://{tmp_path}/owner", RememberingSink(), for_gateways=True)
    endpoint = ingest.bind()
    running = asyncio.create_task(ingest.run())
    gateway: zmq.Socket[bytes] = zmq.Socket(context, zmq.DEALER)
    gateway.linger, gateway.sndhwm, gateway.rcvhwm = 0, ANSWERS, 1
    gateway.setsockopt(zmq.ROUTING_ID, bytes(range(1, 17)))
    gateway.connect(endpoint)
    try:
        for _ in range(ANSWERS):
            gateway.send_multipart([b"peer", *encode(Heartbeat())])
        await until(lambda: ingest.core.stats.messages == ANSWERS)
        answers = 0
        while answers < ANSWERS and gateway.poll(ANSWER_MS):
            gateway.recv_multipart()
            answers += 1
        assert answers == ANSWERS
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        ingest.close()
        gateway.close()
        context.term()
