"""Streams, collectors and subscribers that are silent for longer than their timeouts."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import msgspec
import pytest
import zmq
from iotide.clients.subscriber import AsyncSubscriber, Subscriber, SubscriptionTimeoutError
from iotide.daemon.aggregator import Aggregator
from iotide.daemon.jobs.job_summary import detail_of
from iotide.daemon.settings import AggregatorSettings
from support.servers.running_aggregator import Fed, feeding, serving, until
from support.system.waiting import DEADLINE_S


async def test_stream_that_outlives_its_removed_job_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    source = Fed()
    async with serving(end_after_s=1000, retain_s=0.0) as server, feeding(server, source) as agent:
        source.open("s", "slow")
        source.periodic("s", periods=2)
        await until(lambda: "slow" in server.aggregator.jobs and server.aggregator.jobs["slow"].totals.events)
        # A pause of 2,000 s, after which time continues normally.
        monkeypatch.setattr(server.aggregator, "_steady", lambda: time.monotonic() + 2000)
        await until(lambda: server.aggregator.counters["jobs_removed"])
        source.periodic("s", periods=3)
        await until(lambda: "slow" in server.aggregator.jobs and server.aggregator.jobs["slow"].totals.events)
        session = server.aggregator.jobs["slow"]
        assert session.totals.events == 30
        assert detail_of(session, time.time()).files[0].path == "/scratch/out"
        assert not server.aggregator.counters["events_dropped:no_job"]
        assert not agent.counters()["events_dropped:rejected"]


def test_counts_of_a_collector_that_comes_back_are_not_added_twice() -> None:
    aggregator = Aggregator(AggregatorSettings(), time.time)
    for dropped in (5, 7):
        aggregator.heartbeat("c", "n1", {"events_dropped:ring_full": dropped})
        aggregator.collector_lost("c")
    aggregator.heartbeat("c", "n1", {"events_dropped:ring_full": 8})
    assert aggregator.collector_counters()["events_dropped:ring_full"] == 8


@dataclass(frozen=True)
class Chatter:
    endpoint: str
    goes_on: Callable[[], bool]


@pytest.fixture
def chatter() -> Iterator[Chatter]:
    """An endpoint that publishes invalid predictions every 20 ms, until the deadline: its end is too late."""
    context, done = zmq.Context(), threading.Event()
    socket = context.socket(zmq.PUB)
    socket.linger = 0
    port = socket.bind_to_random_port("tcp://127.0.0.1")

    def publish() -> None:
        for _ in range(round(DEADLINE_S / 0.02)):
            if done.wait(0.02):
                return
            socket.send_multipart([b"prediction.4711", msgspec.msgpack.encode({})])

    thread = threading.Thread(target=publish)
    thread.start()
    yield Chatter(f"tcp://127.0.0.1:{port}", thread.is_alive)
    done.set()
    thread.join()
    socket.close()
    context.term()


def test_messages_that_are_not_wanted_do_not_prolong_the_wait(chatter: Chatter) -> None:
    with Subscriber(chatter.endpoint, jobs=["47"], timeout_s=0.5) as predictions:
        while not predictions.malformed:  # a subscription takes a moment to reach the publisher
            with pytest.raises(SubscriptionTimeoutError):
                predictions.receive()
            assert chatter.goes_on()


async def test_nor_do_they_with_asyncio(chatter: Chatter) -> None:
    async with AsyncSubscriber(chatter.endpoint, jobs=["47"], timeout_s=0.5) as predictions:
        while not predictions.malformed:
            with pytest.raises(SubscriptionTimeoutError):
                await predictions.receive()
            assert chatter.goes_on()
