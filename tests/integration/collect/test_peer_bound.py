"""A bound limits the connections of one peer to the collectors' socket; its existing ones continue."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest
import zmq
import zmq.asyncio
from iotide.daemon.ingest.ingest import Ingest
from iotide.daemon.ingest.ingest_settings import IngestSettings
from iotide.events.network.wire import Heartbeat, decode, encode
from support.servers.running_aggregator import until
from support.servers.sinks import RememberingSink
from support.system.waiting import DEADLINE_S

BEAT = [bytes(each) for each in encode(Heartbeat(collector="c"))]


@pytest.mark.parametrize("scheme", ["ipc", "tcp"])
async def test_connection_beyond_the_bound_is_ended_and_counted(tmp_path: Path, scheme: str) -> None:
    counters: Counter[str] = Counter()
    context = zmq.asyncio.Context()
    endpoint = f"ipc://{tmp_path}/in" if scheme == "ipc" else "tcp://127.0.0.1:*"
    ingest = Ingest(context, endpoint, RememberingSink(), IngestSettings(connections_per_peer=2), counters=counters)
    bound = ingest.bind()
    assert ingest.peers is not None
    tasks = [asyncio.create_task(ingest.run()), asyncio.create_task(ingest.peers.run(bound))]
    collectors = [context.socket(zmq.DEALER) for _ in range(3)]

    async def answered(collector: zmq.asyncio.Socket) -> bool:
        await collector.send_multipart(BEAT)
        async with asyncio.timeout(DEADLINE_S):
            return isinstance(decode(await collector.recv_multipart())[0], Heartbeat)

    try:
        for collector in collectors[:2]:
            collector.connect(bound)
            assert await answered(collector)
        assert not counters
        collectors[2].connect(bound)
        await until(lambda: counters["ingest_peers_refused"] > 0)
        assert [await answered(collector) for collector in collectors[:2]] == [True, True]
        collectors[0].close(0)  # which frees its place
        assert await answered(collectors[2])
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        for collector in collectors:
            collector.close(0)
        ingest.close()
        context.term()
