"""Short-lived jobs beside peers that do not read: no other peer waits for these, and nothing is lost."""

from __future__ import annotations

import asyncio
from collections import Counter

import zmq
import zmq.asyncio
from iotide.daemon.server import Server
from iotide.events import StreamInfo
from iotide.events.network.wire import Hello, encode
from support.servers.running_aggregator import Fed, asking, feeding, serving, until

EVENTS = 120
JOBS = 40


def feed_jobs(source: Fed, first: int, count: int) -> None:
    for number in range(first, first + count):
        source.open(f"s{number}", f"job{number}", host="n1")
        source.periodic(f"s{number}", until_s=1e9)
        source.end(f"s{number}")


async def deaf_client(server: Server) -> asyncio.StreamWriter:
    """Request the metrics a hundred times, without reading the responses."""
    host, port = (server.http_url or "").removeprefix("http://").split(":")
    _, writer = await asyncio.open_connection(host, int(port), limit=1)
    writer.write(b"GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n" * 100)
    return writer


async def test_jobs_beside_peers_that_read_nothing_and_a_collector_that_goes() -> None:
    first, second = Fed(), Fed()
    context = zmq.asyncio.Context()
    deaf, subscriber = context.socket(zmq.DEALER), context.socket(zmq.SUB)
    for each in (deaf, subscriber):
        each.linger, each.rcvhwm = 0, 1
    try:
        async with serving(linger_s=0.05) as server, asking(server) as client:
            ended: Counter[str] = Counter()
            server.aggregator.on_job(lambda job: ended.update([job.job] if job.state == "ended" else []))
            subscriber.subscribe(b"")
            subscriber.connect(server.publish_endpoint or "")
            deaf.connect(server.ingest_endpoint)
            info = StreamInfo(job="deaf", source="test")
            for number in range(1000):  # each is answered, and no answer is read
                hello = Hello(collector="deaf", stream=f"deaf{number}", info=info, version=0)
                await deaf.send_multipart(encode(hello))
            writer = await deaf_client(server)
            async with feeding(server, first):
                feed_jobs(first, 0, JOBS // 2)
                await until(lambda: len(ended) == JOBS // 2)
            async with feeding(server, second):
                feed_jobs(second, JOBS // 2, JOBS // 2)
                await until(lambda: len(ended) == JOBS)
            writer.close()
            await until(lambda: server.stats.rejected["version"] == 1000)
            assert server.stats.events == JOBS * EVENTS
            assert all(session.analyzers.events == EVENTS for session in server.aggregator.jobs.values())
            assert all(not session.losses.total for session in server.aggregator.jobs.values())
            assert (await client.get("/healthz")).status_code == 200
    finally:
        deaf.close()
        subscriber.close()
        context.term()
