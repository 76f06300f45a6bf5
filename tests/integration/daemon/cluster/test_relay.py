"""The relay of a member: a subscriber that does not read is cut off and named; the others receive each message."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from pathlib import Path

import pytest
import zmq
import zmq.asyncio
from iotide.daemon.access.access import Access
from iotide.daemon.access.settings import AccessSettings
from iotide.daemon.cluster.prediction_relay import Relay
from support.servers.running_aggregator import until

LARGE = bytes(200_000)


@pytest.mark.slow
async def test_subscriber_of_a_member_that_does_not_read_is_cut_off_while_others_get_all(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    counters: Counter[str] = Counter()
    context = zmq.asyncio.Context()
    access = Access(AccessSettings(), lambda _: None, counters)
    relay = Relay(context, f"ipc://{tmp_path}/out", access, behind=10, counters=counters, allow_remote=False)
    plain: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
    process, reading, still = plain.socket(zmq.XPUB), plain.socket(zmq.SUB), plain.socket(zmq.SUB)
    process.bind(f"ipc://{tmp_path}/process")
    relay.follow([f"ipc://{tmp_path}/process"])
    running = asyncio.create_task(relay.run())
    try:
        reading.subscribe(b"job.a")  # each has a topic of its own, which shows that it has arrived
        for subscriber in (reading, still):
            subscriber.setsockopt(zmq.RCVHWM, 1)
            subscriber.subscribe(b"job.b")
            subscriber.connect(relay.endpoint)
        still.subscribe(b"job.c")
        topics: set[bytes] = set()

        def subscribed() -> bool:
            while process.poll(0):
                topics.add(process.recv())
            return topics >= {b"\x01job.a", b"\x01job.b", b"\x01job.c"}

        await until(subscribed)
        sent = heard = 0

        def is_over() -> bool:
            nonlocal sent, heard
            if heard == sent:
                process.send_multipart([b"job.b", sent.to_bytes(4, "big"), LARGE])
                sent += 1
            while reading.poll(0):
                assert reading.recv_multipart()[1] == heard.to_bytes(4, "big")  # each message, in order
                heard += 1
            return bool(counters["subscribers_cut_off"]) and heard == sent

        with caplog.at_level(logging.WARNING):
            await until(is_over)
        assert counters == {"subscribers_cut_off": 1}
        (line,) = [record.getMessage() for record in caplog.records]
        assert line.startswith("publish: the subscriber ")
        assert "publish_behind = 10" in line
    finally:
        running.cancel()
        await asyncio.wait([running])
        relay.close()
        for socket in (process, reading, still):
            socket.close(0)
        plain.term()
        context.term()


async def test_messages_beyond_the_bound_are_counted(tmp_path: Path) -> None:
    counters: Counter[str] = Counter()
    context = zmq.asyncio.Context()
    access = Access(AccessSettings(), lambda _: None, counters)
    relay = Relay(context, f"ipc://{tmp_path}/out", access, behind=10, counters=counters, allow_remote=False)
    relay._queue._send = _full
    try:
        for _ in range(13):
            relay._queue.put([])
        assert (counters["published_missed"], len(relay._queue.waiting)) == (3, 10)
    finally:
        relay.close()
        context.term()


def _full(_: object) -> None:
    raise zmq.Again
