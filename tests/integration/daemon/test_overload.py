"""Overload of the aggregator: excess events are dropped and counted exactly, and other jobs continue."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path

import pytest
import zmq
import zmq.asyncio
from iotide.clients.job_fetch import fetch
from iotide.daemon.aggregator import Aggregator
from iotide.daemon.ingest import ingest
from iotide.daemon.server import Server
from iotide.daemon.settings import AggregatorSettings
from iotide.events import InputError
from iotide.events.network.wire import Heartbeat, encode
from iotide.results.jobs.job import JobDetail
from iotide.results.jobs.ledger import JobLedger
from support.servers.running_aggregator import Fed, collecting, until
from support.servers.served_process import served
from support.system.waiting import DEADLINE_S

BATCHES, PERIODS = 60, 200
EVENTS = BATCHES * PERIODS * 10
SMALL = {"backlog_bytes": 1 << 16, "spool_bytes": 1 << 18, "heartbeat_s": 0.1, "resend_after_s": 0.5}


async def test_flood_is_dropped_and_counted_and_another_job_is_predicted(tmp_path: Path) -> None:
    flood, steady = Fed(), Fed()
    flood.open("s", "flood")
    steady.open("t", "steady")
    with served(tmp_path) as server:
        assert server._process is not None
        pid = server._process.process.pid
        async with collecting(server.endpoint, [flood], **SMALL) as agent, collecting(server.endpoint, [steady]):
            flood.periodic("s")  # the aggregator knows it, and stalls from now on
            await until(lambda: server_events(server.url, "flood") == 120)
            os.kill(pid, signal.SIGSTOP)
            try:
                for _ in range(BATCHES):
                    flood.periodic("s", periods=PERIODS)
                await until(lambda: agent.counters()["events_dropped:shipper_full"])
                await until(lambda: not flood._waiting)
            finally:
                os.kill(pid, signal.SIGCONT)
            steady.periodic("t")
            flood.end("s")
            await until(lambda: agent.unacknowledged == 0 and ended(server.url))
            dropped = agent.counters()["events_dropped:shipper_full"]
            await until(lambda: predictions(server.url, "steady"))
        ledger = await asyncio.to_thread(fetch, f"{server.url}/jobs/flood", "ledger", JobLedger)
        detail = await asyncio.to_thread(fetch, f"{server.url}/jobs/flood", "", JobDetail)
        other = await asyncio.to_thread(fetch, f"{server.url}/jobs/steady", "ledger", JobLedger)
    assert ledger.balanced
    assert ledger.total.made == 120 + EVENTS
    assert ledger.total.received + dropped == ledger.total.made
    assert detail.losses["events_dropped:shipper_full"] == dropped > 0
    assert not detail.complete
    assert (other.balanced, other.total.received, other.total.dropped) == (True, 120, 0)


async def test_others_have_a_turn_after_each_message_that_takes_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "_TURN_S", -1.0)  # each message takes longer than this
    context = zmq.asyncio.Context()
    taking = ingest.Ingest(context, f"ipc://{tmp_path}/in", Aggregator(AggregatorSettings(), time.time))
    taking.bind()
    peer = context.socket(zmq.DEALER)
    peer.connect(f"ipc://{tmp_path}/in")
    try:
        for number in range(5):
            await peer.send_multipart(encode(Heartbeat(collector=f"c{number}")))
        for number in range(1, 6):
            assert await taking._socket.poll(DEADLINE_S * 1000)
            await taking._receive_some()
            assert taking.core.stats.messages == number
    finally:
        peer.close(0)
        taking.close()
        context.term()


async def test_other_work_has_a_turn_after_each_message_while_messages_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Predictions that waited for their own interval came a quarter of a second and a turn later.

    Those that waited for a turn after the last message made no progress until a message came.
    """
    monkeypatch.setattr(ingest, "_TURN_S", -1.0)
    monkeypatch.setattr(ingest, "_TICK_S", 2 * DEADLINE_S)  # time without a message after which none remains
    context = zmq.asyncio.Context()
    taking = ingest.Ingest(context, f"ipc://{tmp_path}/in", Aggregator(AggregatorSettings(), time.time))
    taking.bind()
    peer = context.socket(zmq.DEALER)
    peer.connect(f"ipc://{tmp_path}/in")
    running: asyncio.Task[None] | None = None
    try:
        for number in range(5):
            await peer.send_multipart(encode(Heartbeat(collector=f"c{number}")))
        running = asyncio.create_task(taking.run())
        messages = []
        while taking.core.stats.messages < 5:
            await taking.wait_for_turn(DEADLINE_S)
            messages.append(taking.core.stats.messages)
        assert list(dict.fromkeys(messages)) == [1, 2, 3, 4, 5]
        await until(lambda: not taking.has_unread)
    finally:
        if running is not None:
            running.cancel()
            await asyncio.wait([running])
        peer.close(0)
        taking.close()
        context.term()


async def test_turns_of_the_input_count_as_work_of_the_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The prediction loop took them for a part of its own pause."""
    monkeypatch.setattr(ingest, "_TURN_S", -1.0)
    context = zmq.asyncio.Context()
    settings = {"ingest": f"ipc://{tmp_path}/in", "publish": None, "http": None}
    server = Server(AggregatorSettings.model_validate(settings))
    await server.start()
    peer = context.socket(zmq.DEALER)
    peer.connect(server.ingest_endpoint)
    running: asyncio.Task[None] | None = None
    try:
        for number in range(50):
            await peer.send_multipart(encode(Heartbeat(collector=f"c{number}")))
        assert server._ingest is not None
        assert await server._ingest._messages.wait(DEADLINE_S)
        running = asyncio.create_task(server.run())
        await until(lambda: server.stats.messages == 50)
        assert server.loop_watch.longest_s > 0
    finally:
        if running is not None:
            running.cancel()
            await asyncio.wait([running])
        peer.close(0)
        await server.stop()
        context.term()


def server_events(url: str, job: str) -> int:
    return known.events if (known := detail_at(url, job)) is not None else 0


def predictions(url: str, job: str) -> int:
    return known.predictions if (known := detail_at(url, job)) is not None else 0


def ended(url: str) -> bool:
    return (known := detail_at(url, "flood")) is not None and not known.streams


def detail_at(url: str, job: str) -> JobDetail | None:
    try:
        return fetch(f"{url}/jobs/{job}", "", JobDetail)
    except InputError:  # it does not exist yet
        return None
